#include "fovea/models/pointer.h"

#include <cmath>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/attention/probe.h"
#include "fovea/ops/loss/coverage.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/softmax.h"

namespace fovea {

CopyMode copy_mode_of(const std::string& name) {
    for (const CopyMode mode : {CopyMode::none, CopyMode::mixed, CopyMode::only})
        if (name == name_of(mode)) return mode;
    fail_with(ErrorKind::usage, "one of none, mixed, only", "--copy: there is no way \"", name,
              "\" to copy");
}

const char* name_of(CopyMode mode) {
    return mode == CopyMode::none ? "none" : mode == CopyMode::mixed ? "mixed" : "only";
}

CopySources CopySources::all(const Segments& targets, const Segments& segments, const Ids& tokens) {
    CopySources from{targets, {}, segments, tokens};
    for (std::int64_t i = 0; i < targets.count(); ++i) from.sources.push_back(i);
    return from;
}

Coverage Coverage::none(const CopySources& from) {
    std::vector<std::int64_t> places;
    for (const std::int64_t s : from.sources) places.push_back(from.segments.length(s));
    Coverage c{Tensor(), Segments::of_lengths(places)};
    c.weights = Tensor::zeros({c.rows.total(), 1});
    return c;
}

PointerHead::PointerHead(CopyMode how, int width, const Params& p, bool covered)
    : mode(how),
      name(p.path()),
      q_proj(width, width, p / "q_proj"),
      k_proj(width, width, p / "k_proj"),
      gate(width, 1, p / "gate"),
      score_vector(
          p.exact("score_vector", {width}, uniform(1.0f / std::sqrt(static_cast<float>(width))))) {
    if (covered) coverage_vector = p.exact("coverage_vector", {width, 1}, zeros());
}

CopyChoice PointerHead::choice_of(const Ragged& scores, const Tensor& rows, const CopySources& from,
                                  const Tensor& written) const {
    CopyChoice choice;
    choice.scores = scores;
    for (std::int64_t i = 0; i < from.rows.count(); ++i) {
        const std::int64_t s = from.sources[static_cast<std::size_t>(i)];
        for (std::int64_t r = 0; r < from.rows.length(i); ++r)
            choice.tokens.insert(choice.tokens.end(), from.tokens.begin() + from.segments.begin(s),
                                 from.tokens.begin() + from.segments.end(s));
    }
    if (mode == CopyMode::mixed) {
        choice.written = log_softmax(written);
        choice.gate = gate(rows);
    }
    return choice;
}

CopyChoice PointerHead::operator()(const Tensor& rows, const Tensor& keys, const CopySources& from,
                                   const Tensor& written) const {
    if (!coverage_vector.empty())
        return choice_of(covered_scores(q_proj(rows), keys, from), rows, from, written);
    std::vector<KeyList> lists;
    for (const std::int64_t s : from.sources)
        lists.push_back({{from.segments.begin(s), from.segments.length(s)}});
    return choice_of(
        pointer_scores(q_proj(rows), keys, everything(from.rows, lists, from.segments.total()),
                       {.score = Additive{score_vector}, .name = name}),
        rows, from, written);
}

CopyChoice PointerHead::step(const Tensor& rows, const Tensor& keys, const CopySources& from,
                             const Tensor& written, Coverage& coverage) const {
    return choice_of(covered_step(q_proj(rows), keys, from, coverage), rows, from, written);
}

// The keys of each row are its own: those of its source, moved by what was looked at.
Ragged PointerHead::covered_step(const Tensor& queries, const Tensor& keys, const CopySources& from,
                                 Coverage& coverage) const {
    Ids places;
    for (const std::int64_t s : from.sources)
        for (std::int64_t j = from.segments.begin(s); j < from.segments.end(s); ++j)
            places.push_back(static_cast<std::int32_t>(j));
    const Tensor moved = gather_rows(keys, places) + linear(coverage.weights, coverage_vector);
    const Ragged scores = pointer_scores(queries, moved, everything(from.rows, coverage.rows),
                                         {.score = Additive{score_vector}, .name = name});
    const Ragged weights = ragged_softmax(scores);
    coverage.weights = coverage.weights + weights.values.reshaped({weights.values.size(), 1});
    return scores;
}

// Step by step over targets that end at different times: those that are alive go on together.
Ragged PointerHead::covered_scores(const Tensor& queries, const Tensor& keys,
                                   const CopySources& from) const {
    const Probe aside;  // every row has keys of its own: there is no one map to look at
    CopySources alive{Segments(), from.sources, from.segments, from.tokens};
    std::vector<std::int64_t> sequences(from.sources.size());
    std::iota(sequences.begin(), sequences.end(), 0);
    Coverage coverage = Coverage::none(from);
    std::vector<Tensor> by_step;
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(from.rows.total()));
    std::vector<std::int64_t> first(lengths.size());  // of each packed row's scores, by step
    std::int64_t written = 0;
    for (std::int64_t t = 0;; ++t) {
        std::vector<std::int64_t> still;
        Ids rows, kept;
        alive.sources.clear();
        std::vector<std::int64_t> places;
        for (std::size_t i = 0; i < sequences.size(); ++i) {
            const std::int64_t sequence = sequences[i];
            if (from.rows.length(sequence) <= t) continue;
            still.push_back(sequence);
            alive.sources.push_back(from.sources[static_cast<std::size_t>(sequence)]);
            const std::int64_t row = from.rows.begin(sequence) + t,
                               n = coverage.rows.length(static_cast<std::int64_t>(i));
            rows.push_back(static_cast<std::int32_t>(row));
            places.push_back(n);
            lengths[static_cast<std::size_t>(row)] = n;
            first[static_cast<std::size_t>(row)] = written;
            written += n;
            for (std::int64_t j = 0; j < n; ++j)
                kept.push_back(static_cast<std::int32_t>(
                    coverage.rows.begin(static_cast<std::int64_t>(i)) + j));
        }
        if (still.empty()) break;
        if (still.size() < sequences.size())
            coverage = {gather_rows(coverage.weights, kept), Segments::of_lengths(places)};
        sequences = std::move(still);
        alive.rows = Segments::uniform(static_cast<std::int64_t>(sequences.size()), 1);
        const Tensor scores =
            covered_step(gather_rows(queries, rows), keys, alive, coverage).values;
        by_step.push_back(scores.reshaped({scores.size(), 1}));
    }
    Ids order;
    for (std::size_t row = 0; row < lengths.size(); ++row)
        for (std::int64_t j = 0; j < lengths[row]; ++j)
            order.push_back(static_cast<std::int32_t>(first[row] + j));
    if (by_step.empty()) return {Tensor({0}), Segments::of_lengths(lengths)};
    const Tensor values = gather_rows(concat_rows(by_step), order);
    return {values.reshaped({values.size()}), Segments::of_lengths(lengths)};
}

}  // namespace fovea
