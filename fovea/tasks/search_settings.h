#pragma once
// How a model that writes texts searches for them, as settings: what is not given stays as the
// model's own default.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <optional>
#include <string>

#include "fovea/base/settings.h"
#include "fovea/infer/search_options.h"

namespace fovea {

struct SearchSettings {
    std::optional<int> beam, n_best, max_length, min_length, fixed_lag, top_k, no_repeat_ngram;
    std::optional<double> max_length_factor, length_alpha, word_penalty, coverage_penalty,
        temperature, top_p, min_p, repetition_penalty;
    std::string length_penalty;  // "": the model's
    bool sample = false, no_early_stop = false;
    std::uint64_t seed = 1;

    // `about_run`: the settings of a training run, where they become the new model's defaults.
    void describe(Settings& settings, bool about_run);
    // For language models, which go on with a prompt: --max-tokens, --samples, and no source.
    void describe_generation(Settings& settings);
    // The model's defaults with these over them. Wrong values, and values without effect (a
    // temperature without --sample), are usage errors.
    SearchOptions over(SearchOptions defaults) const;

private:
    void describe_scores(Settings& settings, bool about_run);
    void describe_draws(Settings& settings, bool about_run);
};

// How answers were found, for a report: beam, length, penalty, …
Json json_of(const SearchOptions& search);

}  // namespace fovea
