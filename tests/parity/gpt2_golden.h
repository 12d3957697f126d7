#pragma once
// tests/goldens/gpt2-tiny with one of its heads.
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/io/model_parameters.h"
#include "fovea/models/gpt2.h"

namespace fovea {

inline Ids golden_ids(const TensorFile& f, const std::string& name) {
    const auto v = f.read_integers(name);
    return Ids(v.begin(), v.end());
}

// Sequences that a file holds end to end, with their lengths beside them.
inline std::vector<Ids> golden_sequences(const TensorFile& f, const std::string& name) {
    const Ids all = golden_ids(f, name);
    std::vector<Ids> out;
    auto at = all.begin();
    for (const std::int64_t n : f.read_integers(name + "_lengths")) {
        out.emplace_back(at, at + n);
        at += n;
    }
    return out;
}

struct Gpt2Golden {
    explicit Gpt2Golden(const std::string& head_name, const Json& change = Json::object())
        : folder(std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/gpt2-tiny"),
          file(folder + "/golden.safetensors"),
          store(ParameterStore::Mode::load),
          head(head_name) {
        load_parameters(ModelWeights(folder), Gpt2::rules(), store);
        const std::string prefix = head + ".weight.";
        for (const TensorInfo& info : file.tensors())
            if (info.name.starts_with(prefix))
                store.put(info.name.substr(prefix.size()), file.read(info));
        config = read_json(folder + "/config.json");
        config.update(change);
        const HeadChoice choice = head == "classes" ? HeadChoice{Head::classes, 3}
                                  : head == "tags"  ? HeadChoice{Head::tags, 3}
                                  : head == "spans" ? HeadChoice{Head::spans, 0}
                                                    : HeadChoice{Head::words, 0};
        Rng rng;
        encoder = text_encoder_of(config, folder).make(config, folder, choice, Params(store, rng));
        store.finish(folder);
        batch.tokens = golden_ids(file, "texts");
        batch.segments = Segments::of_lengths(file.read_integers("lengths"));
    }

    Tensor logits() const {
        const Tensor rows = encoder.rows(batch);
        if (head == "classes") return encoder.classes(rows, batch.segments);
        return head == "tags"    ? encoder.tags(rows)
               : head == "spans" ? encoder.spans(rows)
                                 : encoder.words(rows);
    }

    // What the golden's loss is over: the next token of each row, or labels of its own.
    Ids labels() const {
        if (head != "words") return golden_ids(file, head + ".labels");
        Ids next(batch.tokens.begin() + 1, batch.tokens.end());
        next.push_back(-100);
        for (std::int64_t s = 0; s < batch.segments.count(); ++s)
            next[static_cast<std::size_t>(batch.segments.end(s) - 1)] = -100;
        return next;
    }

    std::string folder;
    TensorFile file;
    ParameterStore store;
    std::string head;
    Json config;
    TextEncoder encoder;
    TokenBatch batch;
};

}  // namespace fovea
