#pragma once
// How well a language model foretells a text: perplexity, and bits per byte, by which models of
// different vocabularies compare. Thread-safety: pure functions, safe from any thread.
#include <cstdint>

#include "fovea/metrics/score.h"

namespace fovea {

struct ForetoldText {
    double nats = 0;           // Σ -ln p(token | what the window shows before it)
    std::int64_t scored = 0;   // tokens in that sum (the first of a text has nothing before it)
    std::int64_t tokens = 0;   // of the text
    std::int64_t bytes = 0;    // of the text
    std::int64_t context = 0;  // tokens of a window
    std::int64_t stride = 0;   // tokens a window moves on
};

// perplexity = exp(nats / scored); bits per byte = nats / (scored ln 2) · tokens / bytes: the mean
// per token, spread over the bytes. Nothing scored: an error.
MetricScore perplexity_score(const ForetoldText& text);

}  // namespace fovea
