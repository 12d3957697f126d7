#include "fovea/tasks/vocabulary_choice.h"

#include "fovea/base/error.h"
#include "fovea/text/train/vocabulary_recipe.h"

namespace fovea {

void VocabularyChoice::describe(Settings& s) {
    s.add("vocab", kind, "kind of vocabulary to train",
          {.group = "vocabulary", .choices = {"bpe", "unigram", "words", "characters"}});
    s.add("vocab-size", size, "tokens of the vocabulary", {.group = "vocabulary", .min = 4});
    s.add("min-frequency", min_frequency,
          "words and merged pairs seen less often are left out; 0: by the kind (bpe 2, words 1)",
          {.group = "vocabulary", .min = 0});
    s.add("lowercase", lowercase, "a vocabulary of lower-cased text", {.group = "vocabulary"});
    s.add("tokenizer", file, "a tokenizer to use instead",
          {.group = "vocabulary", .is_path = true});
}

std::shared_ptr<const Tokenizer> VocabularyChoice::make(
    std::span<const std::string> texts, const std::function<void(const std::string&)>& say) const {
    if (!file.empty()) return std::make_shared<const Tokenizer>(Tokenizer::load(file));
    auto made =
        std::make_shared<const Tokenizer>(train_vocabulary(texts, {.kind = vocabulary_kind_of(kind),
                                                                   .size = size,
                                                                   .lowercase = lowercase,
                                                                   .min_frequency = min_frequency,
                                                                   .frame = frame}));
    say(text_of("vocabulary: ", made->vocab_size(), " tokens (", kind, ")"));
    return made;
}

}  // namespace fovea
