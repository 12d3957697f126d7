#include "fovea/text/tokenizer_files.h"

#include <algorithm>
#include <optional>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/utf8.h"
#include "fovea/text/json/json_components.h"
#include "fovea/text/json/tokenizer_json.h"
#include "fovea/text/spm/sentencepiece_model.h"
#include "fovea/text/tokenizer.h"
#include "fovea/text/tokenizer_config.h"

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

TokenizerSpec read_spm(const std::string& path, const TokenizerConfig& config) {
    std::string proto = read(path);
    const SentencePieceModel model = parse_sentencepiece(proto, path);
    if (config.is("albert"))
        return albert_spec(model, config.do_lower_case.value_or(true),
                           config.keep_accents.value_or(false));
    if (config.is("xlnet")) return xlnet_spec(model, config.do_lower_case.value_or(false));
    if (config.is("t5") || config.is("mt5")) return t5_spec(model);
    TokenizerSpec spec;
    spec.model = SentencePieceSpec{std::move(proto), std::nullopt, "<unk>"};
    spec.special_tokens.unk = model.unk_piece;
    return spec;
}

// Marian: source.spm or target.spm with the ids of vocab.json (target_vocab.json).
TokenizerSpec read_marian(const std::string& path) {
    const std::string folder = parent_path(path);
    std::string vocab = join_path(folder, "vocab.json");
    const std::string target = join_path(folder, "target_vocab.json");
    if (base_name(path) == "target.spm" && file_exists(target)) vocab = target;
    std::string proto = read(path);
    parse_sentencepiece(proto, path);  // errors name the file
    const std::string json = read(vocab);
    const text::JsonDocument document(json, vocab);
    return marian_spec(std::move(proto), text::read_vocab(document.root()));
}

// The file that pairs with a vocab.json or a merges.txt, empty where there is none.
std::string partner(const std::string& path, std::initializer_list<const char*> names) {
    for (const char* name : names) {
        const std::string other = join_path(parent_path(path), name);
        if (file_exists(other)) return other;
    }
    return {};
}

TokenizerSpec read_json(const std::string& path, const TokenizerConfig& config) {
    const std::string json = read(path);
    const text::JsonDocument document(json, path);
    const text::JsonValue root = document.root();
    expect_input(root.is_object(), path, ": should be a JSON object");
    const auto model = root.find("model");
    if (model && model->is_object()) return text::read_spec(root);
    const std::string merges = partner(path, {"merges.txt", "vocab.bpe"});
    if (!merges.empty()) return byte_level_spec({json, path}, {read(merges), merges}, config);
    const auto added = root.find("added_tokens");  // in a vocabulary it would be a number
    expect_input(!added || !added->is_array(), path,
                 ": has no \"model\", which a tokenizer.json needs");
    return word_level_spec(text::read_vocab(root));
}

TokenizerSpec read_one(const std::string& path, const TokenizerConfig& config) {
    const std::string name = base_name(path);
    if (name.ends_with(".json")) return read_json(path, config);
    if (name == "merges.txt" || name.ends_with(".bpe")) {
        const std::string vocab = partner(path, {"vocab.json", "encoder.json"});
        if (vocab.empty())
            fail_with(ErrorKind::not_found, "put the vocab.json beside it", path,
                      ": merges without a vocabulary");
        return byte_level_spec({read(vocab), vocab}, {read(path), path}, config);
    }
    if ((name == "source.spm" || name == "target.spm") && !partner(path, {"vocab.json"}).empty())
        return read_marian(path);
    if (name.ends_with(".model") || name.ends_with(".spm")) return read_spm(path, config);
    return vocab_txt_spec({read(path), path}, config);
}

void check_utf8(std::string_view text, const std::string& where) {
    if (is_utf8(text)) return;
    const std::string_view good = text.substr(0, utf8_prefix(text));
    fail_with(ErrorKind::bad_input, encoding_hint(text, where), where, ":",
              1 + std::count(good.begin(), good.end(), '\n'), ": not valid UTF-8");
}

}  // namespace

TokenizerSpec vocab_txt_spec(const FileText& file, const TokenizerConfig& config) {
    Vocabulary vocab = read_vocab_txt(file.text, file.path);
    if (!vocab.contains(config.roles.unk.value_or("[UNK]")))
        return word_level_spec(std::move(vocab));
    const bool lowercase = config.do_lower_case.value_or(!is_cased(vocab));
    TokenizerSpec spec = bert_spec(std::move(vocab), lowercase);
    auto& bert = std::get<normalizer::Bert>(spec.normalizer[0]);
    bert.strip_accents = config.strip_accents;
    bert.handle_chinese_chars = config.tokenize_chinese_chars.value_or(true);
    return spec;
}

TokenizerSpec byte_level_spec(const FileText& vocab, const FileText& merges,
                              const TokenizerConfig& config) {
    BpeSpec bpe = read_vocab_and_merges(vocab.text, vocab.path, merges.text, merges.path);
    const bool prefix = config.add_prefix_space.value_or(false);
    const bool roberta =
        config.is("gpt2") ? false : bpe.vocab.contains("<s>") && bpe.vocab.contains("</s>");
    return roberta ? roberta_spec(std::move(bpe), prefix) : gpt2_spec(std::move(bpe), prefix);
}

Vocabulary read_vocab_txt(std::string_view text, const std::string& where) {
    check_utf8(text, where);
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
    check_utf8(merges, merges_where);
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
    std::string file = path;
    if (!file_exists(path))
        fail_with(ErrorKind::not_found,
                  "name a tokenizer.json, a vocab.txt, a vocab.json with merges.txt beside it, a "
                  "SentencePiece .model, or a folder with one of them",
                  path, ": no such file or folder");
    if (is_folder(path)) {
        file.clear();
        for (const char* name :
             {"tokenizer.json", "source.spm", "vocab.txt", "vocab.json", "encoder.json",
              "spiece.model", "tokenizer.model", "sentencepiece.bpe.model", "spm.model"}) {
            const std::string candidate = join_path(path, name);
            if (file.empty() && file_exists(candidate)) file = candidate;
        }
        if (file.empty())
            fail_with(ErrorKind::not_found,
                      "the folder should hold a tokenizer.json, a vocab.txt, a vocab.json with "
                      "merges.txt, or a SentencePiece .model",
                      path, ": no tokenizer in this folder");
    }
    // A file by itself is what it says; the files beside it count where a folder was named or
    // where the file cannot say it.
    const TokenizerConfig config =
        is_folder(path) ? read_tokenizer_config(path) : TokenizerConfig{};
    TokenizerSpec spec = read_one(file, config);
    apply(config, spec);
    return spec;
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
