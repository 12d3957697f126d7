#include "fovea/ops/rows/positions.h"

#include <cmath>
#include <map>
#include <mutex>
#include <utility>

#include "fovea/autograd/tape.h"
#include "fovea/kernels/rotary.h"
#include "fovea/kernels/rows/embedding.h"
#include "fovea/ops/arguments.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {
namespace {

void fill_row(float* row, std::int64_t position, std::int64_t d, SinusoidForm form) {
    const std::int64_t half = (d + 1) / 2;
    for (std::int64_t i = 0; i < half; ++i) {
        const double exponent =
            form == SinusoidForm::spread
                ? static_cast<double>(i) / static_cast<double>(std::max<std::int64_t>(1, half - 1))
                : 2.0 * static_cast<double>(i) / static_cast<double>(d);
        const double angle = static_cast<double>(position) * std::pow(10000.0, -exponent);
        const std::int64_t sine = form == SinusoidForm::paper ? 2 * i : i;
        const std::int64_t cosine = form == SinusoidForm::paper ? 2 * i + 1 : half + i;
        row[sine] = static_cast<float>(std::sin(angle));
        if (cosine < d) row[cosine] = static_cast<float>(std::cos(angle));
    }
}

// A table of the first positions for each (d, form), grown by doubling and kept: a step of training
// would otherwise spend tens of milliseconds in sin and cos.
Tensor sinusoid_table(std::int64_t rows, std::int64_t d, SinusoidForm form) {
    static std::mutex mutex;
    static auto& tables = *new std::map<std::pair<std::int64_t, SinusoidForm>, Tensor>;
    const std::lock_guard<std::mutex> lock(mutex);
    Tensor& table = tables[{d, form}];
    const std::int64_t have = table.empty() ? 0 : table.rows();
    if (rows <= have) return table;
    Tensor grown({std::max<std::int64_t>(rows, std::max<std::int64_t>(128, 2 * have)), d});
    for (std::int64_t p = 0; p < grown.rows(); ++p) fill_row(grown.view().row(p), p, d, form);
    return table = grown;
}

std::int64_t rows_for(const Ids& positions) {
    std::int64_t rows = 1;
    for (const std::int32_t p : positions) rows = std::max<std::int64_t>(rows, p + std::int64_t{1});
    return rows;
}

}  // namespace

Ids position_ids(const Segments& segments, const Positions& at) {
    expect(at.first.empty() || static_cast<std::int64_t>(at.first.size()) == segments.count(),
           "positions: ", at.first.size(), " first positions for ", segments.count(), " sequences");
    Ids ids;
    ids.reserve(static_cast<std::size_t>(segments.total()));
    for (std::int64_t s = 0; s < segments.count(); ++s) {
        const std::int64_t first =
            at.offset + (at.first.empty() ? 0 : at.first[static_cast<std::size_t>(s)]);
        expect(first >= 0 && first + segments.length(s) < (std::int64_t{1} << 31),
               "positions: sequence ", s, " begins at ", first);
        for (std::int64_t i = 0; i < segments.length(s); ++i)
            ids.push_back(static_cast<std::int32_t>(first + i));
    }
    return ids;
}

//   y[row] = sines and cosines of its position       y [total, d]; no gradient
Tensor sinusoid(const Segments& segments, std::int64_t d, SinusoidForm form, const Positions& at) {
    expect(d > 0, "sinusoid: d is ", d, " but must be positive");
    const Ids ids = position_ids(segments, at);
    Tensor y({segments.total(), d});
    kernels::gather_rows(sinusoid_table(rows_for(ids), d, form), ids, y.view());
    y.set_row_names(segments);
    return y;
}

//   y[row] = table[position of row]    dtable as gather_rows
Tensor learned_positions(const Tensor& table, const Segments& segments, const Positions& at) {
    expect(!table.empty(), "positions: the table is an empty tensor");
    const Ids ids = position_ids(segments, at);
    for (std::int64_t s = 0; s < segments.count(); ++s) {
        if (segments.length(s) == 0) continue;
        const std::int64_t last = ids[static_cast<std::size_t>(segments.end(s) - 1)];
        expect_input(last < table.rows(), "positions: sequence ", s, " of ", segments.length(s),
                     " rows needs position ", last, " but the table has ", table.rows());
    }
    Tensor y = gather_rows(table, ids);
    y.set_row_names(segments);
    return y;
}

//   y[2i] = x[2i] cos − x[2i+1] sin    y[2i+1] = x[2i] sin + x[2i+1] cos     angle =
//   p·10000^(−2i/dk) dx = the same rotated back: the map is orthogonal           x, y [total,
//   heads·dk]
Tensor rotary(const Tensor& x, int heads, const Segments& segments, const Positions& at) {
    expect_f32("rotary", "x", x);
    expect(x.rows() == segments.total(), "rotary: x is ", x.shape(), " but the segments have ",
           segments.total(), " rows");
    expect(heads > 0 && x.cols() % heads == 0, "rotary: x is ", x.shape(),
           " but its columns must split into ", heads, " heads");
    const std::int64_t dk = x.cols() / heads;
    expect(dk % 2 == 0, "rotary: a head has ", dk, " columns but must have an even number");
    const Ids positions = position_ids(segments, at);
    const Tensor table = sinusoid_table(rows_for(positions), dk, SinusoidForm::paper);

    Tensor y(x.shape());
    kernels::rotary(x, dk, table, positions, kernels::Turn::forward, y.view(), false);
    y.set_row_names(segments);

    return record(
        y, {x}, [x = GradTarget(x), dk, table, positions](const Tensor& dy, Gradients& d) {
            if (!d.wants(x)) return;
            const Into dx = d.into(x);
            kernels::rotary(dy, dk, table, positions, kernels::Turn::back, dx.view, dx.add);
        });
}

}  // namespace fovea
