#include "fovea/infer/search_options.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr LengthPenalty kinds[] = {LengthPenalty::none,     LengthPenalty::marian,
                                   LengthPenalty::fairseq,  LengthPenalty::hf,
                                   LengthPenalty::onmt_avg, LengthPenalty::onmt_wu};

}  // namespace

const char* name_of(LengthPenalty p) {
    switch (p) {
        case LengthPenalty::none:
            return "none";
        case LengthPenalty::marian:
            return "marian";
        case LengthPenalty::fairseq:
            return "fairseq";
        case LengthPenalty::hf:
            return "hf";
        case LengthPenalty::onmt_avg:
            return "onmt-avg";
        case LengthPenalty::onmt_wu:
            return "onmt-wu";
    }
    return "?";
}

LengthPenalty length_penalty_of(const std::string& name) {
    if (name == "onmt") return LengthPenalty::onmt_wu;
    for (const LengthPenalty k : kinds)
        if (name == name_of(k)) return k;
    fail_with(ErrorKind::usage, "one of none, marian, fairseq, hf, onmt-avg, onmt-wu",
              "no length penalty \"", name, "\"");
}

double ranked_score(double sum, std::int64_t length, LengthPenalty kind, double strength,
                    double word_penalty) {
    const auto n = static_cast<double>(std::max<std::int64_t>(length, 1));
    switch (kind) {
        case LengthPenalty::none:
            return sum;
        case LengthPenalty::marian:
            return sum / std::pow(n, strength) - word_penalty * n;
        case LengthPenalty::fairseq:
        case LengthPenalty::hf:
        case LengthPenalty::onmt_avg:
            return sum / std::pow(n, strength);
        case LengthPenalty::onmt_wu:
            return sum / std::pow((5.0 + n) / 6.0, strength);
    }
    return sum;
}

double coverage_bonus(const std::vector<double>& coverage, double beta) {
    double sum = 0;
    for (const double c : coverage) sum += std::log(std::max(1e-9, std::min(c, 1.0)));
    return beta * sum;
}

void SearchOptions::check() const {
    const auto want = [](bool ok, const char* flag, const char* range) {
        if (!ok)
            fail_with(ErrorKind::usage, text_of(flag, " takes ", range), "bad value for ", flag);
    };
    want(beam >= 1 && beam <= 512, "--beam", "a number from 1 to 512");
    want(n_best >= 1 && (sample ? n_best <= 512 : n_best <= beam), "--n-best",
         "a number from 1 to the beam");
    want(max_length >= 1 && max_length <= 1 << 20, "--max-length", "a positive number");
    want(max_length_factor > 0, "--max-length-factor", "a positive number");
    want(min_length >= 0, "--min-length", "a number from 0");
    want(fixed_lag >= 0, "--fixed-lag", "a number from 0 (off)");
    if (fixed_lag > 0 && (sample || beam == 1))
        fail_with(ErrorKind::usage, "leave it out, or search with --beam 2 or more",
                  "--fixed-lag has no effect with ", sample ? "--sample" : "--beam 1",
                  ": every token is certain at once");
    want(temperature > 0, "--temperature", "a positive number");
    want(top_k >= 0, "--top-k", "a number from 0 (off)");
    want(top_p > 0 && top_p <= 1, "--top-p", "a number above 0 and at most 1");
    want(min_p >= 0 && min_p <= 1, "--min-p", "a number from 0 (off) to 1");
    want(repetition_penalty > 0, "--repetition-penalty", "a positive number (1 is off)");
    want(no_repeat_ngram >= 0, "--no-repeat-ngram", "a number from 0 (off)");
}

}  // namespace fovea
