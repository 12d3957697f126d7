#include "fovea/base/utf8.h"

#include <simdjson.h>

#include <cstring>

namespace fovea {

namespace {

// One step of the maximal-subpart rule: how many bytes at p (n of them) belong together, and
// whether they are a character, a broken one, or one that only the end of the text cut off.
struct Utf8Step {
    std::size_t size;
    enum { whole, broken, cut } kind;
};

Utf8Step next_step(const unsigned char* p, std::size_t n) {
    const unsigned b = p[0];
    if (b < 0x80) return {1, Utf8Step::whole};
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
        return {1, Utf8Step::broken};
    }
    for (std::size_t i = 1; i < need; ++i) {
        if (i == n) return {i, Utf8Step::cut};
        if (p[i] < low || p[i] > high) return {i, Utf8Step::broken};
        low = 0x80;
        high = 0xBF;
    }
    return {need, Utf8Step::whole};
}

const unsigned char* bytes_of(std::string_view s) {
    return reinterpret_cast<const unsigned char*>(s.data());
}

// What guess_encoding() looks at.
struct ByteCounts {
    std::size_t zeros[2] = {0, 0};  // at even and at odd places
    std::size_t controls = 0;       // that no text has; zeros too
    std::size_t c1 = 0;             // 0x80 to 0x9F: printable in Windows-1252, not in ISO-8859-1
    std::size_t undefined_1252 = 0;
    std::size_t high = 0, printable = 0;  // bytes from 0x80; bytes that are no white space

    // A stray one or two do not make a short text binary.
    bool binary(std::size_t size) const { return controls > 2 && controls * 32 > size; }

    explicit ByteCounts(std::string_view s) {
        for (std::size_t i = 0; i < s.size(); ++i) {
            const auto b = static_cast<unsigned char>(s[i]);
            zeros[i % 2] += b == 0;
            // \b \t \n \v \f \r, and the escape that starts a colour, are seen in text files
            controls += b == 0x7F || (b < 0x20 && !(b >= 8 && b <= 13) && b != 0x1B);
            c1 += b >= 0x80 && b < 0xA0;
            undefined_1252 += b == 0x81 || b == 0x8D || b == 0x8F || b == 0x90 || b == 0x9D;
            high += b >= 0x80;
            printable += b > 0x20;
        }
    }
};

// UTF-8 with damaged characters. (Latin-1 is hardly ever a whole character of UTF-8 by chance.)
bool mostly_utf8(std::string_view s) {
    std::size_t whole = 0, broken = 0;
    for (std::size_t i = 0; i < s.size();) {
        const Utf8Step step = next_step(bytes_of(s) + i, s.size() - i);
        whole += step.kind == Utf8Step::whole && step.size > 1;
        broken += step.kind != Utf8Step::whole;
        i += step.size;
    }
    return whole > broken || broken == 0;
}

}  // namespace

bool is_ascii(std::string_view s) {
    const char* p = s.data();
    std::size_t n = s.size();
    for (; n >= 32; p += 32, n -= 32) {
        std::uint64_t w[4];
        std::memcpy(w, p, 32);
        if ((w[0] | w[1] | w[2] | w[3]) & 0x8080808080808080ull) return false;
    }
    unsigned char rest = 0;
    for (std::size_t i = 0; i < n; ++i) rest |= static_cast<unsigned char>(p[i]);
    return rest < 0x80;
}

bool is_utf8(std::string_view s) {
    return s.empty() || simdjson::validate_utf8(s.data(), s.size());
}

std::size_t utf8_prefix(std::string_view s) {
    std::size_t i = 0;
    while (i < s.size()) {
        const Utf8Step step = next_step(bytes_of(s) + i, s.size() - i);
        if (step.kind != Utf8Step::whole) break;
        i += step.size;
    }
    return i;
}

std::size_t whole_chars(std::string_view s) {
    // Only the last three bytes can belong to a character that is still incomplete.
    const unsigned char* p = bytes_of(s);
    const std::size_t n = s.size();
    for (std::size_t back = 1; back <= 3 && back <= n; ++back) {
        const unsigned char b = p[n - back];
        if (b >= 0xC0) return next_step(p + n - back, back).kind == Utf8Step::cut ? n - back : n;
        if (b < 0x80) break;
    }
    return n;
}

