#include "fovea/text/train/train_tokenizer.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/text/json/json_number.h"
#include "fovea/text/train/train_bpe.h"
#include "fovea/text/train/train_corpus.h"
#include "fovea/text/train/train_unigram.h"

namespace fovea {

namespace {

std::string byte_token(int b) {
    constexpr char hex[] = "0123456789ABCDEF";
    return std::string("<0x") + hex[b >> 4] + hex[b & 15] + ">";
}

// The tokens that come before everything learned: the special ones, then those of bytes.
std::vector<std::string> fixed_tokens(const TokenizerTraining& t) {
    std::vector<std::string> tokens;
    for (const AddedToken& s : t.special_tokens) tokens.push_back(s.content);
    if (t.byte_fallback)
        for (int b = 0; b < 256; ++b) tokens.push_back(byte_token(b));
    return tokens;
}

// How the memory limit is shared out. The costs are the most that was measured on texts made to be
// bad for them (random letters, random words, one word a line), rounded up; tests/text holds the
// whole process to its bound on such texts.
struct MemoryPlan {
    static constexpr std::int64_t fixed = std::int64_t{40} << 20;  // program, tables of characters

    std::int64_t table, seeds;
    TrainingCost cost;
    std::size_t longest_line, share_bytes;

    explicit MemoryPlan(const TokenizerTraining& t) {
        const std::int64_t free = t.memory_limit - fixed;
        const bool unigram = t.model == TrainedModel::unigram;
        table = unigram ? free / 3 * 2 : free;
        seeds = free / 1024 + 2 * t.vocab_size;
        if (t.model != TrainedModel::word) cost = {48, 96};
        longest_line = static_cast<std::size_t>(
            std::clamp<std::int64_t>(free / 512, 1 << 16, CorpusReader::usual_longest_line));
        share_bytes = static_cast<std::size_t>(std::clamp<std::int64_t>(free / 128, 1, 1 << 20));
    }
};

BpeTraining bpe_options(const TokenizerTraining& t) {
    return {.vocab_size = t.vocab_size,
            .min_frequency = t.min_frequency,
            .special_tokens = fixed_tokens(t),
            .limit_alphabet = t.limit_alphabet,
            .initial_alphabet = t.initial_alphabet,
            .continuing_subword_prefix = t.continuing_subword_prefix,
            .end_of_word_suffix = t.end_of_word_suffix,
            .max_token_length = t.max_token_length,
            .progress = t.progress};
}

ModelSpec train_bpe_model(const WordCounts& words, const TokenizerTraining& t) {
    const TrainedBpe trained = train_bpe(words, bpe_options(t));
    BpeSpec model;
    model.vocab = Vocabulary(trained.vocab);
    model.merges = trained.merges;
    if (!t.unk_token.empty()) model.unk_token = t.unk_token;
    if (!t.continuing_subword_prefix.empty())
        model.continuing_subword_prefix = t.continuing_subword_prefix;
    if (!t.end_of_word_suffix.empty()) model.end_of_word_suffix = t.end_of_word_suffix;
    model.byte_fallback = t.byte_fallback;
    model.fuse_unk = t.byte_fallback;
    return model;
}

ModelSpec train_wordpiece_model(const WordCounts& words, const TokenizerTraining& t) {
    WordPieceSpec model;
    model.vocab = Vocabulary(train_bpe(words, bpe_options(t)).vocab);
    model.unk_token = t.unk_token;
    model.continuing_subword_prefix = t.continuing_subword_prefix;
    return model;
}

ModelSpec train_unigram_model(const WordCounts& words, const TokenizerTraining& t) {
    UnigramSpec model;
    for (const std::string& token : fixed_tokens(t)) {
        if (token == t.unk_token) model.unk_id = static_cast<TokenId>(model.vocab.size());
        model.vocab.push_back({token, 0.0});
    }
    model.byte_fallback = t.byte_fallback;
    UnigramTraining options;
    options.pieces = t.vocab_size - static_cast<std::int64_t>(model.vocab.size());
    options.limit_alphabet = t.limit_alphabet;
    options.initial_alphabet = t.initial_alphabet;
    if (t.max_token_length > 0) options.max_piece_length = t.max_token_length;
    options.seed_size = std::min(options.seed_size, MemoryPlan(t).seeds);
    options.progress = t.progress;
    const auto known = fixed_tokens(t);
    for (const UnigramPiece& p : train_unigram(words, options)) {
        if (std::find(known.begin(), known.end(), p.piece) != known.end()) continue;
        // Not every number can be read from a file (json_number.h): take one that can.
        model.vocab.push_back({p.piece, text::as_tokenizers_reads(p.score)});
    }
    return model;
}

// The most frequent words; ties in the order of their bytes, as in `tokenizers`.
ModelSpec train_word_model(const WordCounts& words, const TokenizerTraining& t) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < words.size(); ++i)
        if (words.count(i) >= t.min_frequency) order.push_back(i);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return words.count(a) != words.count(b) ? words.count(a) > words.count(b)
                                                : words.word(a) < words.word(b);
    });
    WordLevelSpec model;
    model.unk_token = t.unk_token;
    const auto add = [&](std::string_view token) {
        if (static_cast<std::int64_t>(model.vocab.size()) < t.vocab_size &&
            !model.vocab.contains(token))
            model.vocab.add(token, static_cast<TokenId>(model.vocab.size()));
    };
    for (const std::string& token : fixed_tokens(t)) add(token);
    for (const std::size_t i : order) add(words.word(i));
    return model;
}

