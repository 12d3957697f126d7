#include "fovea/text/unicode/utf8.h"

#include <simdjson.h>

namespace fovea::text {

namespace {

// One step of the maximal-subpart rule: how many bytes at p (n of them) belong together, and
// whether they are a character, a broken one, or one that only the end of the text cut off.
struct Step {
    std::size_t size;
    enum { whole, broken, cut } kind;
};

Step next_step(const unsigned char* p, std::size_t n) {
    const unsigned b = p[0];
    if (b < 0x80) return {1, Step::whole};
    unsigned low = 0x80, high = 0xBF;  // what the second byte may be: excludes overlong forms,
    std::size_t need = 0;              // surrogates and what lies beyond U+10FFFF
    if (b >= 0xC2 && b <= 0xDF) {
        need = 2;
    } else if (b >= 0xE0 && b <= 0xEF) {
        need = 3;
        if (b == 0xE0) low = 0xA0;
        if (b == 0xED) high = 0x9F;
    } else if (b >= 0xF0 && b <= 0xF4) {
        need = 4;
        if (b == 0xF0) low = 0x90;
        if (b == 0xF4) high = 0x8F;
    } else {
        return {1, Step::broken};
    }
    for (std::size_t i = 1; i < need; ++i) {
        if (i == n) return {i, Step::cut};
        if (p[i] < low || p[i] > high) return {i, Step::broken};
        low = 0x80;
        high = 0xBF;
    }
    return {need, Step::whole};
}

}  // namespace

bool is_ascii(std::string_view s) {
    const char* p = s.data();
    std::size_t n = s.size();
    std::uint64_t any = 0;
    for (; n >= 32; p += 32, n -= 32) {
        std::uint64_t w[4];
        std::memcpy(w, p, 32);
        any = w[0] | w[1] | w[2] | w[3];
        if (any & 0x8080808080808080ull) return false;
    }
    unsigned char rest = 0;
    for (std::size_t i = 0; i < n; ++i) rest |= static_cast<unsigned char>(p[i]);
    return rest < 0x80;
}

bool is_valid_utf8(std::string_view s) { return simdjson::validate_utf8(s.data(), s.size()); }

std::size_t count_chars(std::string_view s) {
    std::size_t n = 0;
    for (const char c : s) n += !is_continuation(c);
    return n;
}

std::string valid_utf8(std::string_view s) {
    std::string out;
    out.reserve(s.size() + 8);
    const auto* p = reinterpret_cast<const unsigned char*>(s.data());
    for (std::size_t i = 0; i < s.size();) {
        const Step step = next_step(p + i, s.size() - i);
        if (step.kind == Step::whole)
            out.append(s, i, step.size);
        else
            out += "\xEF\xBF\xBD";
        i += step.size;
    }
    return out;
}

std::size_t whole_chars(std::string_view s) {
    // Only the last three bytes can belong to a character that is still incomplete.
    const auto* p = reinterpret_cast<const unsigned char*>(s.data());
    const std::size_t n = s.size();
    for (std::size_t back = 1; back <= 3 && back <= n; ++back) {
        const unsigned char b = p[n - back];
        if (b >= 0xC0) return next_step(p + n - back, back).kind == Step::cut ? n - back : n;
        if (b < 0x80) break;
    }
    return n;
}

}  // namespace fovea::text
