#include "fovea/metrics/detection.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/metrics/signature.h"

namespace fovea {
namespace {

constexpr std::size_t thresholds = 10, recall_points = 101, most_boxes = 100;

double threshold_at(std::size_t t) {  // 0.5, 0.55, … 0.95, as numpy's linspace has them
    return t + 1 == thresholds ? 0.95 : static_cast<double>(t) * ((0.95 - 0.5) / 9) + 0.5;
}
double recall_at(std::size_t r) {
    return r + 1 == recall_points ? 1.0 : static_cast<double>(r) * 0.01;
}

struct AreaRange {
    double least, most;
    bool outside(double area) const { return area < least || area > most; }
};
constexpr AreaRange all_areas{0, 1e10}, small_areas{0, 1024}, medium_areas{1024, 9216},
    large_areas{9216, 1e10};

// One picture and category: boxes by falling score, and their overlaps with the wanted ones.
struct Candidates {
    std::vector<const FoundBox*> found;
    std::vector<const WantedBox*> wanted;
    std::vector<double> overlaps;  // [found, wanted]

    Candidates(const PictureBoxes& p, int category) {
        for (const FoundBox& f : p.found)
            if (f.category == category) found.push_back(&f);
        for (const WantedBox& w : p.wanted)
            if (w.category == category) wanted.push_back(&w);
        std::stable_sort(found.begin(), found.end(),
                         [](const FoundBox* a, const FoundBox* b) { return a->score > b->score; });
        if (found.size() > most_boxes) found.resize(most_boxes);
        for (const FoundBox* f : found)
            for (const WantedBox* w : wanted)
                overlaps.push_back(box_overlap(f->box, w->box, w->crowd));
    }
};

// What became of the boxes of one picture and category under one area range.
struct Matches {
    std::vector<double> scores;
    std::vector<bool> right, ignored;  // [thresholds, found]
    std::int64_t counted = 0;          // wanted boxes that are not ignored
};

class Matcher {
public:
    Matcher(const Candidates& c, const AreaRange& range) : c_(c), range_(range) {
        for (const WantedBox* w : c.wanted) skip_.push_back(w->crowd || range.outside(w->area));
        order_.resize(c.wanted.size());
        std::iota(order_.begin(), order_.end(), std::size_t{0});
        // those that count go first
        std::stable_sort(order_.begin(), order_.end(),
                         [&](std::size_t a, std::size_t b) { return skip_[a] < skip_[b]; });
    }

    Matches run() const {
        Matches m;
        m.counted = std::count(skip_.begin(), skip_.end(), false);
        for (const FoundBox* f : c_.found) m.scores.push_back(f->score);
        for (std::size_t t = 0; t < thresholds; ++t) match(t, m);
        return m;
    }

private:
    void match(std::size_t t, Matches& m) const {
        std::vector<bool> taken(c_.wanted.size(), false);
        for (std::size_t f = 0; f < c_.found.size(); ++f) {
            const std::size_t best = best_for(f, threshold_at(t), taken);
            if (best != none) taken[best] = true;
            m.right.push_back(best != none);
            m.ignored.push_back(best != none ? skip_[best]
                                             : range_.outside(c_.found[f]->box.area()));
        }
    }

    // The wanted box that overlaps most; one that counts goes before one that is ignored. A crowd
    // may be taken many times.
    std::size_t best_for(std::size_t f, double threshold, const std::vector<bool>& taken) const {
        double least = std::min(threshold, 1 - 1e-10);
        std::size_t best = none;
        for (const std::size_t w : order_) {
            if (taken[w] && !c_.wanted[w]->crowd) continue;
            if (best != none && !skip_[best] && skip_[w]) break;
            const double overlap = c_.overlaps[f * c_.wanted.size() + w];
            if (overlap < least) continue;
            least = overlap;
            best = w;
        }
        return best;
    }

    static constexpr std::size_t none = SIZE_MAX;
    const Candidates& c_;
    AreaRange range_;
    std::vector<bool> skip_;
    std::vector<std::size_t> order_;
};

// Precision at each recall point and the last recall, for each threshold; −1: nothing to find.
struct Curve {
    double precision[thresholds][recall_points];
    double recall[thresholds];
    bool any = false;
};

struct RankedBox {
    double score;
    std::size_t picture, place;
};

void trace(const std::vector<Matches>& all, const std::vector<RankedBox>& ranked, std::size_t t,
           double wanted, Curve& curve) {
    std::vector<double> recalls, precisions;
    double right = 0, wrong = 0;
    for (const RankedBox& r : ranked) {
        const Matches& m = all[r.picture];
        const std::size_t at = t * m.scores.size() + r.place;
        if (!m.ignored[at]) (m.right[at] ? right : wrong) += 1;
        recalls.push_back(right / wanted);
        precisions.push_back(right / (right + wrong + std::numeric_limits<double>::epsilon()));
    }
    curve.recall[t] = recalls.empty() ? 0 : recalls.back();
    for (std::size_t i = precisions.size(); i-- > 1;)
        precisions[i - 1] = std::max(precisions[i - 1], precisions[i]);
    for (std::size_t r = 0; r < recall_points; ++r) {
        const auto at = std::lower_bound(recalls.begin(), recalls.end(), recall_at(r));
        curve.precision[t][r] =
            at == recalls.end() ? 0 : precisions[static_cast<std::size_t>(at - recalls.begin())];
    }
}

// All pictures of one category, with at most so many boxes of each.
Curve curve_of(const std::vector<Matches>& all, std::size_t most) {
    Curve curve{};
    std::int64_t wanted = 0;
    std::vector<RankedBox> ranked;
    for (std::size_t p = 0; p < all.size(); ++p) {
        wanted += all[p].counted;
        for (std::size_t i = 0; i < all[p].scores.size() && i < most; ++i)
            ranked.push_back({all[p].scores[i], p, i});
    }
    if (wanted == 0) return curve;
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const RankedBox& a, const RankedBox& b) { return a.score > b.score; });
    curve.any = true;
    for (std::size_t t = 0; t < thresholds; ++t)
        trace(all, ranked, t, static_cast<double>(wanted), curve);
    return curve;
}

