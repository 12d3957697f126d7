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
    if (model == "linear") return 0.5;
    return begins_small(model) ? 3e-4 : is_deep(model) ? 1e-3 : 3e-3;
}

// A text has about four runs a character, most of them seen before; of short texts in many
// languages more than one a byte was new.
std::int64_t runs_of(const TextCounts& counts) {
    return std::clamp<std::int64_t>(2 * counts.bytes, 1 << 15, 1 << 20);
}

// Rows of the table of `linear`: at most 128 MB.
std::int64_t linear_buckets(const TextCounts& counts) {
    constexpr std::int64_t most = 1 << 25;
    return std::min(runs_of(counts), most / std::max<std::int64_t>(1, counts.labels));
}

}  // namespace

// Runs that share a row speak with one voice: few of them may.
bool linear_fits(const TextCounts& counts) { return 4 * linear_buckets(counts) >= runs_of(counts); }

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
    const bool reads_runs = model == "bag" || model == "linear";
    d.vocabulary = single_words || reads_runs ? "characters" : "bpe";
    if (d.vocabulary == "characters") d.vocabulary_size = 16000;  // all, of any script
    if (reads_runs) d.max_length = 1 << 14;  // characters: reading them costs next to nothing
    d.buckets = 1 << 14;
    while (d.buckets < 1 << 18 && d.buckets < counts.words / 2) d.buckets *= 2;
    d.rate = first_rate(model);
    d.dropout = is_deep(model) || counts.texts >= 50000 ? 0.1f : 0.3f;
    if (model == "linear") {
        d.buckets = static_cast<int>(linear_buckets(counts));
        // Plain gradient steps (AdamW with a large eps and without momentum): they end near the
        // smallest weights that fit, where Adam makes much of what it saw once. In a prototype,
        // shares of dev sets told by Adam with smoothing 0.1 and by them: speakers of Shakespeare's
        // lines 30.8 and 34.4, CLINC150 with ten texts an intent 80.1 and 82.3, 1,000 film
        // reviews 69.2 and 70.2.
        d.beta1 = 0;
        d.eps = 1;
        d.smoothing = 0;
        // Few texts of many labels are slow to learn: languages of 2,000 names still gain then.
        const std::int64_t enough = std::clamp<std::int64_t>(60000 / counts.texts, 15, 30);
        d.epochs = std::min(d.epochs, enough);
        d.batch = std::min<std::int64_t>(d.batch, 32);
        d.rate *= static_cast<double>(d.batch);  // 0.5 a text
    }
    return d;
}

}  // namespace fovea