void check(const TokenizerTraining& t) {
    const auto usage = [](bool ok, const char* hint, const auto&... parts) {
        if (!ok) fail_with(ErrorKind::usage, hint, "tokenizer training: ", parts...);
    };
    const auto fixed = static_cast<std::int64_t>(fixed_tokens(t).size());
    usage(t.vocab_size > fixed, "ask for more tokens, or for fewer special ones",
          "a vocabulary of ", t.vocab_size, " tokens, but ", fixed, " of them are fixed");
    const auto least = fixed + static_cast<std::int64_t>(t.initial_alphabet.size());
    usage(t.vocab_size >= least, "ask for more tokens", "a vocabulary of ", t.vocab_size,
          " tokens, but this kind has ", least,
          " before it learns any (special tokens and alphabet)");
    usage(t.vocab_size <= 10'000'000, "vocabularies rarely have more than 250,000 tokens",
          "a vocabulary of ", t.vocab_size, " tokens");
    usage(t.memory_limit >= least_training_memory, "give it more; 2 GiB is the default",
          t.memory_limit >> 20, " MiB of memory, but it needs ", least_training_memory >> 20);
    for (std::size_t i = 0; i < t.special_tokens.size(); ++i) {
        usage(!t.special_tokens[i].content.empty(), "give every special token a spelling",
              "special token ", i, " is empty");
        for (std::size_t k = 0; k < i; ++k)
            usage(t.special_tokens[k].content != t.special_tokens[i].content, "name it once",
                  "the special token ", t.special_tokens[i].content, " is there twice");
    }
    const bool has_unk = std::any_of(t.special_tokens.begin(), t.special_tokens.end(),
                                     [&](const AddedToken& s) { return s.content == t.unk_token; });
    usage(t.unk_token.empty() || has_unk, "add it to the special tokens", "the unknown token ",
          t.unk_token, " is not one of the special tokens");
    usage(!t.unk_token.empty() || t.model == TrainedModel::bpe,
          "name the token that stands for what is not in the vocabulary",
          "only BPE works without an unknown token");
}

}  // namespace

TokenizerSpec train_tokenizer(const WordCounts& words, const TokenizerTraining& t) {
    check(t);
    TokenizerSpec spec = t.pipeline;
    switch (t.model) {
        case TrainedModel::bpe:
            spec.model = train_bpe_model(words, t);
            break;
        case TrainedModel::wordpiece:
            spec.model = train_wordpiece_model(words, t);
            break;
        case TrainedModel::unigram:
            spec.model = train_unigram_model(words, t);
            break;
        case TrainedModel::word:
            spec.model = train_word_model(words, t);
            break;
    }
    spec.added_tokens = t.special_tokens;
    for (std::size_t i = 0; i < spec.added_tokens.size(); ++i)
        spec.added_tokens[i].id = static_cast<TokenId>(i);
    return spec;
}

TokenizerSpec train_tokenizer(const std::vector<std::string>& files, const TokenizerTraining& t,
                              TrainingReport* report) {
    check(t);
    const WordSplitter splitter(t.words_as ? *t.words_as : t.pipeline);
    const MemoryPlan plan(t);
    const WordCounts words = count_words(files, splitter,
                                         {.keep_newlines = t.keep_newlines,
                                          .table_limit = plan.table,
                                          .cost = plan.cost,
                                          .longest_line = plan.longest_line,
                                          .share_bytes = plan.share_bytes,
                                          .progress = t.progress});
    if (report)
        *report = {words.total(), static_cast<std::int64_t>(words.size()), words.undercount()};
    if (words.size() == 0) {
        fail_with(ErrorKind::bad_input, "give it files with text",
                  "tokenizer training: there is not one word in the text");
    }
    return train_tokenizer(words, t);
}

}  // namespace fovea
