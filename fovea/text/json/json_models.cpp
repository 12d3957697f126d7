

#include "fovea/text/json/json_components.h"
#include "fovea/text/json/json_number.h"

namespace fovea::text {

namespace {

std::optional<std::string> optional_string(const JsonValue& v, std::string_view key) {
    const auto s = v.find(key);
    return s ? std::optional(std::string(s->string())) : std::nullopt;
}

// The two tokens of each merge, as "a b" (the spelling before 2024) or ["a", "b"].
std::vector<std::string_view> merge_pairs(const JsonValue& v) {
    std::vector<std::string_view> tokens;
    const simdjson::dom::array list = v.array();
    tokens.reserve(2 * list.size());
    for (const simdjson::dom::element e : list) {
        std::string_view left, right, line;
        simdjson::dom::array pair;
        if (e.get(line) == simdjson::SUCCESS) {
            const std::size_t space = line.find(' ');
            expect_input(space != std::string_view::npos &&
                             line.find(' ', space + 1) == std::string_view::npos,
                         v.path(), "[", tokens.size() / 2, "]: \"", line,
                         "\" should be two tokens with a space between them");
            left = line.substr(0, space);
            right = line.substr(space + 1);
        } else {
            expect_input(e.get(pair) == simdjson::SUCCESS && pair.size() == 2 &&
                             pair.at(0).get(left) == simdjson::SUCCESS &&
                             pair.at(1).get(right) == simdjson::SUCCESS,
                         v.path(), "[", tokens.size() / 2,
                         "]: should be \"a b\" or [\"a\", \"b\"]");
        }
        tokens.push_back(left);
        tokens.push_back(right);
    }
    return tokens;
}

std::vector<Merge> read_merges(const JsonValue& v, const BpeSpec& spec) {
    return find_merges(merge_pairs(v), spec, v.path());
}

BpeSpec read_bpe(const JsonValue& v) {
    BpeSpec spec;
    spec.vocab = read_vocab(v.at("vocab"));
    if (const auto d = v.find("dropout")) {
        spec.dropout = static_cast<float>(d->number());
        expect_input(*spec.dropout >= 0 && *spec.dropout <= 1, d->path(), ": ", *spec.dropout,
                     " is not between 0 and 1");
    }
    spec.unk_token = optional_string(v, "unk_token");
    spec.continuing_subword_prefix = optional_string(v, "continuing_subword_prefix");
    spec.end_of_word_suffix = optional_string(v, "end_of_word_suffix");
    spec.fuse_unk = v.boolean_or("fuse_unk", false);
    spec.byte_fallback = v.boolean_or("byte_fallback", false);
    spec.ignore_merges = v.boolean_or("ignore_merges", false);
    spec.merges = read_merges(v.at("merges"), spec);
    return spec;
}

WordPieceSpec read_wordpiece(const JsonValue& v) {
    WordPieceSpec spec;
    spec.vocab = read_vocab(v.at("vocab"));
    spec.unk_token = v.string_or("unk_token", "[UNK]");
    spec.continuing_subword_prefix = v.string_or("continuing_subword_prefix", "##");
    spec.max_input_chars_per_word = v.integer_or("max_input_chars_per_word", 100);
    expect_input(spec.max_input_chars_per_word >= 0, v.path(),
                 ".max_input_chars_per_word: ", spec.max_input_chars_per_word, " is negative");
    return spec;
}

UnigramSpec read_unigram(const JsonValue& v) {
    UnigramSpec spec;
    const JsonValue vocab = v.at("vocab");
    const simdjson::dom::array list = vocab.array();
    spec.vocab.reserve(list.size());
    for (const simdjson::dom::element e : list) {
        simdjson::dom::array pair;
        std::string_view piece;
        double score = 0;
        expect_input(e.get(pair) == simdjson::SUCCESS && pair.size() == 2 &&
                         pair.at(0).get(piece) == simdjson::SUCCESS &&
                         pair.at(1).get(score) == simdjson::SUCCESS,
                     vocab.path(), "[", spec.vocab.size(), "]: should be [piece, score]");
        spec.vocab.push_back({std::string(piece), as_tokenizers_reads(score)});
    }
    if (const auto unk = v.find("unk_id")) {
        const std::int64_t id = unk->integer();
        expect_input(id >= 0 && id < static_cast<std::int64_t>(spec.vocab.size()), unk->path(),
                     ": ", id, " but the vocabulary has ", spec.vocab.size(), " pieces");
        spec.unk_id = static_cast<TokenId>(id);
    }
    spec.byte_fallback = v.boolean_or("byte_fallback", false);
    return spec;
}

WordLevelSpec read_word_level(const JsonValue& v) {
    WordLevelSpec spec;
    spec.vocab = read_vocab(v.at("vocab"));
    spec.unk_token = v.string_or("unk_token", "<unk>");
    return spec;
}

// Files from before 2020 do not name the type: it follows from the fields.
std::string_view type_of(const JsonValue& v) {
    if (const auto t = v.find("type")) return t->string();
    if (v.find("merges")) return "BPE";
    const auto vocab = v.find("vocab");
    if (vocab && vocab->is_array()) return "Unigram";
    return v.find("continuing_subword_prefix") ? "WordPiece" : "WordLevel";
}

}  // namespace

std::vector<Merge> find_merges(const std::vector<std::string_view>& pairs, const BpeSpec& spec,
                               const std::string& where) {
    const Vocabulary& vocab = spec.vocab;
    const std::size_t prefix = spec.continuing_subword_prefix.value_or("").size();
    const auto known = [&](TokenId id, std::string_view token, std::size_t rank) {
        expect_input(id >= 0, where, "[", rank, "]: \"", token, "\" is not in the vocabulary");
        return id;
    };
    std::vector<TokenId> ids(pairs.size());
    vocab.find(pairs, ids);
    std::vector<Merge> merges(pairs.size() / 2);
    std::string joined;
    TokenId guess = 0;  // trainers number new tokens in the order of their merges
    for (std::size_t i = 0; i < merges.size(); ++i) {
        const std::string_view left = pairs[2 * i], right = pairs[2 * i + 1];
        merges[i].left = known(ids[2 * i], left, i);
        merges[i].right = known(ids[2 * i + 1], right, i);
        expect_input(right.size() >= prefix, where, "[", i, "]: \"", right,
                     "\" is shorter than the continuing_subword_prefix");
        joined.assign(left);
        joined += right.substr(prefix);
        merges[i].merged =
            vocab.token(guess) == joined ? guess : known(vocab.find(joined), joined, i);
        guess = merges[i].merged + 1;
    }
    return merges;
}

Vocabulary read_vocab(const JsonValue& v) {
    Vocabulary vocab;
    std::vector<std::string_view> tokens;
    std::vector<TokenId> ids;
    std::size_t bytes = 0;
    const simdjson::dom::object object = v.object();
    tokens.reserve(object.size());
    ids.reserve(object.size());
    for (const auto& [token, element] : object) {
        std::int64_t id = 0;
        expect_input(element.get(id) == simdjson::SUCCESS && id >= 0 && id < 2147483647, v.path(),
                     ": token \"", token, "\" has no id between 0 and 2147483646");
        tokens.push_back(token);
        ids.push_back(static_cast<TokenId>(id));
        bytes += token.size();
    }
    vocab.reserve(tokens.size(), bytes);
    vocab.add(tokens, ids);
    return vocab;
}

ModelSpec read_model(const JsonValue& v) {
    const std::string_view type = type_of(v);
    if (type == "BPE") return read_bpe(v);
    if (type == "WordPiece") return read_wordpiece(v);
    if (type == "Unigram") return read_unigram(v);
    if (type == "WordLevel") return read_word_level(v);
    fail_with(ErrorKind::bad_input, "Fovea has BPE, WordPiece, Unigram and WordLevel", v.path(),
              ": unknown model \"", type, "\"");
}

}  // namespace fovea::text
