#pragma once
// tests/goldens/xlnet-tiny, for the tests of XLNet.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "fovea/base/files.h"
#include "fovea/io/model_parameters.h"
#include "fovea/models/xlnet.h"

namespace fovea::xlnet {

inline const std::string folder = FOVEA_SOURCE_DIR "/tests/goldens/xlnet-tiny";

struct Golden {
    explicit Golden(const Json& changes = Json::object()) : file(folder + "/golden.safetensors") {
        json = read_json(folder + "/config.json");
        json.update(changes);
        load_parameters(ModelWeights(folder), XlnetEncoder::rules(), store);
        batch = {ids("tokens"), ids("types"), Segments::of_lengths(file.read_integers("lengths"))};
        before = {ids("before"), {}, Segments::of_lengths(file.read_integers("before_lengths"))};
        order.order = ids("order");
        order.predicted = file.read_integers("predicted");
    }

    XlnetLm lm() {
        Rng rng;
        XlnetLm made(XlnetConfig::from_json(json, folder), Params(store, rng));
        store.finish(folder);
        return made;
    }

    // A head with its parameters from the golden; of the language model's bias there is no use.
    TextEncoder encoder(Head head, const std::string& name, int classes = 5) {
        for (const TensorInfo& t : file.tensors())
            if (t.name.starts_with(name + ".param."))
                store.put(t.name.substr(name.size() + 7), file.read(t));
        Rng rng;
        return XlnetEncoder::make(json, folder, {head, classes}, Params(store, rng));
    }

    Ids ids(const char* name) const {
        const auto v = file.read_integers(name);
        return Ids(v.begin(), v.end());
    }
    TokenBatch plain() const { return {batch.tokens, {}, batch.segments}; }

    TensorFile file;
    ParameterStore store{ParameterStore::Mode::load};
    Json json;
    TokenBatch batch, before;
    XlnetOrder order;
};

inline void expect_near(const Tensor& got, const Tensor& want, const char* what,
                        double most = 1e-4) {
    ASSERT_EQ(got.size(), want.size()) << what;
    double largest = 0;
    for (std::int64_t i = 0; i < want.size(); ++i)
        largest = std::max(largest, std::fabs(double{got.data()[i]} - want.data()[i]));
    EXPECT_LE(largest, most) << what;
}

// Row `row` of `whole` and the rows behind it are these, bit for bit.
inline bool same_rows(const Tensor& part, const Tensor& whole, std::int64_t row) {
    return std::memcmp(part.data(), whole.data() + row * whole.cols(),
                       sizeof(float) * static_cast<std::size_t>(part.size())) == 0;
}

}  // namespace fovea::xlnet
