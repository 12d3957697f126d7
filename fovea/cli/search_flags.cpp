#include "fovea/cli/search_flags.h"

#include "fovea/base/error.h"
#include "fovea/cli/help.h"
#include "fovea/cli/options.h"

namespace fovea {

void SearchFlags::add_to(CLI::App& verb) {
    verb_ = &verb;
    verb.add_option("--beam", given_.beam, "hypotheses kept at each step; 1 is greedy");
    verb.add_option("--n-best", given_.n_best, "results for each text")->group(more_group);
    verb.add_option("--max-length", given_.max_length, "tokens produced at most");
    verb.add_option("--max-length-factor", given_.max_length_factor,
                    "and at most this times the source's, plus 10")
        ->group(more_group);
    verb.add_option("--min-length", given_.min_length, "tokens produced at least")
        ->group(more_group);
    verb.add_option("--length-penalty", penalty_, "formula that ranks results of different lengths")
        ->check(CLI::IsMember({"none", "marian", "fairseq", "hf", "onmt-avg", "onmt-wu"}))
        ->group(more_group);
    verb.add_option("--length-alpha", given_.penalty_strength, "its strength")->group(more_group);
    verb.add_option("--word-penalty", given_.word_penalty,
                    "taken from the score per token (marian)")
        ->group(more_group);
    verb.add_option("--coverage-penalty", given_.coverage_penalty,
                    "strength of the coverage penalty (Wu et al. 2016)")
        ->group(more_group);
    verb.add_flag("--sample", given_.sample, "draw tokens instead of searching");
    verb.add_option("--temperature", given_.temperature, "of sampling")->group(more_group);
    verb.add_option("--top-k", given_.top_k, "sample among the k best; 0: all")->group(more_group);
    verb.add_option("--top-p", given_.top_p, "sample among the best of this mass")
        ->group(more_group);
    verb.add_option("--repetition-penalty", given_.repetition_penalty, "above 1: repeat less")
        ->group(more_group);
    verb.add_option("--no-repeat-ngram", given_.no_repeat_ngram,
                    "no n-gram of this size twice; 0: off")
        ->group(more_group);
    verb.add_flag(
            "--no-early-stop", [this](std::int64_t) { given_.early_stop = false; },
            "search on until no live hypothesis can win")
        ->group(more_group);
}

SearchOptions SearchFlags::over(SearchOptions s) const {
    const auto has = [this](const char* flag) { return verb_->get_option(flag)->count() > 0; };
    for (const char* flag : {"--temperature", "--top-k", "--top-p"})
        if (has(flag) && !given_.sample)
            fail_with(ErrorKind::usage, "add --sample, or leave it out", flag,
                      " has no effect without --sample");
    if (has("--beam")) s.beam = given_.beam;
    if (has("--n-best")) s.n_best = given_.n_best;
    if (has("--max-length")) s.max_length = given_.max_length;
    if (has("--max-length-factor")) s.max_length_factor = given_.max_length_factor;
    if (has("--min-length")) s.min_length = given_.min_length;
    if (has("--length-penalty")) s.penalty = length_penalty_of(penalty_);
    if (has("--length-alpha")) s.penalty_strength = given_.penalty_strength;
    if (has("--word-penalty")) s.word_penalty = given_.word_penalty;
    if (has("--coverage-penalty")) s.coverage_penalty = given_.coverage_penalty;
    if (has("--temperature")) s.temperature = given_.temperature;
    if (has("--top-k")) s.top_k = given_.top_k;
    if (has("--top-p")) s.top_p = given_.top_p;
    if (has("--repetition-penalty")) s.repetition_penalty = given_.repetition_penalty;
    if (has("--no-repeat-ngram")) s.no_repeat_ngram = given_.no_repeat_ngram;
    s.sample = given_.sample;
    s.early_stop = given_.early_stop;
    s.seed = global_options().seed;
    if (!has("--n-best")) s.n_best = 1;
    s.check();
    return s;
}

}  // namespace fovea
