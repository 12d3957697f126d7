#pragma once
// An example of every score, for the tests that all scores must pass. A score's own test makes it:
//
//     const ExampleOf<Additive> example({.name = "Additive", .parameters = …, .make = …});
//
// The tests follow the list of scores (Score): one without an example fails them.
#include <array>
#include <functional>
#include <variant>
#include <vector>

#include "fovea/ops/attention/attention_naive.h"

namespace fovea {

struct ScoreSizes {
    int heads = 2;
    std::int64_t dk = 20, dv = 12;
    std::int64_t longest = 200;  // distances lie within ±longest
};

// A number for each packed row of q and k, which stays with the row in every packing: what an
// example has for each row (segments, centres) is a function of it.
struct RowNumbers {
    std::vector<std::int64_t> q, k;
    static RowNumbers of(const Visibility& sees) {
        RowNumbers all;
        for (std::int64_t i = 0; i < sees.queries(); ++i) all.q.push_back(i);
        for (std::int64_t i = 0; i < sees.keys(); ++i) all.k.push_back(i);
        return all;
    }
};

struct ScoreExample {
    const char* name;
    bool rounds = true;  // computes in bf16 where the run does
    double gradient_tolerance = 1e-4;
    std::function<std::vector<Tensor>(const ScoreSizes&, const RowNumbers&)> parameters;
    std::function<Score(const std::vector<Tensor>& parameters, const ScoreSizes&,
                        const RowNumbers&)>
        make;
    // The formula in double; inputs are q, k, v, then the parameters. Empty: scale q·k.
    std::function<void(NaiveAttention& naive, const ScoreSizes&, const RowNumbers&)> formula{};

    AttentionOptions options(const std::vector<Tensor>& with, const ScoreSizes& s,
                             const RowNumbers& rows) const {
        return {.score = make(with, s, rows)};
    }
    NaiveAttention naive(const Visibility& sees, const ScoreSizes& s,
                         const RowNumbers& rows) const {
        NaiveAttention n{.heads = s.heads, .dk = s.dk, .dv = s.dv, .sees = {sees}};
        n.scale = 1.0 / std::sqrt(static_cast<double>(s.dk));
        if (formula) formula(n, s, rows);
        return n;
    }
};

using ScoreExamples = std::array<const ScoreExample*, std::variant_size_v<Score>>;

inline ScoreExamples& registered_examples() {
    static ScoreExamples all{};
    return all;
}

template <class S>
struct ExampleOf : ScoreExample {
    explicit ExampleOf(ScoreExample e) : ScoreExample(std::move(e)) {
        registered_examples()[Score(S{}).index()] = this;
    }
};

// test(example) for every score there is.
template <class Test>
void for_every_score(Test&& test) {
    for (std::size_t i = 0; i < registered_examples().size(); ++i) {
        const ScoreExample* example = registered_examples()[i];
        ASSERT_NE(example, nullptr) << "score " << i << " of the list has no ExampleOf in its test";
        SCOPED_TRACE(example->name);
        test(*example);
    }
}

inline std::vector<Tensor> random_qkv(const Visibility& sees, const ScoreSizes& s, Rng& rng) {
    return {random_tensor({sees.queries(), s.heads * s.dk}, rng),
            random_tensor({sees.keys(), s.heads * s.dk}, rng),
            random_tensor({sees.keys(), s.heads * s.dv}, rng)};
}

// Forward and gradient (to q, k, v and whatever else is in `inputs`) against the formula.
inline void check_attention(
    const std::vector<Tensor>& inputs, const NaiveAttention& naive,
    const std::function<AttentionOptions(const std::vector<Tensor>&)>& options,
    double gradient_tolerance = 1e-4) {
    OpCase c;
    c.inputs = inputs;
    c.op = [&](const std::vector<Tensor>& x) {
        return attention(x[0], x[1], x[2], naive.heads, naive.sees[0], options(x));
    };
    c.reference = [&](const std::vector<Doubles>& x) { return naive(x); };
    c.max_checked = 14;
    c.gradient_tolerance = gradient_tolerance;
    check_op(c);
}

inline std::vector<Tensor> parameters_of(const std::vector<Tensor>& inputs) {
    return {inputs.begin() + 3, inputs.end()};
}

inline void check_example(const ScoreExample& example, const Visibility& sees, const ScoreSizes& s,
                          Rng& rng) {
    const RowNumbers rows = RowNumbers::of(sees);
    std::vector<Tensor> inputs = random_qkv(sees, s, rng);
    for (const Tensor& p : example.parameters(s, rows)) inputs.push_back(p);
    check_attention(
        inputs, example.naive(sees, s, rows),
        [&](const std::vector<Tensor>& x) { return example.options(parameters_of(x), s, rows); },
        example.gradient_tolerance);
}

}  // namespace fovea
