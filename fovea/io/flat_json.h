#pragma once
// Small JSON files of ours (state, manifest) read without a tree of values; JsonWriter writes them
// and says why.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "fovea/base/json_writer.h"

namespace fovea {

// Every scalar of a document under its path: in {"a":{"b":[7]}} the path in(in("a", "b"), "0")
// leads to 7. Objects and arrays stand there too, with the number of their members. Duplicate keys
// and whatever else is not strict JSON are refused.
class FlatJson {
public:
    FlatJson(std::string_view text, std::string where);

    static std::string in(const std::string& path, const std::string& member) {
        return path.empty() ? member : path + '\x1f' + member;  // no JSON text of ours has this
    }
    // Each throws bad_input, naming the path, where the value is missing or of another type.
    std::int64_t integer(const std::string& path) const;
    std::uint64_t natural(const std::string& path) const;
    double number(const std::string& path) const;
    const std::string& text(const std::string& path) const;
    std::int64_t members(const std::string& path) const;  // of an object; "" is the whole
    std::int64_t items(const std::string& path) const;    // of an array

    struct Value {
        enum class Kind { object, array, text, natural, negative, fraction, other };
        Kind kind = Kind::other;
        std::uint64_t bits = 0;  // natural; the negative's two's complement
        double fraction_value = 0;
        std::string text_value;
        std::int64_t members = 0;
    };
    const std::map<std::string, Value>& values() const { return values_; }

private:
    const Value& find(const std::string& path) const;
    [[noreturn]] void wrong(const std::string& path) const;

    std::string where_;
    std::map<std::string, Value> values_;
};

}  // namespace fovea
