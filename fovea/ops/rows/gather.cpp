#include "fovea/ops/rows/gather.h"

#include "fovea/autograd/tape.h"
#include "fovea/kernels/rows/embedding.h"
#include "fovea/ops/arguments.h"

namespace fovea {

//   y[i] = table[ids[i]]    dtable[r] = Σ dy[i] over ids[i] = r, in rising order of i
//   table [rows, d]   ids [n]   y [n, d]
Tensor gather_rows(const Tensor& table, const Ids& ids) {
    expect(!table.empty(), "gather_rows: the table is an empty tensor");
    expect(static_cast<std::int64_t>(ids.size()) < (std::int64_t{1} << 31),
           "gather_rows: ", ids.size(), " ids are too many");
    for (std::size_t i = 0; i < ids.size(); ++i)
        expect(ids[i] >= 0 && ids[i] < table.rows(), "gather_rows: id ", ids[i], " of row ", i,
               " is outside of the table ", table.shape());
    if (is_tracked(table)) expect_f32("gather_rows", "a trained table", table);

    Tensor y({static_cast<std::int64_t>(ids.size()), table.cols()});
    switch (table.format()) {
        case Format::f32:
            kernels::gather_rows(table, ids, y.view());
            break;
        case Format::bf16:
            kernels::gather_rows_bf16(table.bf16_data(), ids, y.view());
            break;
        case Format::int8:
        case Format::int7:
            kernels::gather_rows_int8(table.int8_data(), table.int8_scales().data(), ids, y.view());
    }

    return record(y, {table}, [table, ids](const Tensor& dy, Gradients& d) {
        if (!d.wants(table)) return;
        if (d.takes_rows(table)) {
            const RowsInto rows = d.into_rows(table, ids);
            kernels::scatter_add_rows(dy, rows.places, rows.view, rows.add);
            return;
        }
        const Into dt = d.into(table);
        kernels::scatter_add_rows(dy, ids, {dt.view.data, table.rows(), table.cols()}, dt.add);
    });
}

}  // namespace fovea
