#include "fovea/data/coco.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "fovea/base/error.h"
#include "fovea/io/picture.h"
#include "fovea/text/json/json_reader.h"

namespace fovea {
namespace {

using text::JsonValue;
using Places = std::map<std::int64_t, std::size_t>;  // id -> place in its list

constexpr double largest_box_number = 1e6;

// A list of the file: {"images": […], …}.
JsonValue coco_list(const JsonValue& root, const char* key) {
    if (!root.is_object() || !root.find(key) || !root.find(key)->is_array())
        fail_with(ErrorKind::bad_input,
                  "COCO's files have \"images\", \"categories\" and \"annotations\"", root.path(),
                  ": has no list \"", key, "\"");
    return root.at(key);
}

void name_once(Places& places, std::int64_t id, const JsonValue& v) {
    const std::size_t place = places.size();
    if (!places.emplace(id, place).second)
        fail_with(ErrorKind::bad_input, "every \"id\" names one thing", v.path(), ": the id ", id,
                  " is there twice");
}

double number_of(const JsonValue& v, double least, double most) {
    const double n = v.number();
    if (!std::isfinite(n) || n < least || n > most)
        fail_with(ErrorKind::bad_input, "sizes are in pixels of the picture", v.path(), ": is ", n,
                  ", but should be from ", least, " to ", most);
    return n;
}

std::int64_t side_of(const JsonValue& picture, const char* key) {
    const auto v = picture.find(key);
    return v ? static_cast<std::int64_t>(number_of(*v, 1, largest_picture_side)) : 0;
}

CocoPicture picture_of(const JsonValue& v) {
    CocoPicture p;
    p.id = v.at("id").integer();
    p.file = std::string(v.at("file_name").string());
    const bool upwards = p.file.find("..") != std::string::npos || p.file.starts_with('/');
    const bool has_zero = p.file.find('\0') != std::string::npos;
    if (p.file.empty() || upwards || has_zero || p.file.size() > 4096) {
        std::string shown = p.file.substr(0, 80);
        std::replace(shown.begin(), shown.end(), '\0', '?');
        fail_with(ErrorKind::bad_input, "names are relative to the folder of pictures", v.path(),
                  ".file_name: \"", shown, "\" is no name of a picture");
    }
    p.height = side_of(v, "height");
    p.width = side_of(v, "width");
    return p;
}

std::size_t named_place(const Places& places, const JsonValue& v, const char* key,
                        const char* list) {
    const std::int64_t id = v.at(key).integer();
    const auto found = places.find(id);
    if (found == places.end())
        fail_with(ErrorKind::bad_input, text_of("an annotation names one of \"", list, "\""),
                  v.path(), ".", key, ": is ", id, ", but none of \"", list, "\" has that id");
    return found->second;
}

bool crowd_of(const JsonValue& v) {
    const auto crowd = v.find("iscrowd");
    if (!crowd) return false;
    const double n = number_of(*crowd, 0, 1);
    if (n != 0 && n != 1) fail_with(ErrorKind::bad_input, "0 or 1", crowd->path(), ": is ", n);
    return n == 1;
}

CocoThing thing_of(const JsonValue& v, const Places& pictures, const Places& categories) {
    CocoThing t;
    t.picture = named_place(pictures, v, "image_id", "images");
    t.category = named_place(categories, v, "category_id", "categories");
    const JsonValue box = v.at("bbox");
    std::size_t n = 0;
    box.each([&](const JsonValue& number) {
        if (n < 4) t.box[n] = number_of(number, -largest_box_number, largest_box_number);
        ++n;
    });
    if (n != 4)
        fail_with(ErrorKind::bad_input, "a box is [x, y, width, height]", box.path(), ": has ", n,
                  " numbers");
    const auto area = v.find("area");
    t.area =
        area ? number_of(*area, 0, largest_box_number * largest_box_number) : t.box[2] * t.box[3];
    t.crowd = crowd_of(v);
    return t;
}

}  // namespace

CocoFile parse_coco(std::string_view json, const std::string& where) {
    const text::JsonDocument document(json, where);
    const JsonValue root = document.root();
    const JsonValue images = coco_list(root, "images"), categories = coco_list(root, "categories"),
                    annotations = coco_list(root, "annotations");
    CocoFile f;
    Places picture_places, category_places;
    std::set<std::string> names;
    images.each([&](const JsonValue& v) {
        f.pictures.push_back(picture_of(v));
        name_once(picture_places, f.pictures.back().id, v);
    });
    categories.each([&](const JsonValue& v) {
        CocoCategory c{v.at("id").integer(), std::string(v.at("name").string())};
        if (c.name.empty() || c.name.size() > 256 || !names.insert(c.name).second)
            fail_with(ErrorKind::bad_input, "every category has a short name of its own", v.path(),
                      ".name: \"", c.name.substr(0, 80), "\" is empty, too long or there twice");
        name_once(category_places, c.id, v);
        f.categories.push_back(std::move(c));
    });
    annotations.each([&](const JsonValue& v) {
        f.things.push_back(thing_of(v, picture_places, category_places));
    });
    return f;
}

bool looks_like_coco(std::string_view beginning) {
    const std::size_t first = beginning.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos || beginning[first] != '{') return false;
    // One such key may stand in any JSON.
    int keys = 0;
    for (const char* key : {"\"images\"", "\"annotations\"", "\"categories\"", "\"file_name\"",
                            "\"image_id\"", "\"bbox\""})
        keys += beginning.find(key) != std::string_view::npos;
    return keys >= 2;
}

}  // namespace fovea
