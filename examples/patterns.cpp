// Prints who sees whom in each model, as attention reports it to a Probe:  patterns [bert gpt2
// xlnet] The models are tiny and have learnt nothing: the pattern does not depend on the weights.
#include <iostream>
#include <string>
#include <vector>

#include "fovea/fovea.h"

using fovea::Ids;

static const std::vector<std::string> words = {"the", "old", "cat", "sat", "down"};

// One row for each word that looks, one column for each word that is looked at; `rows` and
// `columns` say which word of the text each query and key of the attention is.
static void draw(const std::string& title, const fovea::Visibility& sees, const Ids& rows,
                 const Ids& columns) {
    std::cout << title << "\n       the old cat sat down\n";
    for (int word = 0; word < 5; ++word)
        for (std::size_t q = 0; q < rows.size(); ++q) {
            if (rows[q] != word) continue;
            std::string line(5 * 4, ' ');
            for (std::size_t k = 0; k < columns.size(); ++k)
                if (sees.sees(static_cast<std::int64_t>(q), static_cast<std::int64_t>(k)))
                    line[static_cast<std::size_t>(columns[k]) * 4 + 1] = '#';
            const std::string& name = words[static_cast<std::size_t>(word)];
            std::cout << std::string(5 - name.size(), ' ') << name << "  " << line << "\n";
        }
    std::cout << "\n";
}

static const fovea::TokenBatch text = {{5, 6, 7, 8, 9}, {}, fovea::Segments::of_lengths({5})};
static const Ids in_order = {0, 1, 2, 3, 4};

// One layer would do, but XLNet's last layer has no content stream: nobody reads it.
static fovea::TextEncoder tiny(const std::string& model, fovea::ParameterStore& store) {
    fovea::EncoderChoice choice{.layers = 2, .width = 8, .ffn = 8, .heads = 1};
    choice.vocabulary = 16;
    choice.max_length = 8;
    fovea::Rng rng(1);
    const fovea::TextEncoderEntry& entry = fovea::text_encoder_named(model);
    return entry.make(entry.new_config(choice), model, {}, fovea::Params(store, rng));
}

static void show(const std::string& model) {
    fovea::ParameterStore store;
    const fovea::TextEncoder encoder = tiny(model, store);
    fovea::Probe probe;
    encoder.rows(text);
    draw(model, probe.visibility(0), in_order, in_order);
    if (!encoder.targets) return;
    // "cat" is told first, from "old" and "down"; then "the", then "sat".
    const Ids order = {1, 4, 2, 0, 3};
    const std::vector<std::int64_t> predicted = {3};
    probe.clear();
    encoder.targets({text, order, predicted});
    draw(model + ", query stream (old, down are given; then cat, the, sat are told)",
         probe.visibility(0), {2, 0, 3}, order);
    draw(model + ", content stream of the same", probe.visibility(1), order, order);
}

int main(int argc, char** argv) try {
    std::vector<std::string> models(argv + 1, argv + argc);
    if (models.empty()) models = {"bert", "gpt2", "xlnet"};
    for (const std::string& model : models) show(model);
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}
