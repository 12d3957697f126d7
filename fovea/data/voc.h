#pragma once
// One picture's boxes in PASCAL VOC's XML (Everingham et al. 2010), read by pugixml, which expands
// no entities. Files are hostile: their size, the number of things, names and numbers are checked.
// Thread-safety: pure functions.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

// Corners are pixels, counted from 1, both inside the box.
struct VocThing {
    std::string label;
    double xmin = 0, ymin = 0, xmax = 0, ymax = 0;
    bool difficult = false;
};

struct VocPicture {
    std::string file;                    // "filename"; empty: not told
    std::int64_t height = 0, width = 0;  // 0: not told
    std::vector<VocThing> things;
};

inline constexpr std::int64_t largest_voc_file = std::int64_t{16} << 20;

// `where` names the file in errors.
VocPicture parse_voc(std::string_view xml, const std::string& where);

}  // namespace fovea
