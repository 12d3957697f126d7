// The header of a safetensors file, parsed without building a JSON tree: memory stays within a
// small multiple of the header's own bytes, and the format's rules are checked as they are read.
#include <algorithm>
#include <climits>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/base/utf8.h"
#include "fovea/io/safetensors.h"

namespace fovea {
namespace {

[[noreturn]] void refuse_header(const std::string& where, const std::string& what) {
    throw Error(where + ": " + what, ErrorKind::bad_input,
                "the file is damaged, cut off or not a safetensors file; fetch or save it again");
}

// Called by the JSON parser piece by piece; returning false stops it, with `problem` set.
class HeaderHandler {
public:
    SafetensorsHeader header;
    std::string problem;

    bool start_object(std::size_t) {
        ++depth_;
        if (depth_ == 1) return true;
        if (depth_ == 2 && !in_array_) {
            keys_.clear();
            return true;
        }
        return stop(text_of("\"", name_, "\" is nested too deep"));
    }
    bool end_object() {
        --depth_;
        if (depth_ != 1 || name_ == "__metadata__") return true;
        if (!has_dtype_ || !has_shape_ || !has_offsets_)
            return stop(text_of("tensor \"", name_, "\" lacks ",
                                !has_dtype_   ? "dtype"
                                : !has_shape_ ? "shape"
                                              : "data_offsets"));
        header.tensors.push_back(std::move(info_));
        return true;
    }
    bool key(std::string& k) {
        if (depth_ == 1) return begin_entry(k);
        if (!keys_.insert(k).second)
            return stop(text_of("\"", name_, "\" has the key \"", k, "\" twice"));
        field_ = k;
        if (name_ != "__metadata__" && k != "dtype" && k != "shape" && k != "data_offsets")
            return stop(text_of("tensor \"", name_, "\" has the unknown key \"", k, "\""));
        return true;
    }
    bool string(std::string& s) {
        if (depth_ == 2 && name_ == "__metadata__") {
            header.metadata[field_] = s;
            return true;
        }
        if (depth_ != 2 || field_ != "dtype" || in_array_) return wrong_type("a string");
        if (!parse_dtype(s, info_.dtype))
            return stop(text_of("tensor \"", name_, "\" has the unknown dtype \"", s, "\""));
        has_dtype_ = true;
        return true;
    }
    bool start_array(std::size_t) {
        if (depth_ != 2 || in_array_ || (field_ != "shape" && field_ != "data_offsets") ||
            name_ == "__metadata__")
            return wrong_type("an array");
        in_array_ = true;
        numbers_.clear();
        return true;
    }
    bool end_array() {
        in_array_ = false;
        if (field_ == "shape") {
            info_.shape = numbers_;
            has_shape_ = true;
            return true;
        }
        if (numbers_.size() != 2)
            return stop(text_of("tensor \"", name_, "\" has ", numbers_.size(),
                                " data_offsets but must have 2"));
        info_.begin = numbers_[0];
        info_.end = numbers_[1];
        has_offsets_ = true;
        return true;
    }
    bool number_unsigned(std::uint64_t n) {
        if (!in_array_) return wrong_type("a number");
        if (n > static_cast<std::uint64_t>(INT64_MAX))
            return stop(
                text_of("tensor \"", name_, "\": ", field_, " holds ", n, ", which is too large"));
        numbers_.push_back(static_cast<std::int64_t>(n));
        return true;
    }
    bool number_integer(std::int64_t n) {
        if (!in_array_) return wrong_type("a number");
        return stop(
            text_of("tensor \"", name_, "\": ", field_, " holds ", n, ", which is negative"));
    }
    bool number_float(double, const std::string& s) {
        if (!in_array_) return wrong_type("a number");
        return stop(text_of("tensor \"", name_, "\": ", field_, " holds ", s,
                            ", which is no whole number in range"));
    }
    bool null() { return wrong_type("null"); }
    bool boolean(bool) { return wrong_type("a truth value"); }
    bool binary(Json::binary_t&) { return wrong_type("binary data"); }
    bool parse_error(std::size_t at, const std::string&, const nlohmann::detail::exception&) {
        return stop(text_of("the header is not valid JSON at its byte ", at));
    }

private:
    bool begin_entry(const std::string& name) {
        for (const char c : name)
            if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
                return stop("a tensor's name holds a control character");
        name_ = name;
        if (!names_.insert(name).second)
            return stop(text_of("the name \"", name, "\" stands twice"));
        info_ = TensorInfo{};
        info_.name = name;
        has_dtype_ = has_shape_ = has_offsets_ = false;
        field_.clear();
        return true;
    }
    bool wrong_type(const char* what) {
        if (depth_ == 0) return stop(text_of("the header is ", what, " but must be an object"));
        return stop(depth_ == 1 ? text_of("\"", name_, "\" is ", what, " but must be an object")
                                : text_of("\"", name_, "\": \"", field_, "\" holds ", what,
                                          name_ == "__metadata__" ? " but must be a string" : ""));
    }
    bool stop(std::string what) {
        if (problem.empty()) problem = std::move(what);
        return false;
    }

