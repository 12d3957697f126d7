#include "fovea/infer/copy_stepper.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {
namespace {

// What each row's parent has looked at so far.
Coverage of_parents(const Coverage& coverage, std::span<const std::int64_t> parents) {
    Ids places;
    std::vector<std::int64_t> lengths;
    for (const std::int64_t p : parents) {
        lengths.push_back(coverage.rows.length(p));
        for (std::int64_t j = coverage.rows.begin(p); j < coverage.rows.end(p); ++j)
            places.push_back(static_cast<std::int32_t>(j));
    }
    return {gather_rows(coverage.weights, places), Segments::of_lengths(lengths)};
}

}  // namespace

CopyStepper::CopyStepper(std::unique_ptr<Stepper> rows, CopyStepping parts)
    : rows_(std::move(rows)),
      parts_(std::move(parts)),
      keys_(parts_.head->keys(parts_.memory)),
      columns_(parts_.vocabulary) {
    for (const std::int32_t id : parts_.copies)
        columns_ = std::max<std::int64_t>(columns_, std::int64_t{id} + 1);
    sources_.resize(static_cast<std::size_t>(parts_.segments.count()));
    std::iota(sources_.begin(), sources_.end(), 0);
}

Ids CopyStepper::fed(const Ids& tokens) const {
    Ids known = tokens;
    for (std::int32_t& id : known)
        if (id >= parts_.vocabulary) id = parts_.unknown;
    return known;
}

Tensor CopyStepper::probabilities(const Tensor& rows) {
    const PrecisionScope scope(precision_);
    const CopySources from{Segments::uniform(rows.rows(), 1), sources_, parts_.segments,
                           parts_.copies};
    const Tensor written = parts_.logits(rows);
    if (!parts_.head->coverage_vector.empty())
        return copy_log_probs(parts_.head->step(rows, keys_, from, written, coverage_), columns_);
    return copy_log_probs((*parts_.head)(rows, keys_, from, written), columns_);
}

Tensor CopyStepper::start(std::span<const Ids> prompts) {
    std::vector<Ids> known;
    for (const Ids& prompt : prompts) known.push_back(fed(prompt));
    if (!parts_.head->coverage_vector.empty()) {
        for (const Ids& prompt : prompts)
            if (prompt.size() != 1)
                fail_with(ErrorKind::usage, "leave the beginning to the model",
                          "decode: a model with coverage looks at its source at every step, but "
                          "was given ",
                          prompt.size(), " tokens to begin with");
        coverage_ = Coverage::none({Segments(), sources_, parts_.segments, parts_.copies});
    }
    return probabilities(rows_->start(known));
}

Tensor CopyStepper::step(const Ids& tokens, std::span<const std::int64_t> parents) {
    std::vector<std::int64_t> sources;
    for (const std::int64_t p : parents) sources.push_back(sources_[static_cast<std::size_t>(p)]);
    sources_ = std::move(sources);
    if (!parts_.head->coverage_vector.empty()) coverage_ = of_parents(coverage_, parents);
    return probabilities(rows_->step(fed(tokens), parents));
}

}  // namespace fovea
