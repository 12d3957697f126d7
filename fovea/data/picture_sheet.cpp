#include "fovea/data/picture_sheet.h"

#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"

namespace fovea {

Picture picture_sheet(std::span<const std::vector<Picture>> rows, const SheetOptions& o) {
    std::size_t columns = 0;
    const Picture* first = nullptr;
    for (const std::vector<Picture>& row : rows) {
        columns = std::max(columns, row.size());
        if (!first && !row.empty()) first = &row[0];
    }
    expect(first != nullptr && o.scale > 0, "a sheet of no pictures");
    const std::int64_t down = std::int64_t{first->height} * o.scale + o.gap,
                       across = std::int64_t{first->width} * o.scale + o.gap;
    Picture sheet = blank_picture(static_cast<std::int64_t>(rows.size()) * down + o.gap,
                                  static_cast<std::int64_t>(columns) * across + o.gap,
                                  first->channels, "a sheet of pictures");
    std::fill(sheet.pixels.begin(), sheet.pixels.end(), o.ground);
    for (std::size_t r = 0; r < rows.size(); ++r)
        for (std::size_t c = 0; c < rows[r].size(); ++c) {
            const Picture& p = rows[r][c];
            expect(p.height == first->height && p.width == first->width &&
                       p.channels == first->channels,
                   "a sheet of pictures: they differ in size");
            const auto top =
                           static_cast<std::uint32_t>(static_cast<std::int64_t>(r) * down) + o.gap,
                       left = static_cast<std::uint32_t>(static_cast<std::int64_t>(c) * across) +
                              o.gap;
            for (std::uint32_t y = 0; y < p.height * o.scale; ++y)
                for (std::uint32_t x = 0; x < p.width * o.scale; ++x)
                    std::copy_n(p.at(y / o.scale, x / o.scale), p.channels,
                                sheet.at(top + y, left + x));
        }
    return sheet;
}

std::vector<std::size_t> nearest_pictures(const Picture& picture, std::span<const Picture> among,
                                          std::size_t count) {
    std::vector<std::int64_t> distances(among.size(), 0);
    for (std::size_t i = 0; i < among.size(); ++i) {
        expect(among[i].pixels.size() == picture.pixels.size(),
               "nearest pictures: they differ in size");
        for (std::size_t k = 0; k < picture.pixels.size(); ++k) {
            const int d = int{picture.pixels[k]} - int{among[i].pixels[k]};
            distances[i] += std::int64_t{d} * d;
        }
    }
    std::vector<std::size_t> order(among.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::size_t kept = std::min(count, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(),
                      [&](std::size_t a, std::size_t b) {
                          return distances[a] != distances[b] ? distances[a] < distances[b] : a < b;
                      });
    order.resize(kept);
    return order;
}

}  // namespace fovea
