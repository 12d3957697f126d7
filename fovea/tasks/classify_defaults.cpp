#include "fovea/tasks/classify_defaults.h"

#include <algorithm>

namespace fovea {

TextCounts TextCounts::of(std::span<const std::string> texts) {
    TextCounts c;
    c.texts = static_cast<std::int64_t>(texts.size());
    for (const std::string& text : texts) {
        c.bytes += static_cast<std::int64_t>(text.size());
        bool inside = false;
        for (const char byte : text) {
            const bool space = byte == ' ' || byte == '\t' || byte == '\n';
            c.words += !space && !inside;
            inside = !space;
        }
    }
    return c;
}

std::int64_t fitting_batch(std::int64_t texts) {
    std::int64_t batch = 16;
    while (batch < 128 && batch * 200 < texts) batch *= 2;  // 200 updates an epoch and more
    return batch;
}

std::int64_t fitting_epochs(std::int64_t texts) {
    return std::clamp<std::int64_t>(300000 / std::max<std::int64_t>(1, texts), 4, 30);
}

std::int64_t fitting_epochs(const TextCounts& counts) {
    constexpr std::int64_t words_to_read = 20'000'000;
    const std::int64_t by_words = words_to_read / std::max<std::int64_t>(1, counts.words);
    return std::min(fitting_epochs(counts.texts), std::max<std::int64_t>(by_words, 4));
}

namespace {

// The published models that normalise behind each layer and begin with small weights.
bool begins_small(const std::string& model) {
    return model == "bert" || model == "roberta" || model == "xlnet";
}

bool is_deep(const std::string& model) {
    return model == "transformer" || model == "gpt2" || begins_small(model);
}

// CLINC150 with ten texts an intent, a new BERT of 4 layers and 256 columns: with 1e-3 it stays at
// the loss of guessing (20 epochs, 0.8 % of the test set right), with 3e-4 it learns
// (docs/results.md).
double first_rate(const std::string& model) {
    if (model == "bag") return 2e-2;
    return begins_small(model) ? 3e-4 : is_deep(model) ? 1e-3 : 3e-3;
}

}  // namespace

std::int64_t fitting_tokens(const std::string& model, std::int64_t batch,
                            std::int64_t mean_length) {
    return std::clamp<std::int64_t>(2 * batch * mean_length, 4096, is_deep(model) ? 8192 : 65536);
}

ClassifyDefaults classify_defaults(const std::string& model, const TextCounts& counts) {
    ClassifyDefaults d;
    d.epochs = fitting_epochs(counts);
    d.batch = fitting_batch(counts.texts);
    // Few texts: a word is better known than its capital letter.
    d.lowercase = counts.texts < 200000;
    // Enough of each token: one for about thirty words of running text.
    d.vocabulary_size = std::clamp<std::int64_t>(counts.words / 30, 500, 16000);
    const bool single_words = counts.words < counts.texts * 6 / 5;  // names, sequences of letters
    d.vocabulary = single_words || model == "bag" ? "characters" : "bpe";
    if (model == "bag") d.max_length = 1 << 14;  // characters: reading them costs next to nothing
    d.buckets = 1 << 14;
    while (d.buckets < 1 << 18 && d.buckets < counts.words / 2) d.buckets *= 2;
    d.rate = first_rate(model);
    d.dropout = is_deep(model) || counts.texts >= 50000 ? 0.1f : 0.3f;
    return d;
}

}  // namespace fovea
