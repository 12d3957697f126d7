#include "fovea/text/train/vocabulary_recipe.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/text/special_tokens.h"
#include "fovea/text/steps/byte_level.h"
#include "fovea/text/steps/word_splitter.h"
#include "fovea/text/train/train_tokenizer.h"

namespace fovea {
namespace {

postprocessor::Template ends_with_stop() {
    using Part = postprocessor::TemplatePiece;
    postprocessor::Template t;
    t.single = {{Part::Kind::sequence_a, "", 0}, {Part::Kind::special, "</s>", 0}};
    t.pair = {{Part::Kind::sequence_a, "", 0},
              {Part::Kind::sequence_b, "", 0},
              {Part::Kind::special, "</s>", 0}};
    t.special_tokens = {{"</s>", {1}, {"</s>"}}};
    return t;
}

TokenizerSpec vocabulary_frame(const VocabularyOptions& o) {
    TokenizerSpec s;
    s.added_tokens = special_tokens({"<pad>", "</s>", "<unk>"});
    s.special_tokens.eos = "</s>";
    s.special_tokens.unk = "<unk>";
    s.special_tokens.pad = "<pad>";
    s.normalizer.push_back(normalizer::Nfc{});
    if (o.lowercase) s.normalizer.push_back(normalizer::Lowercase{});
    s.post_processor.push_back(ends_with_stop());
    if (!o.frame.empty()) {
        const TokenizerTraining model = training_like(o.frame);
        s.added_tokens = model.special_tokens;
        s.special_tokens = model.pipeline.special_tokens;
        s.post_processor = model.pipeline.post_processor;
    }
    switch (o.kind) {
        case VocabularyKind::bpe:
            s.pre_tokenizer.push_back(pretokenizer::ByteLevel{.add_prefix_space = true});
            s.decoder = {decoder::ByteLevel{}};
            break;
        case VocabularyKind::unigram:
        case VocabularyKind::characters:
            s.pre_tokenizer.push_back(pretokenizer::Metaspace{});
            s.decoder = {decoder::Metaspace{}};
            break;
        case VocabularyKind::words:
            s.pre_tokenizer.push_back(pretokenizer::Whitespace{});
            break;
    }
    return s;
}

TokenizerTraining vocabulary_training(const TokenizerSpec& pipeline, const VocabularyOptions& o) {
    TokenizerTraining t;
    t.pipeline = pipeline;
    t.special_tokens = pipeline.added_tokens;
    t.vocab_size = o.size;
    t.unk_token = o.frame.empty() ? "<unk>" : training_like(o.frame).unk_token;
    t.progress = o.progress;
    switch (o.kind) {
        case VocabularyKind::bpe:
            t.model = TrainedModel::bpe;
            t.unk_token.clear();
            t.min_frequency = o.min_frequency > 0 ? o.min_frequency : 2;
            t.vocab_size = std::max<std::int64_t>(
                o.size, 256 + static_cast<std::int64_t>(t.special_tokens.size()));
            t.initial_alphabet = text::byte_alphabet();
            break;
        case VocabularyKind::characters:
            t.model = TrainedModel::bpe;
            t.min_frequency = std::int64_t{1} << 60;  // no pair is merged: the alphabet alone
            break;
        case VocabularyKind::unigram:
            t.model = TrainedModel::unigram;
            break;
        case VocabularyKind::words:
            t.model = TrainedModel::word;
            t.min_frequency = o.min_frequency;
            break;
    }
    return t;
}

}  // namespace

VocabularyKind vocabulary_kind_of(const std::string& name) {
    if (name == "bpe") return VocabularyKind::bpe;
    if (name == "unigram") return VocabularyKind::unigram;
    if (name == "words" || name == "word") return VocabularyKind::words;
    if (name == "characters" || name == "chars") return VocabularyKind::characters;
    fail_with(ErrorKind::usage, "one of bpe, unigram, words, characters", "no vocabulary kind \"",
              name, "\"");
}

Tokenizer train_vocabulary(std::span<const std::string> texts, const VocabularyOptions& options) {
    const TokenizerSpec spec = vocabulary_frame(options);
    const WordSplitter splitter(spec);
    WordCounts words;
    for (const std::string& text : texts)
        splitter.split(text, [&](std::string_view word) { words.add(word); });
    expect_input(words.size() > 0, "vocabulary: the texts hold no word");
    return Tokenizer(train_tokenizer(words, vocabulary_training(spec, options)));
}

}  // namespace fovea