char32_t next_beyond_ascii(std::string_view text, std::size_t& at) {
    const Utf8Step step = next_step(bytes_of(text) + at, text.size() - at);
    if (step.kind != Utf8Step::whole) {
        ++at;
        return replacement_char;
    }
    const char32_t c = read_char(text.data() + at).code;
    at += step.size;
    return c;
}

std::u32string decode_utf8(std::string_view text) {
    std::u32string out;
    out.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) out.push_back(next_code_point(text, at));
    return out;
}

std::string repair_utf8(std::string_view s) {
    std::string out;
    out.reserve(s.size() + 8);
    for (std::size_t i = 0; i < s.size();) {
        const Utf8Step step = next_step(bytes_of(s) + i, s.size() - i);
        out += step.kind == Utf8Step::whole ? s.substr(i, step.size) : replacement_utf8;
        i += step.size;
    }
    return out;
}

std::size_t count_chars(std::string_view s) {
    std::size_t n = 0;
    for (const char c : s) n += !is_continuation(c);
    return n;
}

std::string encode_utf8(char32_t c) {
    std::string s;
    append_utf8(s, c);
    return s;
}

std::string encode_utf8(std::u32string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char32_t c : text) append_utf8(out, c);
    return out;
}

bool looks_binary(std::string_view bytes) { return ByteCounts(bytes).binary(bytes.size()); }

std::string_view guess_encoding(std::string_view s) {
    using namespace std::string_view_literals;
    if (s.starts_with("\xFF\xFE\0\0"sv) || s.starts_with("\0\0\xFE\xFF"sv)) return "UTF-32";
    if (s.starts_with("\xFF\xFE"sv) || s.starts_with("\xFE\xFF"sv)) return "UTF-16";
    const ByteCounts n(s);
    // Of text in a Latin script every second byte of UTF-16 is zero, and hardly one of the others.
    const std::size_t half = s.size() / 2;
    if (n.zeros[1] * 2 > half && n.zeros[0] * 8 < n.zeros[1]) return "UTF-16LE";
    if (n.zeros[0] * 2 > half && n.zeros[1] * 8 < n.zeros[0]) return "UTF-16BE";
    if (n.binary(s.size())) return "binary";
    if (mostly_utf8(s)) return "UTF-8";
    // Western languages have an accent here and there; where most letters are beyond ASCII it is
    // another alphabet, and which one only its reader can tell.
    if (n.high * 2 > n.printable || n.undefined_1252 > 0) return "";
    return n.c1 > 0 ? "WINDOWS-1252" : "ISO-8859-1";
}

std::string encoding_hint(std::string_view bytes, const std::string& path) {
    const std::string_view name = guess_encoding(bytes);
    const std::string file = path.empty() || path == "-" ? "FILE" : path;
    const auto convert = [&](std::string_view from) {
        return "iconv -f " + std::string(from) + " -t UTF-8 " + file + " > NEW";
    };
    if (name == "binary") return "it looks like a binary file; give it plain text in UTF-8";
    if (name == "UTF-8")
        return "most of it is UTF-8; leave the damaged characters out: "
               "iconv -c -f UTF-8 -t UTF-8 " +
               file + " > NEW";
    if (name.empty())
        return "it is in an older encoding; find its name (iconv -l lists them) and convert it: " +
               convert("NAME");
    const std::string_view known = name == "ISO-8859-1"     ? "Latin-1 (ISO-8859-1)"
                                   : name == "WINDOWS-1252" ? "Windows-1252"
                                                            : name;
    return "it looks like " + std::string(known) + "; convert it: " + convert(name);
}

int display_width(std::string_view text) { return static_cast<int>(count_chars(text)); }

std::string_view first_columns(std::string_view text, int columns) {
    std::size_t end = 0;
    for (; end < text.size(); ++end)
        if (!is_continuation(text[end]) && columns-- <= 0) break;
    return text.substr(0, end);
}

}  // namespace fovea
