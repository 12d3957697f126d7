#pragma once
// Boxes of many pictures in one JSON file, as COCO has them (Lin et al. 2014): "images",
// "categories" and "annotations", tied together by numbers. Files are hostile: every number that
// names something must name it once, and what an annotation names must be there.
// Thread-safety: pure functions.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fovea {

struct CocoPicture {
    std::int64_t id = 0;
    std::string file;                    // relative to the folder of pictures
    std::int64_t height = 0, width = 0;  // 0: not told
};

struct CocoCategory {
    std::int64_t id = 0;
    std::string name;
};

struct CocoThing {
    std::size_t picture = 0, category = 0;  // places in the lists
    std::array<double, 4> box{};            // x, y, width, height
    double area = 0;
    bool crowd = false;
};

struct CocoFile {
    std::vector<CocoPicture> pictures;
    std::vector<CocoCategory> categories;
    std::vector<CocoThing> things;
};

// `where` names the file in errors.
CocoFile parse_coco(std::string_view json, const std::string& where);

// Does the text look like such a file? By its first bytes alone.
bool looks_like_coco(std::string_view beginning);

}  // namespace fovea
