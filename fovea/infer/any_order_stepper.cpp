#include "fovea/infer/any_order_stepper.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/tensor/token_batch.h"

namespace fovea {
namespace {

// Tokens that are read anew at each step though the rows before them are kept.
constexpr std::size_t always_anew = 2;

}  // namespace

AnyOrderStepper::AnyOrderStepper(const TextEncoder& model, LanguageModelStepper::Options options)
    : model_(model), options_(std::move(options)) {
    expect(model.targets && model.words,
           "decode: the model does not tell tokens in any order, or has no head over words");
}

Tensor AnyOrderStepper::start(std::span<const Ids> prompts) {
    texts_.assign(prompts.begin(), prompts.end());
    for (const Ids& text : texts_) {
        expect_prompt_fits(text.size() + 1, model_.max_length);
        read_.push_back(text.size());
    }
    return run({});
}

Tensor AnyOrderStepper::step(const Ids& tokens, std::span<const std::int64_t> parents) {
    expect(tokens.size() == parents.size(), "decode: ", tokens.size(), " tokens for ",
           parents.size(), " hypotheses");
    std::vector<Ids> texts;
    read_.clear();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        Ids& text = texts.emplace_back(texts_[static_cast<std::size_t>(parents[i])]);
        const bool slides = drop_oldest_half(text, model_.max_length - 1);
        text.push_back(tokens[i]);
        read_.push_back(options_.keep_rows && !slides ? std::min(text.size(), always_anew)
                                                      : text.size());
    }
    texts_ = std::move(texts);
    return run(options_.keep_rows ? memory_of(parents) : RowMemory{});
}

Tensor AnyOrderStepper::run(const RowMemory& memory) {
    const PrecisionScope scope(precision_);
    std::vector<Ids> inputs;
    Ids order;
    for (std::size_t i = 0; i < texts_.size(); ++i) {
        Ids& input = inputs.emplace_back(texts_[i].end() - static_cast<std::ptrdiff_t>(read_[i]),
                                         texts_[i].end());
        input.push_back(0);  // whatever: nobody sees the token that is asked for
        order.resize(order.size() + input.size());
        std::iota(order.end() - static_cast<std::ptrdiff_t>(input.size()), order.end(), 0);
    }
    const std::vector<std::int64_t> predicted(inputs.size(), 1);
    const TokenBatch batch = pack(inputs);
    RowMemory own;
    const Tensor rows = model_.targets({.batch = batch,
                                        .order = order,
                                        .predicted = predicted,
                                        .memory = memory.empty() ? nullptr : &memory,
                                        .remembered = options_.keep_rows ? &own : nullptr});
    if (options_.keep_rows) keep(memory, own);
    return model_.words(rows);
}

// The rows of memory and batch together, and which of them the next step may look at.
void AnyOrderStepper::keep(const RowMemory& memory, const RowMemory& own) {
    pool_.clear();
    for (std::size_t i = 0; i < own.rows.size(); ++i)
        pool_.push_back(memory.empty() ? own.rows[i] : concat_rows({memory.rows[i], own.rows[i]}));
    const auto most = static_cast<std::size_t>(model_.kept_rows);
    kept_.assign(texts_.size(), {});
    for (std::size_t t = 0; t < kept_.size(); ++t) {
        const auto s = static_cast<std::int64_t>(t);
        Ids& rows = kept_[t];
        if (!memory.empty())
            for (std::int64_t r = memory.segments.begin(s); r < memory.segments.end(s); ++r)
                rows.push_back(static_cast<std::int32_t>(r));
        const std::int64_t first = memory.segments.total();
        for (std::int64_t r = own.segments.begin(s); r < own.segments.end(s); ++r)
            rows.push_back(static_cast<std::int32_t>(first + r));
        if (most > 0 && rows.size() > most)
            rows.erase(rows.begin(), rows.end() - static_cast<std::ptrdiff_t>(most));
        rows.resize(rows.size() - std::min(rows.size(), always_anew));
    }
}

// Of the texts that go on; one that is read anew has none.
RowMemory AnyOrderStepper::memory_of(std::span<const std::int64_t> parents) const {
    RowMemory memory;
    Ids rows;
    std::vector<std::int64_t> lengths;
    for (std::size_t i = 0; i < parents.size(); ++i) {
        const bool anew = read_[i] == texts_[i].size();
        const Ids kept = anew ? Ids{} : kept_[static_cast<std::size_t>(parents[i])];
        rows.insert(rows.end(), kept.begin(), kept.end());
        lengths.push_back(static_cast<std::int64_t>(kept.size()));
    }
    memory.segments = Segments::of_lengths(lengths);
    for (const Tensor& all : pool_) memory.rows.push_back(gather_rows(all, rows));
    return memory;
}

std::unique_ptr<Stepper> make_language_stepper(const TextEncoder& model,
                                               LanguageModelStepper::Options options) {
    if (!model.step && model.targets)
        return std::make_unique<AnyOrderStepper>(model, std::move(options));
    return std::make_unique<LanguageModelStepper>(model, std::move(options));
}

}  // namespace fovea
