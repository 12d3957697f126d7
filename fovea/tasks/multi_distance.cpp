// How far two positions of a text stand apart, told from their rows: a task beside others that
// makes an encoder keep where things are.
#include <bit>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/rng.h"
#include "fovea/nn/linear.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/tasks/multi_texts.h"

namespace fovea {
namespace {

constexpr int distance_classes = 8;  // 1, 2, 3-4, 5-8, … 65 and more

std::int32_t distance_class(std::int64_t distance) {
    const int bits = std::bit_width(static_cast<std::uint64_t>(distance - 1));
    return std::min(bits, distance_classes - 1);
}

class DistancePart : public TextPart {
public:
    void describe(Settings& s) override {
        s.add("pairs", pairs_, "pairs of positions that are drawn of each text",
              {.group = "model", .min = 1, .max = 1000});
    }

private:
    const char* name() const override { return "distance"; }

    void make_head(const RunSettings& run) override {
        seed_ = run.options.seed;
        Rng rng(seed_, 0x64697374);
        head_.emplace(2 * body_->encoder->width, distance_classes,
                      Params(store_, rng) / "classifier");
    }

    double guessing_loss() const override { return std::log(double{distance_classes}); }

    Tensor loss(std::span<const std::int64_t> chosen) const override {
        std::vector<Ids> ids;
        std::vector<std::uint64_t> samples;
        Ids first, second, labels;
        std::int32_t row = 0;
        for (const std::int64_t i : chosen) {
            const auto at = static_cast<std::size_t>(i);
            const auto n = static_cast<std::int32_t>(sequences_[at].size());
            // Named by the text and the epoch: the batch around it does not matter.
            Rng rng(seed_ ^ names_[at], 0x70616972);
            rng.seek(static_cast<std::uint64_t>(epoch_) << 16);
            for (int k = 0; k < pairs_; ++k) {
                const auto a = static_cast<std::int32_t>(rng.below(n));
                auto b = static_cast<std::int32_t>(rng.below(n - 1));
                b += b >= a;
                first.push_back(row + std::min(a, b));
                second.push_back(row + std::max(a, b));
                labels.push_back(distance_class(std::abs(a - b)));
            }
            row += n;
            ids.push_back(sequences_[at]);
            samples.push_back(static_cast<std::uint64_t>(i));
        }
        const Tensor rows = body_->encoder->rows(pack(ids, samples));
        return cross_entropy(
            (*head_)(concat_cols({gather_rows(rows, first), gather_rows(rows, second)})), labels);
    }

    int pairs_ = 4;
    std::uint64_t seed_ = 1;
    std::optional<Linear> head_;
};

}  // namespace

std::unique_ptr<Trainer> make_distance_part() { return std::make_unique<DistancePart>(); }

}  // namespace fovea
