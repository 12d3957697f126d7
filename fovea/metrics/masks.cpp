#include "fovea/metrics/masks.h"

#include <fmt/core.h>

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/metrics/signature.h"

namespace fovea {

MaskScorer::MaskScorer(const MaskScorerOptions& options)
    : options_(options),
      all_(static_cast<std::size_t>(options.classes)),
      sums_(static_cast<std::size_t>(options.classes)) {
    expect(options.classes >= 2 && options.classes <= 256, "masks: ", options.classes,
           " classes but 2 to 256 are known");
}

// Both sides empty: 1 (a class that is skipped is never asked about).
MaskShares MaskScorer::shares_of(const Counts& c) const {
    const std::int64_t either = c.predicted + c.wanted - c.both;
    if (either == 0) return {1, 1};
    return {2.0 * static_cast<double>(c.both) / static_cast<double>(c.predicted + c.wanted),
            static_cast<double>(c.both) / static_cast<double>(either)};
}

MaskShares MaskScorer::add(std::span<const std::uint8_t> predicted,
                           std::span<const std::uint8_t> wanted) {
    expect(predicted.size() == wanted.size(), "masks: ", predicted.size(), " predicted pixels but ",
           wanted.size(), " wanted ones");
    std::vector<Counts> own(all_.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i] == options_.ignore) continue;
        expect(wanted[i] < own.size() && predicted[i] < own.size(), "masks: pixel ", i,
               " has class ", int{std::max(wanted[i], predicted[i])}, " but there are ",
               own.size());
        ++own[predicted[i]].predicted;
        ++own[wanted[i]].wanted;
        own[wanted[i]].both += predicted[i] == wanted[i];
        right_ += predicted[i] == wanted[i];
        ++pixels_;
    }
    MaskShares mean;
    int counted = 0;
    for (auto c = static_cast<std::size_t>(first_class()); c < own.size(); ++c) {
        all_[c].both += own[c].both;
        all_[c].predicted += own[c].predicted;
        all_[c].wanted += own[c].wanted;
        if (options_.empty == EmptyMask::skip && own[c].predicted + own[c].wanted == 0) continue;
        const MaskShares s = shares_of(own[c]);
        sums_[c].dice += s.dice;
        sums_[c].iou += s.iou;
        ++sums_[c].pictures;
        mean.dice += s.dice;
        mean.iou += s.iou;
        ++counted;
    }
    ++pictures_;
    if (counted == 0) return {1, 1};
    return {mean.dice / counted, mean.iou / counted};
}

MaskScore MaskScorer::score() const {
    MaskScore s;
    s.pictures = pictures_;
    s.accuracy = pixels_ ? static_cast<double>(right_) / static_cast<double>(pixels_) : 0;
    int counted = 0, pooled = 0;
    for (auto c = static_cast<std::size_t>(first_class()); c < all_.size(); ++c) {
        MaskShares own;
        if (const auto n = static_cast<double>(sums_[c].pictures); n > 0) {
            own = {sums_[c].dice / n, sums_[c].iou / n};
            s.mean.dice += own.dice;
            s.mean.iou += own.iou;
            ++counted;
        }
        s.classes.push_back(own);
        if (options_.empty == EmptyMask::skip && all_[c].predicted + all_[c].wanted == 0) continue;
        const MaskShares whole = shares_of(all_[c]);
        s.pooled.dice += whole.dice;
        s.pooled.iou += whole.iou;
        ++pooled;
    }
    if (counted) s.mean = {s.mean.dice / counted, s.mean.iou / counted};
    if (pooled) s.pooled = {s.pooled.dice / pooled, s.pooled.iou / pooled};
    s.signature =
        fmt::format("classes:{}|empty:{}|{}",
                    options_.classes == 2 ? "foreground" : std::to_string(options_.classes),
                    options_.empty == EmptyMask::one ? "1" : "skip", signature_version);
    return s;
}

MetricScore MaskScore::score(std::span<const std::string> labels) const {
    MetricScore m{.name = "Dice", .value = 100 * mean.dice, .signature = signature};
    m.figures["dice"] = 100 * mean.dice;
    m.figures["iou"] = 100 * mean.iou;
    m.figures["pooled_dice"] = 100 * pooled.dice;
    m.figures["pooled_iou"] = 100 * pooled.iou;
    m.figures["accuracy"] = 100 * accuracy;
    const std::size_t skipped = labels.size() - std::min(labels.size(), classes.size());
    if (classes.size() > 1)
        for (std::size_t c = 0; c < classes.size() && c + skipped < labels.size(); ++c)
            m.figures["classes"][labels[c + skipped]] = {{"dice", 100 * classes[c].dice},
                                                         {"iou", 100 * classes[c].iou}};
    return m;
}

}  // namespace fovea
