#pragma once
// Pictures with boxes around the things in them. They come as
//   a PASCAL VOC folder: Annotations/*.xml beside JPEGImages/ (or images/); where it has a list of
//     what to learn from, ImageSets/Main/trainval.txt or train.txt, that list is meant;
//   such a list (a .txt file below that folder): one name a line, without the ending;
//   a folder with XML files beside the pictures of the same names;
//   a COCO file (.json), its pictures beside it or in a folder near it;
//   a folder with a COCO file in it, or in its annotations/ (coco_in_folder.h).
// Thread-safety: pure functions and plain values.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "fovea/data/augment.h"
#include "fovea/io/picture.h"

namespace fovea {

struct BoxedThing {
    PictureBox box;  // in pixels, within the picture
    std::string label;
    double area = 0;         // of the thing itself, in pixels
    bool crowd = false;      // many things at once
    bool difficult = false;  // VOC's word: need not be found
};

struct BoxedPicture {
    std::string path;
    std::uint32_t height = 0, width = 0;
    std::vector<BoxedThing> things;
};

struct BoxedFiles {
    std::vector<std::string> paths;
    std::string pictures{};  // folder of a COCO file's pictures; empty: looked for near it
    std::int64_t limit = 0;  // only the first so many pictures; 0: all
};

struct BoxedSet {
    std::vector<BoxedPicture> pictures;
    std::map<std::string, std::int64_t> categories;  // COCO's numbers of labels
    std::vector<std::string> dropped;  // one line for each box that is none: empty, or outside
    std::int64_t cut = 0;              // boxes that reached beyond their picture
    std::vector<std::string> notes;    // for people: what was chosen

    std::vector<std::string> labels() const;  // sorted
};

BoxedSet read_boxed(const BoxedFiles& files);

// The picture itself; one of another size than its boxes are for is an error that names both.
Picture load_boxed(const BoxedPicture& boxed, int channels);

// Why a path holds pictures with boxes, as it follows "PATH: "; empty: it does not.
std::string holds_boxes(const std::string& path);

}  // namespace fovea