    int depth_ = 0;
    bool in_array_ = false, has_dtype_ = false, has_shape_ = false, has_offsets_ = false;
    std::string name_, field_;
    TensorInfo info_;
    std::vector<std::int64_t> numbers_;
    std::unordered_set<std::string> names_, keys_;
};

// Bytes that the shape and the type need.
std::int64_t bytes_of(const TensorInfo& t, const std::string& where) {
    std::int64_t elements = 1, bits = 0;
    bool overflow = false;
    for (const std::int64_t n : t.shape) overflow |= __builtin_mul_overflow(elements, n, &elements);
    overflow |= __builtin_mul_overflow(elements, std::int64_t{bits_of(t.dtype)}, &bits);
    if (overflow)
        refuse_header(where, text_of("tensor \"", t.name, "\" of shape ", text_of_shape(t.shape),
                                     " is too large to exist (size overflow)"));
    if (bits % 8 != 0)
        refuse_header(where, text_of("tensor \"", t.name, "\" of ", elements, " ", name_of(t.dtype),
                                     " does not end at a whole byte (misaligned)"));
    return bits / 8;
}

}  // namespace

std::int64_t TensorInfo::elements() const {
    std::int64_t n = 1;
    for (const std::int64_t s : shape) n *= s;  // checked when the header was read
    return n;
}

std::string text_of_shape(const std::vector<std::int64_t>& shape) {
    std::string out = "[";
    for (std::size_t i = 0; i < shape.size(); ++i)
        out.append(i ? ", " : "").append(std::to_string(shape[i]));
    return out + "]";
}

SafetensorsHeader parse_safetensors_header(std::string_view json, std::int64_t data_bytes,
                                           const std::string& where) {
    if (json.empty() || json.front() != '{')
        refuse_header(where, "the header does not begin with {");
    if (!is_utf8(json)) refuse_header(where, "the header is not UTF-8");
    if (json.find('\0') != std::string_view::npos)  // would end the JSON for its parser
        refuse_header(where, "the header is not valid JSON: it holds a NUL");
    HeaderHandler handler;
    const bool parsed = Json::sax_parse(json.begin(), json.end(), &handler);
    if (!parsed)
        refuse_header(where,
                      handler.problem.empty() ? "the header is not valid JSON" : handler.problem);

    auto& tensors = handler.header.tensors;
    std::stable_sort(tensors.begin(), tensors.end(), [](const TensorInfo& a, const TensorInfo& b) {
        return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
    });
    std::int64_t at = 0;  // no holes, no overlaps: each tensor begins where the last one ended
    for (const TensorInfo& t : tensors) {
        if (t.end < t.begin || t.begin != at)
            refuse_header(where,
                          text_of("tensor \"", t.name, "\" has the bytes ", t.begin, " to ", t.end,
                                  " but the one before ends at ", at, " (bad offsets)"));
        const std::int64_t needed = bytes_of(t, where);
        if (needed != t.end - t.begin)
            refuse_header(where, text_of("tensor \"", t.name, "\" has ", t.end - t.begin,
                                         " bytes but ", name_of(t.dtype), " of shape ",
                                         text_of_shape(t.shape), " needs ", needed));
        at = t.end;
    }
    if (at != data_bytes)
        refuse_header(where,
                      text_of("the tensors have ", at, " bytes but the file holds ", data_bytes,
                              at > data_bytes ? " (it is cut off)" : " (something follows them)"));
    return std::move(handler.header);
}

}  // namespace fovea
