#include "fovea/metrics/tracking.h"

#include <algorithm>
#include <set>

#include "fovea/base/assignment.h"
#include "fovea/base/error.h"
#include "fovea/metrics/signature.h"

namespace fovea {
namespace {

double share(double part, double whole) { return whole > 0 ? part / whole : 0; }

// As many pairs as may be matched, at the least sum of distances: what may not costs more than all
// others together.
std::vector<std::int64_t> matched(std::span<const double> distances, std::int64_t rows,
                                  std::int64_t columns) {
    double sum = 1;
    for (const double d : distances) sum += d >= 0 ? d : 0;
    std::vector<double> costs(distances.begin(), distances.end());
    for (double& c : costs)
        if (c < 0) c = 2 * sum;
    std::vector<std::int64_t> column = cheapest_assignment(costs, rows, columns);
    for (std::size_t r = 0; r < column.size(); ++r)
        if (column[r] >= 0 &&
            distances[r * static_cast<std::size_t>(columns) + static_cast<std::size_t>(column[r])] <
                0)
            column[r] = -1;
    return column;
}

}  // namespace

double iou_of(const TrackBox& a, const TrackBox& b) {
    const double across = std::min(a.x + a.width, b.x + b.width) - std::max(a.x, b.x),
                 down = std::min(a.y + a.height, b.y + b.height) - std::max(a.y, b.y);
    if (across <= 0 || down <= 0) return 0;
    const double both = across * down;
    return both / (a.width * a.height + b.width * b.height - both);
}

TrackingCounts& TrackingCounts::operator+=(const TrackingCounts& o) {
    frames += o.frames;
    objects += o.objects;
    found += o.found;
    matches += o.matches;
    switches += o.switches;
    misses += o.misses;
    false_alarms += o.false_alarms;
    fragments += o.fragments;
    same_identity += o.same_identity;
    distances += o.distances;
    return *this;
}

double TrackingCounts::mota() const {
    return objects > 0 ? 1 - share(static_cast<double>(misses + false_alarms + switches),
                                   static_cast<double>(objects))
                       : 0;
}
double TrackingCounts::motp() const {
    return share(distances, static_cast<double>(matches + switches));
}
double TrackingCounts::idf1() const {
    return share(2.0 * static_cast<double>(same_identity), static_cast<double>(objects + found));
}
double TrackingCounts::id_precision() const {
    return share(static_cast<double>(same_identity), static_cast<double>(found));
}
double TrackingCounts::id_recall() const {
    return share(static_cast<double>(same_identity), static_cast<double>(objects));
}
double TrackingCounts::precision() const {
    return share(static_cast<double>(matches + switches), static_cast<double>(found));
}
double TrackingCounts::recall() const {
    return share(static_cast<double>(matches + switches), static_cast<double>(objects));
}

MetricScore TrackingCounts::score(double least_iou) const {
    MetricScore s;
    s.name = "IDF1";
    s.value = 100 * idf1();
    s.signature = text_of("iou:", least_iou, "|boxes|", signature_version);
    s.figures = {{"idf1", s.value},
                 {"mota", 100 * mota()},
                 {"motp", motp()},
                 {"id_precision", 100 * id_precision()},
                 {"id_recall", 100 * id_recall()},
                 {"precision", 100 * precision()},
                 {"recall", 100 * recall()},
                 {"switches", switches},
                 {"fragments", fragments},
                 {"misses", misses},
                 {"false_alarms", false_alarms},
                 {"objects", objects},
                 {"frames", frames}};
    return s;
}

void TrackingScorer::add(std::span<const TrackBox> truth, std::span<const TrackBox> found) {
    std::vector<std::int64_t> true_ids, found_ids;
    for (const TrackBox& b : truth) true_ids.push_back(b.id);
    for (const TrackBox& b : found) found_ids.push_back(b.id);
    std::vector<double> distances;
    for (const TrackBox& t : truth)
        for (const TrackBox& f : found) {
            const double iou = iou_of(t, f);
            distances.push_back(iou >= least_iou_ ? 1 - iou : never);
        }
    add(true_ids, found_ids, distances);
}

void TrackingScorer::add(std::span<const std::int64_t> truth, std::span<const std::int64_t> found,
                         std::span<const double> distances) {
    const std::size_t n = found.size();
    expect(distances.size() == truth.size() * n, "tracking: ", distances.size(), " distances for ",
           truth.size(), " true and ", n, " found objects");
    expect(std::set(truth.begin(), truth.end()).size() == truth.size() &&
               std::set(found.begin(), found.end()).size() == n,
           "tracking: a track is twice in a frame");
    for (const std::int64_t id : truth) ++true_frames_[id];
    for (const std::int64_t id : found) ++found_frames_[id];
    for (std::size_t i = 0; i < truth.size(); ++i)
        for (std::size_t j = 0; j < n; ++j)
            if (distances[i * n + j] >= 0) ++together_[{truth[i], found[j]}];
    std::vector<std::int64_t> partner(truth.size(), -1);  // indices of `found`
    keep_matches(truth, found, distances, partner);
    match_rest(truth, found, distances, partner);
    std::int64_t pairs = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) {
        Followed& f = followed_[truth[i]];
        if (partner[i] < 0) {
            f.lost = true;
            continue;
        }
        ++pairs;
        counts_.distances += distances[i * n + static_cast<std::size_t>(partner[i])];
        if (f.ever && f.lost) ++counts_.fragments;
        f = {true, false};
    }
    ++counts_.frames;
    counts_.objects += static_cast<std::int64_t>(truth.size());
    counts_.found += static_cast<std::int64_t>(n);
    counts_.misses += static_cast<std::int64_t>(truth.size()) - pairs;
    counts_.false_alarms += static_cast<std::int64_t>(n) - pairs;
}

