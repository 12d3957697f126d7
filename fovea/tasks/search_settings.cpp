#include "fovea/tasks/search_settings.h"

#include "fovea/base/error.h"

namespace fovea {

namespace {

SettingOptions search_setting(bool about_run, double min, double max = 1e9) {
    return SettingOptions{.group = "search",
                          .min = min,
                          .max = max,
                          .otherwise = "the model's",
                          .about_run = about_run};
}

SettingOptions common_search_setting(bool about_run, double min, double max = 1e9) {
    SettingOptions options = search_setting(about_run, min, max);
    options.common = !about_run;
    return options;
}

}  // namespace

void SearchSettings::describe(Settings& s, bool about_run) {
    s.add("beam", beam, "hypotheses kept at each step; 1 is greedy",
          common_search_setting(about_run, 1, 512));
    s.add("n-best", n_best, "results for each text", search_setting(about_run, 1, 512));
    s.add("max-length", max_length, "tokens produced at most", common_search_setting(about_run, 1));
    s.add("max-length-factor", max_length_factor, "and at most this times the source's, plus 10",
          search_setting(about_run, 1e-3, 1e6));
    s.add("min-length", min_length, "tokens produced at least", search_setting(about_run, 0));
    describe_scores(s, about_run);
    if (!about_run)  // of a training run it is how it trains: the search while training is greedy
        s.add("fixed-lag", fixed_lag,
              "beam search: a token is certain once so many follow it; 0: off",
              search_setting(about_run, 0, 1 << 20));
    s.add("coverage-penalty", coverage_penalty, "strength of the coverage penalty (Wu et al. 2016)",
          search_setting(about_run, 0, 100));
    describe_draws(s, about_run);
}

void SearchSettings::describe_generation(Settings& s) {
    s.add("max-tokens", max_length, "tokens produced at most",
          common_search_setting(false, 1, 1 << 20));
    s.add("min-tokens", min_length, "tokens produced at least", search_setting(false, 0, 1 << 20));
    s.add("samples", n_best, "texts for each prompt", common_search_setting(false, 1, 512));
    s.add("beam", beam, "hypotheses kept at each step; 1 is greedy",
          common_search_setting(false, 1, 512));
    describe_scores(s, false);
    describe_draws(s, false);
}

void SearchSettings::describe_scores(Settings& s, bool about_run) {
    SettingOptions formula = search_setting(about_run, 0);
    formula.choices = {"none", "marian", "fairseq", "hf", "onmt-avg", "onmt-wu"};
    formula.hint = "its strength is --length-alpha";
    s.add("length-penalty", length_penalty, "formula that ranks results of different lengths",
          formula);
    s.add("length-alpha", length_alpha, "its strength", search_setting(about_run, -100, 100));
    s.add("word-penalty", word_penalty, "taken from the score per token (marian)",
          search_setting(about_run, -100, 100));
}

void SearchSettings::describe_draws(Settings& s, bool about_run) {
    SettingOptions plain{.group = "search", .common = !about_run, .about_run = about_run};
    s.add("sample", sample, "draw tokens instead of searching", plain);
    s.add("temperature", temperature, "of sampling", search_setting(about_run, 1e-6, 1e6));
    s.add("top-k", top_k, "sample among the k best; 0: all", search_setting(about_run, 0));
    s.add("top-p", top_p, "sample among the best of this mass", search_setting(about_run, 1e-9, 1));
    s.add("min-p", min_p, "sample among those at least this times as probable as the best",
          search_setting(about_run, 0, 1));
    s.add("repetition-penalty", repetition_penalty, "above 1: repeat less",
          search_setting(about_run, 1e-6, 100));
    s.add("no-repeat-ngram", no_repeat_ngram, "no n-gram of this size twice; 0: off",
          search_setting(about_run, 0, 1000));
    plain.common = false;
    s.add("no-early-stop", no_early_stop, "search on until no live hypothesis can win", plain);
    if (!about_run)
        s.add("seed", seed, "start of random draws", {.group = "search", .hidden = true});
}

SearchOptions SearchSettings::over(SearchOptions s) const {
    if (!sample)
        for (const auto& [name, given] : {std::pair{"temperature", temperature.has_value()},
                                          {"top-k", top_k.has_value()},
                                          {"top-p", top_p.has_value()},
                                          {"min-p", min_p.has_value()}})
            if (given)
                throw Error(text_of("--", name, " has no effect without --sample"),
                            ErrorKind::usage, text_of("add --sample, or leave out --", name));
    s.beam = beam.value_or(s.beam);
    s.n_best = n_best.value_or(1);
    s.max_length = max_length.value_or(s.max_length);
    s.max_length_factor = max_length_factor.value_or(s.max_length_factor);
    s.min_length = min_length.value_or(s.min_length);
    if (!length_penalty.empty()) s.penalty = length_penalty_of(length_penalty);
    s.penalty_strength = length_alpha.value_or(s.penalty_strength);
    s.word_penalty = word_penalty.value_or(s.word_penalty);
    s.fixed_lag = fixed_lag.value_or(s.fixed_lag);
    s.coverage_penalty = coverage_penalty.value_or(s.coverage_penalty);
    s.temperature = temperature.value_or(s.temperature);
    s.top_k = top_k.value_or(s.top_k);
    s.top_p = top_p.value_or(s.top_p);
    s.min_p = min_p.value_or(s.min_p);
    s.repetition_penalty = repetition_penalty.value_or(s.repetition_penalty);
    s.no_repeat_ngram = no_repeat_ngram.value_or(s.no_repeat_ngram);
    s.sample = sample;
    s.early_stop = !no_early_stop;
    s.seed = seed;
    s.check();
    return s;
}

Json json_of(const SearchOptions& s) {
    Json j;
    if (s.sample) {
        j["sample"] = true;
        j["temperature"] = s.temperature;
        j["seed"] = s.seed;
    } else {
        j["beam"] = s.beam;
        if (s.fixed_lag > 0) j["fixed_lag"] = s.fixed_lag;
    }
    j["max_length"] = s.max_length;
    j["length_penalty"] = name_of(s.penalty);
    j["length_alpha"] = s.penalty_strength;
    return j;
}

}  // namespace fovea
