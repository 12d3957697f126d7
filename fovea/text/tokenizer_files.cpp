#include "fovea/text/tokenizer_files.h"

#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/text/json_components.h"
#include "fovea/text/sentencepiece_model.h"
#include "fovea/text/tokenizer.h"
#include "fovea/text/tokenizer_json.h"
#include "fovea/text/utf8.h"

namespace fovea {

namespace {

constexpr std::int64_t file_limit = std::int64_t{1} << 30;

std::string read(const std::string& path) { return read_file(path, file_limit); }

// Any upper-case letter outside of "[UNK]"-like names says that the vocabulary is cased.
bool is_cased(const Vocabulary& vocab) {
    for (std::size_t i = 0; i < vocab.size(); ++i) {
        const std::string_view t = vocab.entry(i).token;
        if (t.starts_with('[')) continue;
        for (const char c : t)
            if (c >= 'A' && c <= 'Z') return true;
    }
    return false;
}

TokenizerSpec read_vocab_file(const std::string& path) {
    Vocabulary vocab = read_vocab_txt(read(path), path);
    if (!vocab.contains("[UNK]")) return word_level_spec(std::move(vocab));
    const bool lowercase = !is_cased(vocab);
    return bert_spec(std::move(vocab), lowercase);
}

TokenizerSpec read_byte_level(const std::string& vocab, const std::string& merges) {
    BpeSpec bpe = read_vocab_and_merges(read(vocab), vocab, read(merges), merges);
    const bool roberta = bpe.vocab.contains("<s>") && bpe.vocab.contains("</s>");
    return roberta ? roberta_spec(std::move(bpe)) : gpt2_spec(std::move(bpe));
}

TokenizerSpec read_spm(const std::string& path) {
    TokenizerSpec spec;
    SentencePieceSpec model;
    model.proto = read(path);
    parse_sentencepiece(model.proto, path);  // errors name the file
    spec.model = std::move(model);
    return spec;
}

// The file that pairs with a vocab.json or a merges.txt, empty where there is none.
std::string partner(const std::string& path, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        const std::string other = join_path(parent_path(path), name);
        if (file_exists(other)) return other;
    }
    return {};
}

TokenizerSpec read_json(const std::string& path) {
    const std::string json = read(path);
    const text::JsonDocument document(json, path);
    const text::JsonValue root = document.root();
    expect_input(root.is_object(), path, ": should be a JSON object");
    const auto model = root.find("model");
    if (model && model->is_object()) return text::read_spec(root);
    const std::string merges = partner(path, {"merges.txt", "vocab.bpe"});
    if (!merges.empty()) return read_byte_level(path, merges);
    const auto added = root.find("added_tokens");  // in a vocabulary it would be a number
    expect_input(!added || !added->is_array(), path,
                 ": has no \"model\", which a tokenizer.json needs");
    return word_level_spec(text::read_vocab(root));
}

}  // namespace

Vocabulary read_vocab_txt(std::string_view text, const std::string& where) {
    expect_input(text::is_valid_utf8(text), where, ": not valid UTF-8");
    Vocabulary vocab;
    TokenId id = 0;
    for (std::size_t begin = 0; begin < text.size(); ++id) {
        std::size_t end = text.find('\n', begin);
        if (end == std::string_view::npos) end = text.size();
        std::string_view line = text.substr(begin, end - begin);
        while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t'))
            line.remove_suffix(1);
        vocab.add(line, id);
        begin = end + 1;
    }
    expect_input(!vocab.empty(), where, ": empty, but should have one token a line");
    return vocab;
}

BpeSpec read_vocab_and_merges(std::string_view vocab_json, const std::string& vocab_where,
                              std::string_view merges, const std::string& merges_where) {
    BpeSpec spec;
    {
        const text::JsonDocument document(vocab_json, vocab_where);
        spec.vocab = text::read_vocab(document.root());
    }
    expect_input(text::is_valid_utf8(merges), merges_where, ": not valid UTF-8");
    std::vector<std::string_view> pairs;
    std::int64_t number = 0;
    for (std::size_t begin = 0; begin < merges.size();) {
        std::size_t end = merges.find('\n', begin);
        if (end == std::string_view::npos) end = merges.size();
        std::string_view line = merges.substr(begin, end - begin);
        begin = end + 1;
        ++number;
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty() || line.starts_with("#version")) continue;
        const std::size_t space = line.find(' ');
        expect_input(
            space != std::string_view::npos && line.find(' ', space + 1) == std::string_view::npos,
            merges_where, ": line ", number, ": \"", line,
            "\" should be two tokens with a space between them");
        pairs.push_back(line.substr(0, space));
        pairs.push_back(line.substr(space + 1));
    }
    spec.merges = text::find_merges(pairs, spec, merges_where);
    return spec;
}

TokenizerSpec read_tokenizer(const std::string& path) {
    if (is_folder(path)) {
        for (const char* name : {"tokenizer.json", "vocab.txt", "vocab.json", "encoder.json",
                                 "spiece.model", "tokenizer.model", "sentencepiece.bpe.model"})
            if (const std::string file = join_path(path, name); file_exists(file))
                return read_tokenizer(file);
        fail_with(ErrorKind::not_found,
                  "the folder should hold a tokenizer.json, a vocab.txt, a vocab.json with "
                  "merges.txt, or a SentencePiece .model",
                  path, ": no tokenizer in this folder");
    }
    const std::string name = base_name(path);
    if (name.ends_with(".json")) return read_json(path);
    if (name == "merges.txt" || name.ends_with(".bpe")) {
        const std::string vocab = partner(path, {"vocab.json", "encoder.json"});
        if (vocab.empty())
            fail_with(ErrorKind::not_found, "put the vocab.json beside it", path,
                      ": merges without a vocabulary");
        return read_byte_level(vocab, path);
    }
    if (name.ends_with(".model") || name.ends_with(".spm")) return read_spm(path);
    return read_vocab_file(path);
}

Tokenizer Tokenizer::load(const std::string& path) {
    TokenizerSpec spec = read_tokenizer(path);
    try {
        return Tokenizer(std::move(spec));
    } catch (const Error& e) {  // patterns and charsmaps are taken apart here: name the file
        throw Error(path + ": " + e.what(), e.kind(), e.hint());
    }
}

}  // namespace fovea
