// Training sanity (reliability.md, 5.6): a model learns what its data hold and nothing else. With
// targets dealt to the wrong sources there is nothing to learn: a loss below the level of chance
// would mean that the answer leaks into the question.
#include <gtest/gtest.h>

#include <cmath>

#include "fovea/autograd/tape.h"
#include "fovea/base/rng.h"
#include "fovea/models/transformer.h"
#include "fovea/train/adamw.h"

namespace fovea {
namespace {

constexpr int letters = 10, length = 3, first_letter = 2, end = 1, start = 0;

// Sources of random letters; each target letter is the source's, one further in the alphabet.
struct Pairs {
    std::vector<Ids> source, target;

    Pairs(std::int64_t count, std::uint64_t seed) {
        Rng rng(seed);
        for (std::int64_t i = 0; i < count; ++i) {
            Ids s, t;
            for (int k = 0; k < length; ++k) {
                const auto letter = static_cast<std::int32_t>(rng.below(letters));
                s.push_back(first_letter + letter);
                t.push_back(first_letter + (letter + 1) % letters);
            }
            s.push_back(end);
            t.push_back(end);
            source.push_back(s);
            target.push_back(t);
        }
    }
};

struct Packed {
    Ids source, input, labels;
    Segments segments;
};

Packed pack(const Pairs& p, std::size_t from, std::size_t count) {
    Packed b;
    for (std::size_t i = from; i < from + count; ++i) {
        b.source.insert(b.source.end(), p.source[i].begin(), p.source[i].end());
        b.input.push_back(start);
        b.input.insert(b.input.end(), p.target[i].begin(), p.target[i].end() - 1);
        b.labels.insert(b.labels.end(), p.target[i].begin(), p.target[i].end());
    }
    b.segments = Segments::uniform(static_cast<std::int64_t>(count), length + 1);
    return b;
}

// The mean loss on pairs that training never saw.
double held_out_loss(bool shuffled) {
    Pairs train(2048, 1), held_out(256, 2);
    if (shuffled) {
        Rng(3).shuffle(train.target);
        Rng(4).shuffle(held_out.target);
    }
    TransformerConfig c;
    c.vocab_size = first_letter + letters;
    c.d_model = 32;
    c.encoder_layers = c.decoder_layers = 1;
    c.encoder_attention_heads = c.decoder_attention_heads = 4;
    c.encoder_ffn_dim = c.decoder_ffn_dim = 64;
    c.dropout = 0;
    ParameterStore store;
    Rng rng(5);
    const Transformer model(c, Params(store, rng));
    AdamW adam(store, {});
    const auto loss = [&](const Packed& b) {
        return model.loss(b.source, b.segments, b.input, b.labels, b.segments, {});
    };
    for (std::size_t step = 0; step < 320; ++step) {
        const Packed b = pack(train, step % 16 * 128, 128);
        Tape tape;
        adam.step(tape.gradients(loss(b)), 4e-3 * std::min(1.0, static_cast<double>(step + 1) / 40),
                  1.0f);
    }
    return loss(pack(held_out, 0, 256)).item();
}

TEST(TrainingSanity, TrueLabelsAreLearntAndShuffledOnesAreNot) {
    // Three letters at ln 10 each and an end that is certain.
    const double chance = length * std::log(double{letters}) / (length + 1);
    EXPECT_LT(held_out_loss(false), 0.1 * chance);
    const double shuffled = held_out_loss(true);
    EXPECT_GT(shuffled, 0.97 * chance);  // below it something leaks …
    EXPECT_LT(shuffled, 2.0 * chance);   // … far above it training itself is broken
}

}  // namespace
}  // namespace fovea
