#pragma once
// How tags mark the words of an entity. Everything is turned into BIO2: the first word of an entity
// is B-TYPE, its others I-TYPE, all other words O.
// Thread-safety: pure functions, safe from any thread.
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

enum class TagScheme {
    automatic,
    plain,  // a tag for each word, entities do not come into it (parts of speech)
    bio,    // BIO2
    iob1,   // I- begins an entity too; B- only where one of the same type stands right before
    bioes   // S- for entities of one word, E- for the last of several; as BILOU: U- and L-
};

std::vector<std::string> tag_scheme_names();  // auto, plain, bio, iob1, bioes
TagScheme tag_scheme_of(const std::string& name);
const char* name_of(TagScheme scheme);

// "B-person" in two; no part where it is neither O nor written like that.
struct ChunkTag {
    char part = 0;  // B, I, E, S, L, U, M or O
    std::string_view type;
};
std::optional<ChunkTag> chunk_tag(std::string_view tag);

// What tags of many sentences are: never automatic.
TagScheme recognised_scheme(std::span<const std::vector<std::string>> sentences);

// B, I and O (or E, S) without a type, as files with one kind of entity have them, get the type
// "entity". False where these are other tags.
bool name_bare_tags(std::span<std::vector<std::string>> sentences);

struct BadTag {
    std::size_t word = 0;
    std::string problem, hint;
};
// Turns the tags of one sentence into BIO2, or says which is the first that cannot be.
std::optional<BadTag> turn_into_bio(TagScheme scheme, std::vector<std::string>& tags);

// O, then B- and I- of each type.
std::vector<std::string> bio_labels(const std::vector<std::string>& types);

}  // namespace fovea
