#include "fovea/text/spm/spm_normalizer.h"

#include "fovea/base/utf8.h"

namespace fovea::text {

namespace {}

std::size_t user_symbol(const ByteTrie& symbols, std::string_view text) {
    ByteTrie::Base at = symbols.root();
    std::int32_t value = 0;
    std::size_t longest = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (!symbols.step(at, static_cast<unsigned char>(text[i]), value)) break;
        if (value >= 0) longest = i + 1;
    }
    return longest;
}

SpmNormalizer::SpmNormalizer(const SentencePieceNormalizer& spec, bool whitespace_as_suffix,
                             const ByteTrie& user_symbols, const std::string& where)
    : spec_(spec),
      suffix_(whitespace_as_suffix),
      user_symbols_(&user_symbols),
      map_(spec.precompiled_charsmap, where) {
    ByteTrie::Base below = 0;
    simple_space_ = !user_symbols.find(" ", below) && !map_.starts_key(" ");
    for (int a = 0; a < 128; ++a) {
        const char key[] = {static_cast<char>(a), 0};
        ByteTrie::Base base = 0;
        bool plain =
            !user_symbols.find({key, 1}, base) && a != ' ' && map_.longest({key, 1}).length == 0;
        for (int b = 0; b < 128 && plain; ++b) {
            const char two[] = {static_cast<char>(a), static_cast<char>(b)};
            plain = !map_.starts_key({two, 2});
        }
        plain_[static_cast<std::size_t>(a)] = plain;
    }
}

SpmNormalizer::Prefix SpmNormalizer::prefix(std::string_view text) const {
    if (const std::size_t n = user_symbol(*user_symbols_, text)) return {text.substr(0, n), n};
    const SentencePieceCharsmap::Match m = map_.longest(text);
    const auto one = static_cast<std::size_t>(utf8_size(text[0]));
    // A hostile map may cut characters or hold broken text: such entries are not followed.
    const bool usable = m.length > 0 &&
                        (m.length == text.size() || !is_continuation(text[m.length])) &&
                        is_utf8(m.replacement);
    if (usable) return {m.replacement, m.length};
    return {text.substr(0, one), one};
}

void SpmNormalizer::normalize(std::string_view text, std::string& out,
                              std::vector<std::uint32_t>* origin) const {
    out.clear();
    if (origin) origin->clear();
    const bool fold = spec_.remove_extra_whitespaces;
    std::size_t at = 0;
    if (fold)
        while (at < text.size()) {
            const Prefix p = prefix(text.substr(at));
            if (p.text != " ") break;
            at += p.consumed;
        }
    if (at == text.size()) {
        if (origin) origin->push_back(static_cast<std::uint32_t>(at));
        return;
    }
    out.reserve((text.size() - at) * 5 / 4 + 8);
    if (origin) origin->reserve((text.size() - at) * 5 / 4 + 8);
    const std::string_view space = spec_.escape_whitespaces ? space_mark : std::string_view(" ");
    const auto put = [&](std::string_view s) {
        out += s;
        if (origin) origin->insert(origin->end(), s.size(), static_cast<std::uint32_t>(at));
    };
    if (!suffix_ && spec_.add_dummy_prefix) put(space);

    bool after_space = fold;
    while (at < text.size()) {
        // A run of plain ASCII, then one character by the rules.
        std::size_t end = at;
        while (end < text.size() && static_cast<unsigned char>(text[end]) < 128 &&
               plain_[static_cast<unsigned char>(text[end])])
            ++end;
        // The last one may start a longer key with what follows it, unless that is ASCII too.
        if (end < text.size() && end > at && static_cast<unsigned char>(text[end]) >= 128) --end;
        if (end > at) {
            out.append(text, at, end - at);
            if (origin)
                for (std::size_t i = at; i < end; ++i)
                    origin->push_back(static_cast<std::uint32_t>(i));
            at = end;
            after_space = false;
            continue;
        }
        Prefix p = text[at] == ' ' && simple_space_ ? Prefix{" ", 1} : prefix(text.substr(at));
        while (after_space && p.text.starts_with(' ')) p.text.remove_prefix(1);
        if (!p.text.empty()) {
            if (spec_.escape_whitespaces) {
                std::size_t from = 0;
                for (std::size_t i = p.text.find(' '); i != std::string_view::npos;
                     i = p.text.find(' ', from)) {
                    put(p.text.substr(from, i - from));
                    put(space_mark);
                    from = i + 1;
                }
                put(p.text.substr(from));
            } else {
                put(p.text);
            }
            after_space = p.text.ends_with(' ');
        }
        at += p.consumed;
        if (!fold) after_space = false;
    }
    if (fold) {
        while (out.size() >= space.size() && out.ends_with(space)) {
            out.erase(out.size() - space.size());
            if (origin) {
                at = (*origin)[out.size()];
                origin->resize(out.size());
            }
        }
    }
    if (suffix_ && spec_.add_dummy_prefix) put(space);
    if (origin) origin->push_back(static_cast<std::uint32_t>(at));
}

}  // namespace fovea::text
