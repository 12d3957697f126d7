#include <algorithm>
#include <cmath>

#include "fovea/base/checked.h"
#include "fovea/tensor/visibility.h"

namespace fovea {
namespace {

// Self-visibility: one group a sequence; row i of the n rows of sequence g sees interval(g, i, n).
template <class Interval>
Visibility within(const Segments& s, Interval&& interval) {
    VisibilityBuilder b(s.total());
    for (std::int64_t g = 0; g < s.count(); ++g) {
        const std::int64_t n = s.length(g);
        b.group({.keys = {{s.begin(g), n}}, .position = 0});
        for (std::int64_t i = 0; i < n; ++i) b.row({interval(g, i, n)});
    }
    return b.build();
}

std::int64_t length_of(const KeyList& list) {
    std::int64_t n = 0;
    for (const KeyRun& run : list) n = checked_add(n, run.count, "visibility");
    return n;
}

KeyList list_of(const VisibilityView& v, const VisibleGroup& g) {
    const auto runs = v.runs_of(g);
    return {runs.begin(), runs.end()};
}

}  // namespace

Visibility everything(const Segments& q, const Segments& k) {
    expect(q.count() == k.count(), "everything: ", q.count(), " query sequences but ", k.count(),
           " key sequences");
    VisibilityBuilder b(k.total());
    for (std::int64_t g = 0; g < q.count(); ++g) {
        b.group({.keys = {{k.begin(g), k.length(g)}}, .position = 0});
        for (std::int64_t i = 0; i < q.length(g); ++i) b.row({{0, k.length(g)}});
    }
    return b.build();
}

Visibility everything(const Segments& q, std::span<const KeyList> lists, std::int64_t keys) {
    expect(q.count() == static_cast<std::int64_t>(lists.size()), "everything: ", q.count(),
           " query sequences but ", lists.size(), " key lists");
    VisibilityBuilder b(keys);
    for (std::int64_t g = 0; g < q.count(); ++g) {
        const KeyList& list = lists[static_cast<std::size_t>(g)];
        b.group({.keys = list, .position = 0});
        for (std::int64_t i = 0; i < q.length(g); ++i) b.row({{0, length_of(list)}});
    }
    return b.build();
}

Visibility past(const Segments& s) { return window(s, s.total(), 0); }

Visibility before(const Segments& s) {
    return within(s, [](std::int64_t, std::int64_t i, std::int64_t) { return KeyInterval{0, i}; });
}

Visibility window(const Segments& s, std::int64_t left, std::int64_t right) {
    expect(left >= 0 && right >= 0, "window: ", left, " to the left and ", right,
           " to the right, but neither may be negative");
    return within(s, [=](std::int64_t, std::int64_t i, std::int64_t n) {
        return KeyInterval{i - std::min(i, left), i + std::min(right, n - i - 1) + 1};
    });
}

Visibility past(std::span<const KeyList> lists, const Segments& fresh, std::int64_t keys) {
    expect(fresh.count() == static_cast<std::int64_t>(lists.size()), "past: ", fresh.count(),
           " sequences of new rows but ", lists.size(), " key lists");
    VisibilityBuilder b(keys);
    for (std::int64_t g = 0; g < fresh.count(); ++g) {
        const KeyList& list = lists[static_cast<std::size_t>(g)];
        const std::int64_t old = length_of(list) - fresh.length(g);
        expect(old >= 0, "past: sequence ", g, " has ", fresh.length(g), " new rows but only ",
               length_of(list), " keys; the new rows must be part of the list");
        b.group({.keys = list, .position = old});
        for (std::int64_t i = 0; i < fresh.length(g); ++i) b.row({{0, old + i + 1}});
    }
    return b.build();
}

Visibility past(const Segments& memory, const Segments& s) { return with_memory(memory, past(s)); }

Visibility with_memory(const Segments& memory, const Visibility& own) {
    const VisibilityView v = own.view();
    expect(memory.count() == static_cast<std::int64_t>(v.groups.size()),
           "with_memory: ", memory.count(), " memories but ", v.groups.size(), " sequences");
    VisibilityBuilder b(checked_add(memory.total(), v.keys, "with_memory"));
    std::vector<KeyInterval> intervals;
    for (std::size_t g = 0; g < v.groups.size(); ++g) {
        const VisibleGroup& group = v.groups[g];
        const auto m = static_cast<std::int64_t>(g);
        const std::int64_t length = memory.length(m);
        KeyList keys{{memory.begin(m), length}};
        for (const KeyRun& run : v.runs_of(group))
            keys.push_back({memory.total() + run.row, run.count});
        b.group({.keys = keys, .position = group.position + length});
        for (std::int64_t i = group.q_begin; i < group.q_end; ++i) {
            intervals.assign(1, {0, length});
            for (const KeyInterval& x : v.of_row(i))
                intervals.push_back({x.begin + length, x.end + length});
            b.row(intervals);
        }
    }
    return b.build();
}

Visibility prefix(const Segments& s, std::int64_t p) {
    return prefix(s, std::vector<std::int64_t>(static_cast<std::size_t>(s.count()), p));
}

Visibility prefix(const Segments& s, std::span<const std::int64_t> p) {
    expect(s.count() == static_cast<std::int64_t>(p.size()), "prefix: ", s.count(),
           " sequences but ", p.size(), " prefix lengths");
    for (std::size_t g = 0; g < p.size(); ++g)
        expect(p[g] >= 0, "prefix: the prefix of sequence ", g, " is ", p[g], " rows long");
    return within(s, [p](std::int64_t g, std::int64_t i, std::int64_t n) {
        return KeyInterval{0, std::min(n, std::max(p[static_cast<std::size_t>(g)], i + 1))};
    });
}

Visibility around(const Segments& q, const Segments& k, std::span<const float> centres, double d) {
    expect(q.count() == k.count(), "around: ", q.count(), " query sequences but ", k.count(),
           " key sequences");
    expect(static_cast<std::int64_t>(centres.size()) == q.total(), "around: ", centres.size(),
           " centres but ", q.total(), " query rows");
    expect(d >= 0, "around: the half width is ", d, " but must not be negative");
    VisibilityBuilder b(k.total());
    for (std::int64_t g = 0; g < q.count(); ++g) {
        const auto n = static_cast<double>(k.length(g));
        b.group({.keys = {{k.begin(g), k.length(g)}}, .position = 0});
        for (std::int64_t i = q.begin(g); i < q.end(g); ++i) {
            const double c = centres[static_cast<std::size_t>(i)];
            expect(std::isfinite(c), "around: the centre of query row ", i, " is ", c);
            b.row({{static_cast<std::int64_t>(std::clamp(std::ceil(c - d), 0.0, n)),
                    static_cast<std::int64_t>(std::clamp(std::floor(c + d) + 1, 0.0, n))}});
        }
    }
    return b.build();
}

Visibility columns(const Segments& s, std::span<const std::int64_t> cols) {
    VisibilityBuilder b(s.total());
    std::vector<KeyInterval> intervals;
    for (std::int64_t g = 0; g < s.count(); ++g) {
        intervals.clear();
        for (const std::int64_t c : cols) {
            expect(c >= 0, "columns: column ", c, " is negative");
            if (c < s.length(g)) intervals.push_back({c, c + 1});
        }
        b.group({.keys = {{s.begin(g), s.length(g)}}, .position = 0});
        for (std::int64_t i = 0; i < s.length(g); ++i) b.row(intervals);
    }
    return b.build();
}

Visibility columns(const Segments& s, std::initializer_list<std::int64_t> cols) {
    return columns(s, std::span<const std::int64_t>(cols.begin(), cols.size()));
}

Visibility global_rows(const Segments& s, std::span<const std::int64_t> which) {
    for (const std::int64_t r : which) expect(r >= 0, "global_rows: row ", r, " is negative");
    return within(s, [which](std::int64_t, std::int64_t i, std::int64_t n) {
        const bool all = std::find(which.begin(), which.end(), i) != which.end();
        return KeyInterval{0, all ? n : 0};
    });
}

Visibility global_rows(const Segments& s, std::initializer_list<std::int64_t> which) {
    return global_rows(s, std::span<const std::int64_t>(which.begin(), which.size()));
}

Visibility window_2d(std::int64_t images, std::int64_t height, std::int64_t width, std::int64_t ry,
                     std::int64_t rx) {
    expect(images >= 0 && height >= 0 && width >= 0 && ry >= 0 && rx >= 0, "window_2d: ", images,
           " images of ", height, " x ", width, " with radii ", ry, " and ", rx,
           ", but no size may be negative");
    const std::int64_t area = checked_mul(height, width, "window_2d");
    VisibilityBuilder b(checked_mul(images, area, "window_2d"));
    std::vector<KeyInterval> intervals;
    for (std::int64_t image = 0; image < images; ++image) {
        b.group({.keys = {{image * area, area}}, .position = 0});
        for (std::int64_t y = 0; y < height; ++y)
            for (std::int64_t x = 0; x < width; ++x) {
                intervals.clear();
                const std::int64_t y_end = y + std::min(ry, height - y - 1) + 1;
                const std::int64_t x_end = x + std::min(rx, width - x - 1) + 1;
                for (std::int64_t yy = y - std::min(y, ry); yy < y_end; ++yy)
                    intervals.push_back({yy * width + x - std::min(x, rx), yy * width + x_end});
                b.row(intervals);
            }
    }
    return b.build();
}

Visibility unite(const Visibility& a, const Visibility& b) {
    const VisibilityView va = a.view(), vb = b.view();
    expect(va.queries == vb.queries && va.groups.size() == vb.groups.size(), "unite: ", va.queries,
           " query rows in ", va.groups.size(), " groups but ", vb.queries, " in ",
           vb.groups.size());
    VisibilityBuilder builder(std::max(va.keys, vb.keys));
    std::vector<KeyInterval> intervals;
    for (std::size_t g = 0; g < va.groups.size(); ++g) {
        const VisibleGroup &ga = va.groups[g], &gb = vb.groups[g];
        expect(ga.q_end == gb.q_end, "unite: group ", g, " ends at query row ", ga.q_end,
               " but at ", gb.q_end);
        KeyList keys = list_of(va, ga);
        const KeyList more = list_of(vb, gb);
        const std::int64_t shift = keys == more ? 0 : ga.keys;
        if (shift > 0 || ga.keys == 0) keys.insert(keys.end(), more.begin(), more.end());
        builder.group({.keys = keys, .position = ga.position});
        for (std::int64_t i = ga.q_begin; i < ga.q_end; ++i) {
            const auto own = va.of_row(i);
            intervals.assign(own.begin(), own.end());
            for (const KeyInterval& x : vb.of_row(i))
                intervals.push_back({x.begin + shift, x.end + shift});
            builder.row(intervals);
        }
    }
    return builder.build();
}

Visibility shift_keys(const Visibility& sees, std::int64_t first, std::int64_t keys) {
    const VisibilityView v = sees.view();
    expect(first >= 0 && checked_add(first, v.keys, "shift_keys") <= keys, "shift_keys: ", v.keys,
           " keys from row ", first, " do not fit into ", keys);
    VisibilityBuilder b(keys);
    for (const VisibleGroup& g : v.groups) {
        KeyList list = list_of(v, g);
        for (KeyRun& run : list) run.row += first;
        b.group({.keys = list, .position = g.position});
        for (std::int64_t i = g.q_begin; i < g.q_end; ++i) b.row(v.of_row(i));
    }
    return b.build();
}

}  // namespace fovea
