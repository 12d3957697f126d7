#include "fovea/infer/rnn_stepper.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "fovea/infer/attention_maps.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {
namespace {

RnnDecoderState rows_of_state(const RnnDecoderState& state, const Ids& rows) {
    RnnDecoderState chosen;
    for (const Tensor& layer : state.layers) chosen.layers.push_back(gather_rows(layer, rows));
    if (!state.fed.empty()) chosen.fed = gather_rows(state.fed, rows);
    return chosen;
}

RnnDecoderState one_after_the_other(const RnnDecoderState& a, const RnnDecoderState& b) {
    RnnDecoderState both;
    for (std::size_t i = 0; i < a.layers.size(); ++i)
        both.layers.push_back(concat_rows({a.layers[i], b.layers[i]}));
    if (!a.fed.empty()) both.fed = concat_rows({a.fed, b.fed});
    return both;
}

Ids ids_of(std::span<const std::int64_t> rows) { return Ids(rows.begin(), rows.end()); }

}  // namespace

RnnStepper::RnnStepper(const RnnSeq2Seq& model, const Ids& source, const Segments& segments,
                       StepResult result)
    : model_(model), result_(result), memory_(model.encode(source, segments)) {
    states_ = model.decoder.start(memory_.start);
    sources_.resize(static_cast<std::size_t>(segments.count()));
    std::iota(sources_.begin(), sources_.end(), 0);
    steps_.assign(sources_.size(), 0);
}

// Prompts may differ in length: those that have a token at a place take the step together.
Tensor RnnStepper::start(std::span<const Ids> prompts) {
    expect(prompts.size() == sources_.size(), "decode: ", prompts.size(), " prompts for ",
           sources_.size(), " sources");
    const PrecisionScope scope(precision_);
    std::size_t longest = 0;
    for (const Ids& p : prompts) longest = std::max(longest, p.size());
    const std::vector<std::int64_t> every = sources_;
    RnnDecoderState now = states_;
    std::vector<Tensor> logits;
    std::vector<std::vector<float>> weights(prompts.size());
    Ids place(prompts.size());  // of each prompt's last logits
    std::int64_t written = 0;
    for (std::size_t t = 0; t < longest; ++t) {
        std::vector<std::int64_t> alive;
        Ids tokens, merged(prompts.size());
        std::iota(merged.begin(), merged.end(), 0);
        for (std::size_t s = 0; s < prompts.size(); ++s)
            if (t < prompts[s].size()) {
                merged[s] = static_cast<std::int32_t>(prompts.size() + alive.size());
                place[s] =
                    static_cast<std::int32_t>(written + static_cast<std::int64_t>(alive.size()));
                alive.push_back(static_cast<std::int64_t>(s));
                tokens.push_back(prompts[s][t]);
            }
        states_ = now;
        sources_ = every;
        steps_.assign(prompts.size(), static_cast<std::int64_t>(t));
        logits.push_back(advance(tokens, alive));
        written += static_cast<std::int64_t>(alive.size());
        if (keeps_weights_)
            for (std::size_t i = 0; i < alive.size(); ++i)
                weights[static_cast<std::size_t>(alive[i])] = weights_[i];
        now = rows_of_state(one_after_the_other(now, states_), merged);
    }
    states_ = now;
    sources_ = every;
    steps_.clear();
    for (const Ids& p : prompts) steps_.push_back(static_cast<std::int64_t>(p.size()));
    weights_ = std::move(weights);
    return gather_rows(concat_rows(logits), place);
}

Tensor RnnStepper::step(const Ids& tokens, std::span<const std::int64_t> parents) {
    expect(tokens.size() == parents.size(), "decode: ", tokens.size(), " tokens for ",
           parents.size(), " hypotheses");
    const PrecisionScope scope(precision_);
    return advance(tokens, parents);
}

Tensor RnnStepper::advance(const Ids& tokens, std::span<const std::int64_t> rows) {
    std::vector<std::int64_t> sources, steps;
    for (const std::int64_t r : rows) {
        sources.push_back(sources_[static_cast<std::size_t>(r)]);
        steps.push_back(steps_[static_cast<std::size_t>(r)]);
    }
    states_ = rows_of_state(states_, ids_of(rows));
    std::optional<Probe> probe;
    if (keeps_weights_) probe.emplace();
    const Tensor out = model_.step(tokens, AskingRows::one_each(sources, steps), memory_, states_);
    if (probe) weights_ = mean_map(*probe, probe->find(model_.decoder.attention->name()));
    sources_ = std::move(sources);
    steps_.clear();
    for (const std::int64_t s : steps) steps_.push_back(s + 1);
    return result_ == StepResult::rows ? out : model_.logits(out);
}

std::span<const float> RnnStepper::weights(std::int64_t row) const {
    return std::span(weights_[static_cast<std::size_t>(row)])
        .first(static_cast<std::size_t>(
            memory_.source.segments.length(sources_[static_cast<std::size_t>(row)])));
}

}  // namespace fovea
