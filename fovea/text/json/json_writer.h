#pragma once
// Writes indented JSON straight into a string. (A vocabulary of 50,000 tokens through a tree of
// values would take a second and 20 MB.)
#include <cstdint>
#include <string>
#include <string_view>

namespace fovea::text {

class JsonWriter {
public:
    void begin_object() { open('{'); }
    void end_object() { close('}'); }
    void begin_array() { open('['); }
    void end_array() { close(']'); }

    JsonWriter& key(std::string_view name) {
        separate();
        quote(name);
        out_ += ": ";
        after_key_ = true;
        return *this;
    }
    void value(std::string_view s) {
        separate();
        quote(s);
    }
    void value(const char* s) { value(std::string_view(s)); }
    void value(bool b) {
        separate();
        out_ += b ? "true" : "false";
    }
    void value(std::int64_t n) {
        separate();
        out_ += std::to_string(n);
    }
    void value(int n) { value(std::int64_t{n}); }
    void value(double x);  // the shortest text that reads back as the same number
    void null() {
        separate();
        out_ += "null";
    }

    std::string take() { return std::move(out_) + "\n"; }

private:
    std::string out_;
    int depth_ = 0;
    bool first_ = true;
    bool after_key_ = false;

    void quote(std::string_view s);
    void open(char c) {
        separate();
        out_ += c;
        ++depth_;
        first_ = true;
    }
    void close(char c) {
        --depth_;
        if (!first_) new_line();
        out_ += c;
        first_ = false;
    }
    void separate() {
        if (after_key_) {
            after_key_ = false;
            return;
        }
        if (depth_ == 0) return;
        if (!first_) out_ += ',';
        first_ = false;
        new_line();
    }
    void new_line() {
        out_ += '\n';
        out_.append(static_cast<std::size_t>(depth_) * 2, ' ');
    }
};

}  // namespace fovea::text
