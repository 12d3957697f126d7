#include "fovea/infer/xlnet_stepper.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/precision.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {
namespace {

class XlnetStepper : public Stepper {
public:
    XlnetStepper(const XlnetLm& model, bool memory) : model_(model), keeps_memory_(memory) {}

    Tensor start(std::span<const Ids> prompts) override {
        texts_.assign(prompts.begin(), prompts.end());
        return run({});
    }

    Tensor step(const Ids& tokens, std::span<const std::int64_t> parents) override {
        expect(tokens.size() == parents.size(), "decode: ", tokens.size(), " tokens for ",
               parents.size(), " hypotheses");
        std::vector<Ids> texts;
        for (std::size_t i = 0; i < tokens.size(); ++i) {
            texts.push_back(texts_[static_cast<std::size_t>(parents[i])]);
            texts.back().push_back(tokens[i]);
        }
        texts_ = std::move(texts);
        return run(keeps_memory_ ? memory_of(parents) : XlnetMemory{});
    }

    std::span<const std::int32_t> end_tokens() const override {
        return {&model_.transformer.config.eos_token_id, 1};
    }
    Ids default_prompt() const override {
        const int begin = model_.transformer.config.bos_token_id;
        return begin >= 0 ? Ids{begin} : Ids{};
    }

private:
    // Rows that are read anew at each step, before the place of the next token.
    static constexpr std::size_t anew = 2;

    Tensor run(const XlnetMemory& memory) {
        const PrecisionScope scope(precision_);
        std::vector<Ids> inputs;
        for (const Ids& text : texts_) {
            const std::size_t from = memory.empty() ? 0 : text.size() - anew;
            inputs.emplace_back(text.begin() + static_cast<std::ptrdiff_t>(from), text.end());
            inputs.back().push_back(0);  // whatever: nobody sees the token that is asked for
        }
        const TokenBatch batch = pack(inputs);
        XlnetOrder order = XlnetOrder::left_to_right(batch.segments);
        order.predicted.assign(inputs.size(), 1);
        XlnetMemory own;
        const Tensor rows =
            model_.transformer.target_rows(batch, order, memory, keeps_memory_ ? &own : nullptr);
        if (keeps_memory_) keep(memory, own);
        return model_.logits(rows);
    }

    // The rows of memory and batch together, and which of them the next step may look at.
    void keep(const XlnetMemory& memory, const XlnetMemory& own) {
        pool_.clear();
        for (std::size_t i = 0; i < own.rows.size(); ++i)
            pool_.push_back(memory.empty() ? own.rows[i]
                                           : concat_rows({memory.rows[i], own.rows[i]}));
        const auto most = static_cast<std::size_t>(model_.transformer.config.mem_len);
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
            rows.resize(rows.size() - std::min(rows.size(), anew));
        }
    }

    XlnetMemory memory_of(std::span<const std::int64_t> parents) const {
        XlnetMemory memory;
        Ids rows;
        std::vector<std::int64_t> lengths;
        for (const std::int64_t parent : parents) {
            const Ids& kept = kept_[static_cast<std::size_t>(parent)];
            rows.insert(rows.end(), kept.begin(), kept.end());
            lengths.push_back(static_cast<std::int64_t>(kept.size()));
        }
        memory.segments = Segments::of_lengths(lengths);
        for (const Tensor& all : pool_) memory.rows.push_back(gather_rows(all, rows));
        return memory;
    }

    const XlnetLm& model_;
    Precision precision_ = current_precision();
    bool keeps_memory_;
    std::vector<Ids> texts_;    // of each row of the last logits: prompt and all that followed
    std::vector<Tensor> pool_;  // a layer's rows of the last step
    std::vector<Ids> kept_;     // of each row of the last logits: its rows of the pool
};

}  // namespace

std::unique_ptr<Stepper> make_xlnet_stepper(const XlnetLm& model,
                                            const XlnetStepperOptions& options) {
    return std::make_unique<XlnetStepper>(
        model, options.memory.value_or(model.transformer.config.use_mems_eval));
}

}  // namespace fovea
