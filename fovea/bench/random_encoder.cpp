#include "fovea/bench/random_encoder.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/rng.h"
#include "fovea/io/model_parameters.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/tasks/weight_choice.h"

namespace fovea::bench {
namespace {

bool is_embedding(const std::string& name) { return name.find("embed") != std::string::npos; }

double bytes_of(const Tensor& t) {
    const auto n = static_cast<double>(t.size());
    if (t.format() == Format::f32) return 4 * n;
    return t.format() == Format::bf16 ? 2 * n : n + 4.0 * static_cast<double>(t.rows());
}

Ids random_tokens(std::int64_t count, int vocabulary, Rng& rng) {
    Ids ids;
    for (std::int64_t i = 0; i < count; ++i)
        ids.push_back(static_cast<std::int32_t>(rng.below(vocabulary)));
    return ids;
}

}  // namespace

RandomEncoder::RandomEncoder(const RandomEncoderOptions& o)
    : store(std::make_shared<ParameterStore>()) {
    const WeightChoice weights = WeightChoice::named(o.precision);
    precision = weights.precision;
    const TextEncoderEntry& entry = text_encoder_named(o.model);
    EncoderChoice choice;
    choice.preset = o.preset;
    choice.vocabulary = o.vocabulary;
    choice.max_length = o.max_length;
    choice.dropout = o.dropout;
    const Json config = entry.new_config(choice);
    Rng rng(1, 0x62656e63);
    const auto make = [&] { return entry.make(config, "config", o.head, Params(*store, rng)); };
    network = make();
    for (const std::string& name : std::vector<std::string>(store->names())) {
        if (weights.format != Format::f32 && is_matrix(*store, name))
            store->replace(name, store->at(name).to(weights.format));
        if (!is_embedding(name)) weight_bytes += bytes_of(store->at(name));
    }
    if (weights.format == Format::f32) return;
    store->set_mode(ParameterStore::Mode::load);
    network = make();
}

TokenBatch random_batch(std::span<const std::int64_t> lengths, int vocabulary, std::uint64_t seed) {
    Rng rng(seed, 0x62617463);
    std::vector<Ids> sequences;
    for (const std::int64_t n : lengths) sequences.push_back(random_tokens(n, vocabulary, rng));
    return pack(sequences);
}

GreedyDecoding::GreedyDecoding(const RandomEncoder& model, std::span<const Ids> prompts)
    : model_(model), caches_(static_cast<std::size_t>(model.network.layers)) {
    const Visibility sees = history_.start(prompts);
    Ids all;
    for (const Ids& p : prompts) all.insert(all.end(), p.begin(), p.end());
    read(all, sees);
}

void GreedyDecoding::step() {
    std::vector<std::int64_t> parents(last_.size());
    std::iota(parents.begin(), parents.end(), 0);
    const Visibility sees = history_.advance(parents);
    const Ids tokens = last_;
    read(tokens, sees);
}

void GreedyDecoding::read(const Ids& tokens, const Visibility& sees) {
    const PrecisionScope scope(model_.precision);
    for (KvCache& c : caches_) history_.prepare(c, model_.network.width, model_.network.width);
    const Segments& fresh = history_.fresh();
    const Tensor rows = model_.network.step({tokens, fresh, history_.positions(), sees}, caches_);
    Ids ends;
    for (std::int64_t s = 0; s < fresh.count(); ++s)
        ends.push_back(static_cast<std::int32_t>(fresh.end(s) - 1));
    const Tensor logits = model_.network.words(gather_rows(rows, ends));
    last_.assign(static_cast<std::size_t>(logits.rows()), 0);
    for (std::int64_t r = 0; r < logits.rows(); ++r) {
        const float* row = logits.data() + r * logits.cols();
        last_[static_cast<std::size_t>(r)] =
            static_cast<std::int32_t>(std::max_element(row, row + logits.cols()) - row);
    }
}

}  // namespace fovea::bench
