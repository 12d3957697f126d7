#include "fovea/models/convolution.h"

#include <cmath>
#include <memory>

#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"
#include "fovea/ops/conv.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {
namespace {

// A window of even width fits n + 1 times into n words with zeros at both ends: all but the last.
Tensor without_last_rows(const Tensor& x, const Segments& made, const Segments& words) {
    Ids kept;
    for (std::int64_t s = 0; s < words.count(); ++s)
        for (std::int64_t i = 0; i < words.length(s); ++i)
            kept.push_back(static_cast<std::int32_t>(made.begin(s) + i));
    return gather_rows(x, kept);
}

}  // namespace

ConvolutionConfig ConvolutionConfig::from_json(const Json& json, const std::string& where) {
    ConvolutionConfig c;
    c.read(json, where);
    JsonFields(json, where).read("window_sizes", c.window_sizes, {1, 64});
    expect_input(!c.window_sizes.empty() && c.window_sizes.size() <= 16, where,
                 ": \"window_sizes\" has ", c.window_sizes.size(), " but must have 1 to 16");
    return c;
}

Json ConvolutionConfig::to_json() const {
    Json j = WordModelConfig::to_json(Convolution::model_type);
    j["window_sizes"] = window_sizes;
    return j;
}

Convolution::Convolution(const ConvolutionConfig& c, const Params& p)
    : config(c), embeddings(c, p / "embeddings") {
    for (const int k : c.window_sizes) {
        const Params w = p / "encoder" / "windows" / static_cast<int>(windows.size());
        // He et al. 2015, eq. 10, for the relu behind it: variance 2 / inputs
        const float bound = std::sqrt(6.0f / static_cast<float>(c.embedding_size * k));
        windows.push_back({w.get("weight", {c.hidden_size, c.embedding_size, k}, uniform(bound)),
                           w.get("bias", {c.hidden_size}, zeros())});
    }
}

Tensor Convolution::operator()(const TokenBatch& batch) const {
    const Tensor x = embeddings(batch);
    std::vector<Tensor> maps;
    for (std::size_t i = 0; i < windows.size(); ++i) {
        const int k = config.window_sizes[i];
        const Conv1dOptions o{.padding = k / 2, .act = Act::relu};
        Tensor y = conv1d(x, batch.segments, windows[i].weight, windows[i].bias, o);
        if (k % 2 == 0)
            y = without_last_rows(y, conv1d_segments(batch.segments, k, o), batch.segments);
        maps.push_back(std::move(y));
    }
    Tensor rows = concat_cols(maps);
    rows.set_row_names(batch.segments);
    return rows;
}

Json Convolution::new_config(const EncoderChoice& choice) {
    ConvolutionConfig c;
    c.apply(choice);
    return c.to_json();
}

TextEncoder Convolution::make(const Json& config, const std::string& where, const HeadChoice&,
                              const Params& p) {
    const auto model =
        std::make_shared<const Convolution>(ConvolutionConfig::from_json(config, where), p);
    TextEncoder e = word_encoder(model->config, model->config.width(), 1);
    e.rows = [model](const TokenBatch& batch) { return (*model)(batch); };
    return e;
}

}  // namespace fovea