void TrackingScorer::keep_matches(std::span<const std::int64_t> truth,
                                  std::span<const std::int64_t> found,
                                  std::span<const double> distances,
                                  std::vector<std::int64_t>& partner) {
    std::set<std::size_t> taken;  // two true tracks may have had one partner at different times
    for (std::size_t i = 0; i < truth.size(); ++i) {
        const auto last = last_partner_.find(truth[i]);
        if (last == last_partner_.end()) continue;
        const auto at = std::find(found.begin(), found.end(), last->second);
        const auto j = static_cast<std::size_t>(at - found.begin());
        if (at == found.end() || distances[i * found.size() + j] < 0 || !taken.insert(j).second)
            continue;
        partner[i] = static_cast<std::int64_t>(j);
        ++counts_.matches;
    }
}

void TrackingScorer::match_rest(std::span<const std::int64_t> truth,
                                std::span<const std::int64_t> found,
                                std::span<const double> distances,
                                std::vector<std::int64_t>& partner) {
    const std::size_t n = found.size();
    std::vector<double> left(distances.begin(), distances.end());
    for (std::size_t i = 0; i < truth.size(); ++i) {
        if (partner[i] < 0) continue;
        for (std::size_t j = 0; j < n; ++j) left[i * n + j] = never;
        for (std::size_t k = 0; k < truth.size(); ++k)
            left[k * n + static_cast<std::size_t>(partner[i])] = never;
    }
    if (left.empty()) return;
    const std::vector<std::int64_t> new_partner =
        matched(left, static_cast<std::int64_t>(truth.size()), static_cast<std::int64_t>(n));
    for (std::size_t i = 0; i < truth.size(); ++i) {
        if (new_partner[i] < 0) continue;
        partner[i] = new_partner[i];
        const std::int64_t id = found[static_cast<std::size_t>(new_partner[i])];
        const auto last = last_partner_.find(truth[i]);
        ++(last != last_partner_.end() && last->second != id ? counts_.switches : counts_.matches);
        last_partner_[truth[i]] = id;
    }
}

// The identities of both sides are matched such that most boxes agree.
TrackingCounts TrackingScorer::counts() const {
    std::map<std::int64_t, std::size_t> column;
    for (const auto& [id, frames] : found_frames_) column.emplace(id, column.size());
    TrackingCounts c = counts_;
    std::vector<double> costs;
    for (const auto& [id, frames] : true_frames_) {
        std::vector<double> row(column.size(), 0.0);
        for (const auto& [other, j] : column)
            if (const auto both = together_.find({id, other}); both != together_.end())
                row[j] = -static_cast<double>(both->second);
        costs.insert(costs.end(), row.begin(), row.end());
    }
    if (costs.empty()) return c;
    const std::vector<std::int64_t> partner =
        cheapest_assignment(costs, static_cast<std::int64_t>(true_frames_.size()),
                            static_cast<std::int64_t>(column.size()));
    for (std::size_t i = 0; i < partner.size(); ++i)
        if (partner[i] >= 0)
            c.same_identity -= static_cast<std::int64_t>(
                costs[i * column.size() + static_cast<std::size_t>(partner[i])]);
    return c;
}

}  // namespace fovea
