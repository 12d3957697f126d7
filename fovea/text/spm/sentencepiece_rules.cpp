#include "fovea/text/spm/sentencepiece_rules.h"

#include <utf8proc.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/text/spm/sentencepiece_charsmap.h"

namespace fovea {

namespace {

std::string mapped(const std::string& text, int options) {
    utf8proc_uint8_t* out = nullptr;
    const auto n = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                static_cast<utf8proc_ssize_t>(text.size()), &out,
                                static_cast<utf8proc_option_t>(options));
    const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(out, &std::free);
    expect(n >= 0, "charsmap: utf8proc refuses \"", text, "\"");
    return std::string(reinterpret_cast<const char*>(out), static_cast<std::size_t>(n));
}

bool becomes_space(std::uint32_t c) {
    switch (c) {
        case 0x09:
        case 0x0A:
        case 0x0C:
        case 0x0D:
        case 0x1680:
        case 0x200B:
        case 0x200E:
        case 0x200F:
        case 0x2028:
        case 0x2029:
        case 0x2581:
        case 0xFEFF:
        case 0xFFFD:
            return true;
        default:
            return false;
    }
}

bool disappears(std::uint32_t c) {
    return (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F ||
           c == 0x8F || c == 0x9F;
}

}  // namespace

std::string nfkc_charsmap(bool fold_case) {
    const int compat =
        UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT | (fold_case ? UTF8PROC_CASEFOLD : 0);
    std::map<std::string, std::string> entries;
    for (std::uint32_t c = 1; c < 0x110000; ++c) {
        if (c >= 0xD800 && c <= 0xDFFF) continue;
        const std::string text = encode_utf8(c);
        const std::string result = disappears(c)      ? std::string()
                                   : becomes_space(c) ? std::string(" ")
                                                      : mapped(text, compat);
        if (result != text) entries[text] = result;
        // The letter and the mark that make this character, to the character (composed as NFC).
        const utf8proc_property_t* p = utf8proc_get_property(static_cast<utf8proc_int32_t>(c));
        if (p->decomp_type != 0 || p->decomp_seqindex == UINT16_MAX) continue;
        const std::string apart = mapped(text, UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
        std::size_t at = 0;
        next_code_point(apart, at);
        if (at >= apart.size()) continue;
        next_code_point(apart, at);
        if (at == apart.size() && mapped(apart, UTF8PROC_STABLE | UTF8PROC_COMPOSE) == text)
            entries[apart] = result;
    }
    return build_charsmap({entries.begin(), entries.end()});
}

}  // namespace fovea
