#include "fovea/tasks/pretrain_vocabulary.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/text/special_tokens.h"
#include "fovea/text/steps/word_splitter.h"

namespace fovea {
namespace {

constexpr std::int64_t counting_memory = std::int64_t{1} << 30;

TokenizerTraining characters(bool lowercase) {
    TokenizerTraining t;
    t.model = TrainedModel::word;  // each "word" is one character, line breaks among them
    pretokenizer::Split each;
    each.pattern.text = "[\\s\\S]";
    each.pattern.regex = true;
    t.pipeline.pre_tokenizer = {each};
    t.pipeline.decoder = {decoder::Fuse{}};
    if (lowercase) t.pipeline.normalizer = {normalizer::Lowercase{}};
    return t;
}

TokenizerTraining whole_words(bool lowercase) {
    TokenizerTraining t;
    t.model = TrainedModel::word;
    t.pipeline.normalizer = {normalizer::Nfc{}};
    if (lowercase) t.pipeline.normalizer.push_back(normalizer::Lowercase{});
    t.pipeline.pre_tokenizer = {pretokenizer::Whitespace{}};
    return t;
}

// How text is cut into pieces.
TokenizerTraining pieces_of(const std::string& kind, const ModelHabit& habit, bool lowercase) {
    if (kind == "characters") return characters(lowercase);
    if (kind == "words") return whole_words(lowercase);
    const bool own = kind == habit.vocabulary;
    if (kind == "wordpiece") return training_like(lowercase ? "bert-uncased" : "bert-cased");
    TokenizerTraining t = training_like(own ? habit.recipe : kind == "bpe" ? "gpt2" : "xlnet");
    if (lowercase)
        t.pipeline.normalizer.insert(t.pipeline.normalizer.begin(), normalizer::Lowercase{});
    return t;
}

bool has_token(const TokenizerTraining& t, const std::string& content) {
    return std::any_of(t.special_tokens.begin(), t.special_tokens.end(),
                       [&](const AddedToken& s) { return s.content == content; });
}

}  // namespace

TokenizerTraining pretrain_vocabulary(const ModelHabit& habit, const PretrainSettings& settings) {
    const std::string kind = settings.vocabulary == "auto" ? habit.vocabulary : settings.vocabulary;
    TokenizerTraining t = pieces_of(kind, habit, settings.lowercase);
    const TokenizerTraining frame = training_like(habit.recipe);
    t.special_tokens = frame.special_tokens;
    t.pipeline.post_processor = frame.pipeline.post_processor;
    t.vocab_size = settings.vocabulary_size;
    // Bytes are never unknown; other pieces are, and need a token that says so.
    if (t.model != TrainedModel::bpe) {
        t.unk_token = frame.unk_token.empty() ? "<unk>" : frame.unk_token;
        if (!has_token(t, t.unk_token))
            t.special_tokens.push_back(
                special_token(t.unk_token, static_cast<TokenId>(t.special_tokens.size())));
    } else {
        t.unk_token = frame.unk_token;
        t.vocab_size = std::max(t.vocab_size, static_cast<std::int64_t>(t.special_tokens.size() +
                                                                        t.initial_alphabet.size()));
    }
    t.pipeline.added_tokens = t.special_tokens;
    return t;
}

std::shared_ptr<const Tokenizer> train_pretrain_vocabulary(const TokenizerTraining& training,
                                                           const EachText& texts) {
    const WordSplitter splitter(training.pipeline);
    WordCounts words(counting_memory, {48, 96});
    texts([&](std::string_view text) {
        splitter.split(text, [&](std::string_view word) { words.add(word); });
    });
    expect_input(words.size() > 0, "vocabulary: the documents hold no word");
    return std::make_shared<const Tokenizer>(train_tokenizer(words, training));
}

}  // namespace fovea
