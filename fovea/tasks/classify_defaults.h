#pragma once
// Defaults of a classifier from scratch, by its model and by how much there is to learn from.
// Thread-safety: pure functions.
#include <cstdint>
#include <span>
#include <string>

namespace fovea {

struct TextCounts {  // of training
    std::int64_t texts = 0, words = 0, bytes = 0;
    std::int64_t labels = 0;  // different ones

    static TextCounts of(std::span<const std::string> texts);
};

struct ClassifyDefaults {
    std::string vocabulary;            // kind
    std::int64_t vocabulary_size = 0;  // tokens
    bool lowercase = false;
    int max_length = 512;  // tokens
    int buckets = 0;       // of a model that shares rows by hash
    float dropout = 0;
    double rate = 0;
    std::int64_t epochs = 0;
    std::int64_t batch = 0;           // texts of an update
    float smoothing = 0.1f;           // of labels
    float beta1 = 0.9f, eps = 1e-9f;  // of AdamW
};

// Whether a say of every run about every label is no table too large.
bool linear_fits(const TextCounts& counts);
ClassifyDefaults classify_defaults(const std::string& model, const TextCounts& counts);

// Texts of an update, and passes over the data, so that there are some thousand updates.
std::int64_t fitting_batch(std::int64_t texts);
std::int64_t fitting_epochs(std::int64_t texts);
std::int64_t fitting_epochs(const TextCounts& counts);  // fewer where texts are long
// Tokens of an update that leave room for its texts; fewer for a network, which keeps more of each.
std::int64_t fitting_tokens(const std::string& model, std::int64_t batch, std::int64_t mean_length);

}  // namespace fovea
