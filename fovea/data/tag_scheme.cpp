#include "fovea/data/tag_scheme.h"

#include <cstdint>

#include "fovea/base/error.h"

namespace fovea {
namespace {

struct SchemeName {
    TagScheme scheme;
    const char* name;
};
constexpr SchemeName scheme_names[] = {{TagScheme::automatic, "auto"},
                                       {TagScheme::plain, "plain"},
                                       {TagScheme::bio, "bio"},
                                       {TagScheme::iob1, "iob1"},
                                       {TagScheme::bioes, "bioes"}};

bool is_part(char c, std::string_view parts) { return parts.find(c) != std::string_view::npos; }

// Why a tag cannot stand where it stands.
BadTag cannot_follow(std::size_t word, const std::vector<std::string>& tags, std::string hint) {
    const std::string problem = word == 0
                                    ? "the tag " + tags[0] + " cannot begin a sentence"
                                    : "the tag " + tags[word] + " cannot follow " + tags[word - 1];
    return {word, problem, std::move(hint)};
}

// In BIOES an entity that was begun is ended by E- (L-), and nothing else begins meanwhile.
std::optional<BadTag> bad_in_bioes(const std::vector<std::string>& tags) {
    ChunkTag before{'O', ""};
    for (std::size_t i = 0; i < tags.size(); ++i) {
        const ChunkTag now = *chunk_tag(tags[i]);
        const bool open = is_part(before.part, "BIM"), goes_on = is_part(now.part, "IEML");
        if (open != goes_on || (open && before.type != now.type))
            return cannot_follow(i, tags, "--scheme bio or iob1, if these are not BIOES tags");
        before = now;
    }
    if (is_part(before.part, "BIM"))
        return BadTag{tags.size() - 1,
                      "the tag " + tags.back() + " cannot end a sentence: its entity has no end",
                      "--scheme bio or iob1, if these are not BIOES tags"};
    return {};
}

}  // namespace

std::vector<std::string> tag_scheme_names() {
    std::vector<std::string> names;
    for (const SchemeName& s : scheme_names) names.emplace_back(s.name);
    return names;
}

TagScheme tag_scheme_of(const std::string& name) {
    for (const SchemeName& s : scheme_names)
        if (name == s.name) return s.scheme;
    fail_with(ErrorKind::usage, "auto, plain, bio, iob1 or bioes", "there is no tag scheme `", name,
              "`");
}

const char* name_of(TagScheme scheme) {
    for (const SchemeName& s : scheme_names)
        if (scheme == s.scheme) return s.name;
    return "";
}

std::optional<ChunkTag> chunk_tag(std::string_view tag) {
    if (tag == "O") return ChunkTag{'O', {}};
    if (tag.size() < 3 || tag[1] != '-' || !is_part(tag[0], "BIESLUM")) return {};
    return ChunkTag{tag[0], tag.substr(2)};
}

TagScheme recognised_scheme(std::span<const std::vector<std::string>> sentences) {
    std::int64_t chunks = 0, others = 0, ends = 0, bare_inside = 0, bare_begin = 0;
    for (const std::vector<std::string>& tags : sentences) {
        std::string_view before;  // type
        for (const std::string& tag : tags) {
            const auto t = chunk_tag(tag);
            if (!t) {
                ++others, before = {};
                continue;
            }
            chunks += t->part != 'O';
            ends += is_part(t->part, "ESLU");
            bare_inside += t->part == 'I' && before != t->type;
            bare_begin += t->part == 'B' && before != t->type;
            before = t->type;
        }
    }
    if (others > 0 && chunks < 9 * others) return TagScheme::plain;
    if (ends > 0) return TagScheme::bioes;
    // In IOB1 a B- only ever parts neighbours; an I- that begins something tells it from BIO2.
    return bare_inside > 0 && bare_begin == 0 ? TagScheme::iob1 : TagScheme::bio;
}

bool name_bare_tags(std::span<std::vector<std::string>> sentences) {
    bool begins = false;
    for (const std::vector<std::string>& tags : sentences)
        for (const std::string& tag : tags) {
            if (tag.size() != 1 || !is_part(tag[0], "OBIES")) return false;
            begins = begins || tag == "B" || tag == "I";
        }
    if (!begins) return false;
    for (std::vector<std::string>& tags : sentences)
        for (std::string& tag : tags)
            if (tag != "O") tag += "-entity";
    return true;
}

std::optional<BadTag> turn_into_bio(TagScheme scheme, std::vector<std::string>& tags) {
    if (scheme == TagScheme::plain) return {};
    const std::string_view parts = scheme == TagScheme::bioes ? "BIESLUMO" : "BIO";
    for (std::size_t i = 0; i < tags.size(); ++i)
        if (const auto t = chunk_tag(tags[i]); !t || !is_part(t->part, parts))
            return BadTag{i, "the tag \"" + tags[i] + "\" is neither O nor B-TYPE or I-TYPE",
                          "--scheme plain takes any tags, one for each word"};
    if (scheme == TagScheme::bioes)
        if (auto bad = bad_in_bioes(tags)) return bad;
    const std::vector<std::string> given = tags;
    ChunkTag before{'O', ""};
    for (std::size_t i = 0; i < given.size(); ++i) {
        const ChunkTag now = *chunk_tag(given[i]);
        if (is_part(now.part, "SU")) tags[i][0] = 'B';
        if (is_part(now.part, "EML")) tags[i][0] = 'I';
        const bool goes_on = before.part != 'O' && before.type == now.type;
        if (now.part == 'I' && !goes_on) {
            if (scheme != TagScheme::iob1)
                return cannot_follow(
                    i, given,
                    "--scheme iob1 takes an I- without a B- for the beginning of an entity");
            tags[i][0] = 'B';
        }
        before = now;
    }
    return {};
}

std::vector<std::string> bio_labels(const std::vector<std::string>& types) {
    std::vector<std::string> labels{"O"};
    for (const std::string& type : types) {
        labels.push_back("B-" + type);
        labels.push_back("I-" + type);
    }
    return labels;
}

}  // namespace fovea
