#pragma once
// Scores that are a count over a count: accuracy, exact match, perplexity.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/error.h"

namespace fovea {

// Share of equal labels, 0 … 1.
template <class Label>
double accuracy(std::span<const Label> predicted, std::span<const Label> wanted) {
    expect_input(predicted.size() == wanted.size(), "accuracy: ", predicted.size(),
                 " predictions but ", wanted.size(), " labels");
    expect_input(!wanted.empty(), "accuracy: there is nothing to score");
    std::int64_t right = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) right += predicted[i] == wanted[i];
    return static_cast<double>(right) / static_cast<double>(wanted.size());
}

// Whether a prediction is, byte for byte, one of its references. No normalisation.
bool is_exact_match(const std::string& prediction, const std::vector<std::string>& references);
// The share of predictions that are, 0 … 1.
double exact_match(std::span<const std::string> predictions,
                   std::span<const std::vector<std::string>> references);

// exp of the mean negative log-likelihood per token. State the token unit, the stride and the
// context beside it: perplexities of different vocabularies cannot be compared.
class Perplexity {
public:
    void add(double negative_log_likelihood, std::int64_t tokens) {
        expect(tokens >= 0, "perplexity: ", tokens, " tokens");
        sum_ += negative_log_likelihood;
        tokens_ += tokens;
    }
    std::int64_t tokens() const { return tokens_; }
    double mean_loss() const {  // nats per token
        expect_input(tokens_ > 0, "perplexity: there are no tokens to score");
        return sum_ / static_cast<double>(tokens_);
    }
    double value() const { return std::exp(mean_loss()); }
    double bits_per(std::int64_t units) const {  // per byte, character or word
        expect_input(units > 0, "perplexity: bits per unit, but there are ", units, " units");
        return sum_ / (0.6931471805599453 * static_cast<double>(units));
    }

private:
    double sum_ = 0;
    std::int64_t tokens_ = 0;
};

}  // namespace fovea