double mean_precision(const Curve& c, std::size_t first, std::size_t past) {
    double sum = 0;
    for (std::size_t t = first; t < past; ++t)
        for (const double p : c.precision[t]) sum += p;
    return sum / static_cast<double>((past - first) * recall_points);
}
double mean_recall(const Curve& c) {
    double sum = 0;
    for (const double r : c.recall) sum += r;
    return sum / thresholds;
}

template <class Figure>
double mean_over_categories(const std::vector<Curve>& curves, const Figure& figure) {
    double sum = 0;
    int counted = 0;
    for (const Curve& c : curves)
        if (c.any) {
            sum += figure(c);
            ++counted;
        }
    return counted ? sum / counted : -1;
}

}  // namespace

double box_overlap(const Box& found, const Box& wanted, bool crowd) {
    const double w =
        std::min(found.x + found.width, wanted.x + wanted.width) - std::max(found.x, wanted.x);
    const double h =
        std::min(found.y + found.height, wanted.y + wanted.height) - std::max(found.y, wanted.y);
    if (w <= 0 || h <= 0) return 0;
    const double both = w * h;
    const double all = crowd ? found.area() : found.area() + wanted.area() - both;
    return both / all;
}

DetectionScore detection_score(std::span<const PictureBoxes> pictures, int categories) {
    expect(categories > 0, "detection: ", categories, " categories");
    // Curves of each category under an area range.
    const auto curves_of = [&](const AreaRange& range, std::size_t most) {
        std::vector<Curve> curves;
        for (int c = 0; c < categories; ++c) {
            std::vector<Matches> all;
            for (const PictureBoxes& p : pictures) {
                const Candidates candidates(p, c);
                all.push_back(Matcher(candidates, range).run());
            }
            curves.push_back(curve_of(all, most));
        }
        return curves;
    };
    const auto whole = [](const Curve& c) { return mean_precision(c, 0, thresholds); };
    const auto at_50 = [](const Curve& c) { return mean_precision(c, 0, 1); };
    const auto at_75 = [](const Curve& c) { return mean_precision(c, 5, 6); };
    DetectionScore s;
    const std::vector<Curve> all = curves_of(all_areas, most_boxes);
    s.ap = mean_over_categories(all, whole);
    s.ap50 = mean_over_categories(all, at_50);
    s.ap75 = mean_over_categories(all, at_75);
    s.ar100 = mean_over_categories(all, mean_recall);
    s.ar1 = mean_over_categories(curves_of(all_areas, 1), mean_recall);
    s.ar10 = mean_over_categories(curves_of(all_areas, 10), mean_recall);
    const auto by_area = [&](const AreaRange& range, double& ap, double& ar) {
        const std::vector<Curve> curves = curves_of(range, most_boxes);
        ap = mean_over_categories(curves, whole);
        ar = mean_over_categories(curves, mean_recall);
    };
    by_area(small_areas, s.ap_small, s.ar_small);
    by_area(medium_areas, s.ap_medium, s.ar_medium);
    by_area(large_areas, s.ap_large, s.ar_large);
    for (const Curve& c : all) {
        s.category_ap.push_back(c.any ? whole(c) : -1);
        s.category_ap50.push_back(c.any ? at_50(c) : -1);
    }
    return s;
}

MetricScore DetectionScore::score(std::span<const std::string> labels) const {
    static constexpr const char* names[] = {"ap",        "ap50",     "ap75",      "ap_small",
                                            "ap_medium", "ap_large", "ar1",       "ar10",
                                            "ar100",     "ar_small", "ar_medium", "ar_large"};
    MetricScore m;
    m.name = "AP50";
    m.value = 100 * std::max(ap50, 0.0);
    m.signature = text_of("iou:0.5|points:101|boxes:100|", signature_version);
    const std::array<double, 12> all = figures();
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i] >= 0) m.figures[names[i]] = 100 * all[i];
    for (std::size_t c = 0; c < labels.size() && c < category_ap.size(); ++c)
        if (category_ap[c] >= 0)
            m.figures["classes"][labels[c]] = {{"ap", 100 * category_ap[c]},
                                               {"ap50", 100 * category_ap50[c]}};
    return m;
}

}  // namespace fovea
