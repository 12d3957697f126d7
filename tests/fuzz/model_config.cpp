#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/models/text_encoder.h"
#include "fovea/models/transformer.h"
#include "fovea/tensor/memory.h"
#include "fuzz_targets.h"

namespace fovea {
namespace {

constexpr const char* where = "config.json";

constexpr Head heads[] = {Head::none,  Head::classes,        Head::tags, Head::spans,
                          Head::words, Head::words_and_next, Head::next};

// As a folder without a single tensor: the model is built over shapes alone.
void build_encoder(Json config, Head head) {
    const TextEncoderEntry& entry = text_encoder_of(config, where);
    ParameterStore shapes(ParameterStore::Mode::check);
    Rng unused;
    const TextEncoder e = entry.make(config, where, {head, 3}, Params(shapes, unused));
    property(e.width > 0 && e.vocabulary > 0 && e.layers >= 0, "sizes are positive");
    property(e.max_length > 0, "a model takes at least a token");
    property(e.layer_of("nobody.knows.this") == e.layers + 1, "what is unknown is a head's");
    property(!shapes.missing_names().empty(), "a model has parameters");
    name_architecture(config, head);
    if (entry.architecture && !entry.architecture(head).empty())
        property(head_named_in(config) == head, "a config names its head");
}

void build_seq2seq(const Json& config) {
    const TransformerConfig c = TransformerConfig::from_json(config, where);
    ParameterStore shapes(ParameterStore::Mode::check);
    Rng unused;
    const Transformer model(c, Params(shapes, unused));
    property(TransformerConfig::from_json(c.to_json(), where).to_json() == c.to_json(),
             "a config survives saving");
}

}  // namespace

void fuzz_model_config(FuzzBytes data) {
    if (data.empty()) return;
    const std::int64_t before = memory_stats().in_use;
    reset_memory_peak();
    try {
        const Json config = parse_json(text_of_bytes(data).substr(1), where);
        expect_input(config.is_object(), where, ": is not a JSON object");
        if (data[0] % 8 == 7)
            build_seq2seq(config);
        else
            build_encoder(config, heads[data[0] % 8]);
    } catch (const Error& e) {
        property(std::string_view(e.what()).rfind(where, 0) == 0, "an error names the file");
        property(e.kind() == ErrorKind::bad_input, "an error is about the input");
    }
    property(memory_stats().peak - before < (1 << 20), "sizes cost no memory before they are true");
}

}  // namespace fovea
