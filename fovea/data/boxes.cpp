#include "fovea/data/boxes.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/coco.h"
#include "fovea/data/coco_in_folder.h"
#include "fovea/data/voc.h"

namespace fovea {
namespace {

constexpr const char* xml_folder = "Annotations";
constexpr const char* voc_picture_folders[] = {"JPEGImages", "images", "Images", "."};

std::string without_ending(const std::string& name) {
    return name.substr(0, name.find_last_of('.'));
}

// The box cut to its picture; nothing (and a word) where nothing is left.
std::optional<PictureBox> box_within(const PictureBox& b, const BoxedPicture& p,
                                     const std::string& what, BoxedSet& to) {
    const double width = p.width, height = p.height;
    const PictureBox cut{std::max(b.left, 0.0), std::max(b.top, 0.0), std::min(b.right, width),
                         std::min(b.bottom, height)};
    if (!(cut.left < cut.right && cut.top < cut.bottom)) {
        const bool empty = !(b.left < b.right && b.top < b.bottom);
        to.dropped.push_back(fmt::format("{}: the box from {}, {} to {}, {} {}", what, b.left,
                                         b.top, b.right, b.bottom,
                                         empty ? "is empty" : "lies outside of the picture"));
        return {};
    }
    // Half a pixel is rounding.
    const double beyond =
        std::max({cut.left - b.left, cut.top - b.top, b.right - cut.right, b.bottom - cut.bottom});
    to.cut += beyond > 0.5;
    return cut;
}

void settle_size(BoxedPicture& p, std::int64_t height, std::int64_t width) {
    p.height = static_cast<std::uint32_t>(height);
    p.width = static_cast<std::uint32_t>(width);
    if (p.height && p.width) return;
    const Picture read = read_picture(p.path);  // nobody told
    p.height = read.height;
    p.width = read.width;
}

// ---- PASCAL VOC

// Pictures of a folder by their name without the ending; that with the ending first in order.
std::map<std::string, std::string> pictures_in(const std::string& folder) {
    std::map<std::string, std::string> found;
    for (const std::string& name : list_folder(folder))
        if (has_picture_name(name)) found.emplace(without_ending(name), join_path(folder, name));
    return found;
}

void add_voc_file(const std::string& xml, const std::map<std::string, std::string>& pictures,
                  BoxedSet& to) {
    const VocPicture voc = parse_voc(read_file(xml, largest_voc_file), xml);
    auto found = pictures.find(without_ending(base_name(xml)));
    if (found == pictures.end() && !voc.file.empty())
        found = pictures.find(without_ending(base_name(voc.file)));
    if (found == pictures.end())
        fail_with(ErrorKind::bad_input, "a picture and its XML have the same name but the ending",
                  xml, ": its picture is not there");
    BoxedPicture& p = to.pictures.emplace_back();
    p.path = found->second;
    settle_size(p, voc.height, voc.width);
    for (std::size_t i = 0; i < voc.things.size(); ++i) {
        const VocThing& t = voc.things[i];
        const std::string what = text_of(xml, ": <object> ", i + 1);
        // Corners count from 1 and lie inside; equal or crossed ones are a slip of the mouse.
        PictureBox box{t.xmin - 1, t.ymin - 1, t.xmax, t.ymax};
        if (t.xmax <= t.xmin || t.ymax <= t.ymin) box = {t.xmin, t.ymin, t.xmax, t.ymax};
        const auto cut = box_within(box, p, what, to);
        if (!cut) continue;
        const double area = (cut->right - cut->left) * (cut->bottom - cut->top);
        p.things.push_back({*cut, t.label, area, false, t.difficult});
    }
}

struct VocFolders {
    std::string annotations, pictures, lists;
};

std::optional<VocFolders> voc_folders_in(const std::string& path) {
    VocFolders f;
    f.annotations = join_path(path, xml_folder);
    f.lists = join_path(path, "ImageSets/Main");
    if (!is_folder(f.annotations)) return {};
    for (const char* name : voc_picture_folders)
        if (is_folder(join_path(path, name))) {
            f.pictures = join_path(path, name);
            return f;
        }
    return {};
}

// The folder that a list belongs to: the nearest one above it with annotations.
std::optional<VocFolders> voc_folders_above(const std::string& list) {
    std::string path = parent_path(list);
    for (int up = 0; up < 3; ++up, path = parent_path(path))
        if (auto found = voc_folders_in(path)) return found;
    return {};
}

void read_voc_list(const std::string& list, const VocFolders& f, BoxedSet& to) {
    const auto pictures = pictures_in(f.pictures);
    LineReader lines(list);
    for (std::string line; lines.next(line);) {
        const std::string name = line.substr(0, line.find_first_of(" \t"));  // "name 1" is a class
        if (name.empty()) continue;
        const std::string xml = join_path(f.annotations, name + ".xml");
        if (!file_exists(xml))
            fail_with(ErrorKind::bad_input, "a list has names of XML files without the ending",
                      list, ":", lines.line_number(), ": there is no ", xml);
        add_voc_file(xml, pictures, to);
    }
}

void read_xml_folder(const std::string& folder, const std::string& picture_folder, BoxedSet& to) {
    const auto pictures = pictures_in(picture_folder);
    for (const std::string& name : list_folder(folder))
        if (name.ends_with(".xml")) add_voc_file(join_path(folder, name), pictures, to);
}

void read_voc_folder(const std::string& path, const VocFolders& f, BoxedSet& to) {
    for (const char* name : {"trainval.txt", "train.txt"})
        if (const std::string list = join_path(f.lists, name); file_exists(list)) {
            to.notes.push_back(text_of(path, ": the pictures of ImageSets/Main/", name));
            return read_voc_list(list, f, to);
        }
    read_xml_folder(f.annotations, f.pictures, to);
}

bool has_xml_beside_pictures(const std::string& path) {
    bool xml = false, picture = false;
    for (const std::string& name : list_folder(path)) {
        xml = xml || name.ends_with(".xml");
        picture = picture || has_picture_name(name);
    }
    return xml && picture;
}

// ---- COCO

std::string coco_folder(const std::string& path, const CocoFile& coco, const BoxedFiles& files) {
    const std::string near = parent_path(path), above = parent_path(near);
    std::string name = without_ending(base_name(path));
    if (name.starts_with("instances_")) name = name.substr(10);
    std::vector<std::string> places{near,
                                    join_path(near, "images"),
                                    join_path(near, name),
                                    join_path(above, "images"),
                                    join_path(above, name),
                                    above};
    if (!files.pictures.empty()) places = {files.pictures};
    for (const std::string& place : places)
        if (file_exists(join_path(place, coco.pictures[0].file))) return place;
    fail_with(ErrorKind::bad_input, "--pictures DIR says where they are", path, ": its picture ",
              coco.pictures[0].file, " is not in ", places[0],
              places.size() > 1 ? " and not near it" : "");
}

void read_coco(const std::string& path, const BoxedFiles& files, BoxedSet& to) {
    const CocoFile coco = parse_coco(read_file(path, std::int64_t{2} << 30), path);
    expect_input(!coco.pictures.empty(), path, ": \"images\" is empty");
    const std::string folder = coco_folder(path, coco, files);
    const std::size_t first = to.pictures.size();
    for (const CocoPicture& c : coco.pictures) {
        BoxedPicture& p = to.pictures.emplace_back();
        p.path = join_path(folder, c.file);
        if (!file_exists(p.path))
            fail_with(ErrorKind::bad_input, "copy it there, or take it out of \"images\"", path,
                      ": there is no picture ", p.path);
        settle_size(p, c.height, c.width);
    }
    for (const CocoCategory& c : coco.categories) to.categories.emplace(c.name, c.id);
    for (std::size_t i = 0; i < coco.things.size(); ++i) {
        const CocoThing& t = coco.things[i];
        BoxedPicture& p = to.pictures[first + t.picture];
        const PictureBox box{t.box[0], t.box[1], t.box[0] + t.box[2], t.box[1] + t.box[3]};
        const auto cut = box_within(box, p, text_of(path, ": annotations[", i, "]"), to);
        if (cut)
            p.things.push_back({*cut, coco.categories[t.category].name, t.area, t.crowd, false});
    }
}

void read_boxed_path(const std::string& path, const BoxedFiles& files, BoxedSet& to) {
    if (!file_exists(path))
        throw Error(path + ": there is no such file or folder", ErrorKind::not_found);
    if (path.ends_with(".json")) return read_coco(path, files, to);
    if (is_folder(path)) {
        if (const auto voc = voc_folders_in(path)) return read_voc_folder(path, *voc, to);
        if (has_xml_beside_pictures(path)) return read_xml_folder(path, path, to);
        if (const std::string coco = coco_file_in(path); !coco.empty()) {
            to.notes.push_back(text_of(path, ": the boxes of ", coco));
            return read_coco(coco, files, to);
        }
    } else if (const auto voc = voc_folders_above(path)) {
        return read_voc_list(path, *voc, to);
    }
    fail_with(ErrorKind::bad_input,
              "a folder with Annotations/ and JPEGImages/, one with XML files beside its pictures, "
              "a COCO file (.json), or a folder with one in it",
              path, ": holds no pictures with boxes");
}

}  // namespace

std::vector<std::string> BoxedSet::labels() const {
    std::set<std::string> all;
    for (const BoxedPicture& p : pictures)
        for (const BoxedThing& t : p.things) all.insert(t.label);
    return {all.begin(), all.end()};
}

BoxedSet read_boxed(const BoxedFiles& files) {
    BoxedSet set;
    for (const std::string& path : files.paths) {
        const std::size_t before = set.pictures.size();
        read_boxed_path(path, files, set);
        expect_input(set.pictures.size() > before, path, ": holds no picture with boxes");
    }
    if (files.limit > 0 && static_cast<std::int64_t>(set.pictures.size()) > files.limit)
        set.pictures.resize(static_cast<std::size_t>(files.limit));
    return set;
}

Picture load_boxed(const BoxedPicture& boxed, int channels) {
    Picture p = read_picture(boxed.path, {.channels = channels});
    if (p.height != boxed.height || p.width != boxed.width)
        fail_with(ErrorKind::bad_input, "boxes are in pixels of the picture: are they of this one?",
                  boxed.path, ": is ", p.width, " x ", p.height,
                  " pixels, but its boxes are for one of ", boxed.width, " x ", boxed.height);
    return p;
}

std::string holds_boxes(const std::string& path) {
    if (is_folder(path)) {
        if (voc_folders_in(path)) return "it holds pictures and their boxes in XML (PASCAL VOC)";
        if (has_xml_beside_pictures(path)) return "it has XML files with boxes beside pictures";
        if (!coco_file_in(path).empty()) return "it holds pictures and their boxes in COCO's form";
        return {};
    }
    if (!file_exists(path)) return {};
    if (path.ends_with(".json") && begins_as_coco(path)) return "boxes of pictures in COCO's form";
    if (path.ends_with(".txt") && voc_folders_above(path))
        return "names of pictures whose boxes lie near it (PASCAL VOC)";
    return {};
}

}  // namespace fovea
