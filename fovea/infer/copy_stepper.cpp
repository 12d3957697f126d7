#include "fovea/infer/copy_stepper.h"

#include <algorithm>
#include <numeric>

namespace fovea {

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

Tensor CopyStepper::probabilities(const Tensor& rows) const {
    const PrecisionScope scope(precision_);
    const CopySources from{Segments::uniform(rows.rows(), 1), sources_, parts_.segments,
                           parts_.copies};
    return copy_log_probs((*parts_.head)(rows, keys_, from, parts_.logits(rows)), columns_);
}

Tensor CopyStepper::start(std::span<const Ids> prompts) {
    std::vector<Ids> known;
    for (const Ids& prompt : prompts) known.push_back(fed(prompt));
    return probabilities(rows_->start(known));
}

Tensor CopyStepper::step(const Ids& tokens, std::span<const std::int64_t> parents) {
    std::vector<std::int64_t> sources;
    for (const std::int64_t p : parents) sources.push_back(sources_[static_cast<std::size_t>(p)]);
    sources_ = std::move(sources);
    return probabilities(rows_->step(fed(tokens), parents));
}

}  // namespace fovea
