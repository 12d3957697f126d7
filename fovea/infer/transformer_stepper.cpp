#include "fovea/infer/transformer_stepper.h"

#include <cmath>

#include "fovea/infer/attention_maps.h"

namespace fovea {
namespace {

// log of the mean of the models' probabilities, row by row, in double.
Tensor mean_of_probabilities(const std::vector<Tensor>& logits) {
    Tensor y(logits[0].shape());
    float* out = y.write();
    const std::int64_t cols = y.cols();
    for (std::int64_t r = 0; r < y.rows(); ++r) {
        std::vector<double> sum(static_cast<std::size_t>(cols), 0.0);
        for (const Tensor& t : logits) {
            const float* row = t.data() + r * cols;
            const double largest = *std::max_element(row, row + cols);
            double total = 0;
            for (std::int64_t c = 0; c < cols; ++c) total += std::exp(row[c] - largest);
            for (std::int64_t c = 0; c < cols; ++c)
                sum[static_cast<std::size_t>(c)] += std::exp(row[c] - largest) / total;
        }
        for (std::int64_t c = 0; c < cols; ++c)
            out[r * cols + c] = static_cast<float>(
                std::log(sum[static_cast<std::size_t>(c)] / static_cast<double>(logits.size())));
    }
    return y;
}

}  // namespace

TransformerStepper::TransformerStepper(std::vector<const Transformer*> models, const Ids& source,
                                       const Segments& segments)
    : models_(std::move(models)), source_(segments) {
    expect(!models_.empty(), "decode: no model");
    for (const Transformer* m : models_) {
        expect_input(m->config.target_vocab() == models_[0]->config.target_vocab(),
                     "decode: models of an ensemble have ", models_[0]->config.target_vocab(),
                     " and ", m->config.target_vocab(), " target tokens");
        caches_.push_back(m->decoder.start(m->encode(source, segments), segments));
    }
}

Tensor TransformerStepper::step(const Ids& tokens, std::span<const std::int64_t> parents) {
    const auto rows = static_cast<std::int64_t>(tokens.size());
    const std::int64_t base = position_ == 0 ? 0 : caches_[0].self[0].rows();
    std::vector<KeyList> histories;
    std::vector<std::int64_t> sentence_of;
    for (std::int64_t i = 0; i < rows; ++i) {
        const auto parent = static_cast<std::size_t>(parents[static_cast<std::size_t>(i)]);
        KeyList list = position_ == 0 ? KeyList{} : histories_[parent];
        sentence_of.push_back(position_ == 0 ? static_cast<std::int64_t>(parent)
                                             : sentence_of_[parent]);
        if (!list.empty() && list.back().row + list.back().count == base + i)
            ++list.back().count;
        else
            list.push_back({base + i, 1});
        histories.push_back(std::move(list));
    }
    histories_ = std::move(histories);
    sentence_of_ = std::move(sentence_of);

    const Segments fresh = Segments::uniform(rows, 1);
    std::vector<KeyList> sources;
    std::vector<std::int64_t> lengths;
    for (const std::int64_t s : sentence_of_) {
        sources.push_back({{source_.begin(s), source_.length(s)}});
        lengths.push_back(source_.length(s));
    }
    const Visibility sees_source = everything(fresh, sources, source_.total());
    const Positions at{.offset = position_};

    std::vector<Tensor> logits;
    for (std::size_t m = 0; m < models_.size(); ++m) {
        const Transformer& model = *models_[m];
        const std::int64_t width = model.config.d_model;
        for (KvCache& cache : caches_[m].self) cache.reserve(base + rows, width, width);
        const Visibility sees = past(histories_, fresh, caches_[m].self[0].capacity());
        std::optional<Probe> probe;
        if (wants_weights_ && m == 0) probe.emplace();
        const Tensor hidden =
            model.decoder.step(tokens, fresh, at, caches_[m], sees, sees_source, lengths);
        if (probe) weights_ = mean_map(*probe, 2 * model.decoder.layers.size() - 1);
        logits.push_back(model.logits(hidden));
    }
    ++position_;
    return logits.size() == 1 ? logits[0] : mean_of_probabilities(logits);
}

std::span<const float> TransformerStepper::source_weights(std::int64_t row) {
    return weights_[static_cast<std::size_t>(row)];
}

}  // namespace fovea
