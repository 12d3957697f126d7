#include "fovea/tasks/track_link.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/assignment.h"
#include "fovea/base/error.h"

namespace fovea {
namespace {

// 1 / deviation of each column of features, over all of these things.
std::vector<double> feature_units(const std::vector<const SeenThing*>& things) {
    if (things.empty()) return {};
    const std::size_t columns = things[0]->features.size();
    std::vector<double> units(columns);
    for (std::size_t c = 0; c < columns; ++c) {
        double sum = 0, squares = 0;
        for (const SeenThing* t : things) {
            sum += t->features[c];
            squares += double{t->features[c]} * t->features[c];
        }
        const auto n = static_cast<double>(things.size());
        const double variance = squares / n - (sum / n) * (sum / n);
        units[c] = variance > 1e-12 ? 1 / std::sqrt(variance) : 0;
    }
    return units;
}

// Of two things taken at random about 1: the mean square of a difference is twice the variance.
double feature_distance(const SeenThing& a, const SeenThing& b, std::span<const double> units,
                        std::span<const double> weights) {
    double sum = 0, all = 0;
    for (std::size_t c = 0; c < units.size(); ++c) {
        const double d = (double{a.features[c]} - b.features[c]) * units[c];
        sum += weights[c] * d * d;
        all += weights[c];
    }
    return all > 0 ? std::sqrt(sum / (2 * all)) : 0;
}

}  // namespace

void TrackOptions::describe(Settings& s) {
    const auto weight = [](double most = 1000) {
        return SettingOptions{.group = "tracks", .min = 0, .max = most, .about_run = false};
    };
    s.add("iou-weight", iou, "tracks: how much the overlap of boxes counts", weight());
    s.add("centre-weight", centre, "tracks: how much the distance of centres counts", weight());
    s.add("feature-weight", feature, "tracks: how much the look counts (features of the encoder)",
          weight());
    SettingOptions far{.group = "tracks", .min = 1e-3, .max = 1e5, .about_run = false};
    far.otherwise = "twice the mean side";
    s.add("reach", reach, "tracks: pixels that a thing moves in a frame at most", far);
    s.add("patience", patience, "tracks: frames without being seen after which a track ends",
          {.group = "tracks", .min = 0, .max = 10000, .about_run = false});
    s.add("least-area", least_area, "tracks: pixels of a thing; smaller ones are noise",
          {.group = "tracks", .min = 1, .about_run = false});
}

void TrackOptions::check() const {
    if (iou + centre + feature <= 0)
        throw Error("--iou-weight, --centre-weight and --feature-weight are all 0",
                    ErrorKind::usage, "something must tell which thing is which");
}

double TrackLinker::reach_of(std::span<const SeenThing> seen) const {
    if (options_.reach) return *options_.reach;
    double sum = 0;
    for (const SeenThing& s : seen) sum += std::sqrt(static_cast<double>(s.area));
    return seen.empty() ? 0 : 2 * sum / static_cast<double>(seen.size());
}

// 1 − what a column changes along a link / between things at random: how well it tells them apart.
// Its square counts, so that a few good columns are not drowned by many poor ones.
std::vector<double> TrackLinker::column_weights(std::span<const double> units) const {
    std::vector<double> weights(units.size(), 1.0);
    for (std::size_t c = 0; c < weights.size() && links_ >= 20; ++c) {
        const double change = changes_[c] * units[c] * units[c] / (2 * static_cast<double>(links_));
        weights[c] = change < 1 ? (1 - change) * (1 - change) : 0;
    }
    return weights;
}

void TrackLinker::note_link(const SeenThing& before, const SeenThing& now) {
    changes_.resize(now.features.size());
    for (std::size_t c = 0; c < changes_.size(); ++c) {
        const double d = double{now.features[c]} - before.features[c];
        changes_[c] += d * d;
    }
    ++links_;
}

std::vector<double> TrackLinker::costs(std::span<const SeenThing> seen) const {
    std::vector<const SeenThing*> things;
    for (const Track& t : live_) things.push_back(&t.last);
    for (const SeenThing& s : seen) things.push_back(&s);
    const std::vector<double> units = feature_units(things), weights = column_weights(units);
    const double reach = reach_of(seen), most = options_.most();
    std::vector<double> costs;
    for (const Track& t : live_)
        for (const SeenThing& s : seen) {
            const double far =
                std::hypot(t.last.centre_y - s.centre_y, t.last.centre_x - s.centre_x);
            const double may = reach * (t.unseen + 1);  // who was not seen has gone on meanwhile
            const double cost = options_.iou * (1 - iou_of(t.last.box, s.box)) +
                                options_.centre * far / may +
                                options_.feature * feature_distance(t.last, s, units, weights);
            costs.push_back(far > may || t.last.label != s.label ? most : std::min(cost, most));
        }
    return costs;
}

std::vector<SeenThing> TrackLinker::next(std::vector<SeenThing> seen) {
    std::vector<std::int64_t> found(live_.size(), -1);
    const std::vector<double> cost = costs(seen);
    if (!cost.empty())
        found = cheapest_assignment(cost, static_cast<std::int64_t>(live_.size()),
                                    static_cast<std::int64_t>(seen.size()));
    std::vector<Track> live;
    std::vector<bool> linked(seen.size(), false);
    for (std::size_t i = 0; i < live_.size(); ++i) {
        Track t = std::move(live_[i]);
        const auto j = static_cast<std::size_t>(found[i]);
        if (found[i] >= 0 && cost[i * seen.size() + j] < options_.most()) {
            seen[j].box.id = t.last.box.id;
            linked[j] = true;
            note_link(t.last, seen[j]);
            live.push_back({seen[j], 0});
        } else if (++t.unseen <= options_.patience) {
            live.push_back(std::move(t));
        }
    }
    for (std::size_t j = 0; j < seen.size(); ++j) {
        if (linked[j]) continue;
        seen[j].box.id = ++born_;
        live.push_back({seen[j], 0});
    }
    live_ = std::move(live);
    return seen;
}

}  // namespace fovea
