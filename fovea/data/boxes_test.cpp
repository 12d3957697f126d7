#include "fovea/data/boxes.h"

#include <gtest/gtest.h>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/check_boxes.h"
#include "fovea/data/coco.h"
#include "fovea/data/made_boxes.h"
#include "fovea/data/record_shape.h"
#include "fovea/data/voc.h"
#include "fovea/io/png.h"
#include "fovea/io/test_folder.h"

namespace fovea {
namespace {

std::string object_text(const std::string& label, const std::string& corners) {
    std::string text = "<object><name>" + label + "</name><bndbox>";
    std::size_t from = 0;
    for (const char* name : {"xmin", "ymin", "xmax", "ymax"}) {
        const std::size_t to = std::min(corners.find(' ', from), corners.size());
        text += "<" + std::string(name) + ">" + corners.substr(from, to - from) + "</" + name + ">";
        from = std::min(to + 1, corners.size());
    }
    return text + "</bndbox></object>";
}

std::string voc_file(const std::string& objects, const std::string& size = "40 30") {
    const std::size_t space = size.find(' ');
    return "<annotation><filename>a.png</filename><size><width>" + size.substr(0, space) +
           "</width><height>" + size.substr(space + 1) + "</height></size>" + objects +
           "</annotation>";
}

void write_picture(const std::string& path, std::int64_t height = 30, std::int64_t width = 40) {
    write_png(path, blank_picture(height, width, 3, "test"));
}

TEST(Voc, ReadsAnAnnotation) {
    const VocPicture p = parse_voc(voc_file(object_text("cell", "2 3 11 23.5") +
                                            "<object><name> big cell </name><difficult>1"
                                            "</difficult><bndbox><xmax>4</xmax><xmin>1</xmin>"
                                            "<ymin>1</ymin><ymax>5</ymax></bndbox></object>"),
                                   "a.xml");
    EXPECT_EQ(p.file, "a.png");
    EXPECT_EQ(p.width, 40);
    EXPECT_EQ(p.height, 30);
    ASSERT_EQ(p.things.size(), 2u);
    EXPECT_EQ(p.things[0].label, "cell");
    EXPECT_EQ(p.things[0].ymax, 23.5);
    EXPECT_EQ(p.things[1].label, "big cell");
    EXPECT_EQ(p.things[1].xmin, 1);
    EXPECT_TRUE(p.things[1].difficult);
    // Entities are not expanded: what is declared stays a word.
    const VocPicture bomb =
        parse_voc("<!DOCTYPE a [<!ENTITY x \"boom\"><!ENTITY y \"&x;&x;&x;&x;\">]>" +
                      voc_file(object_text("&y;", "1 1 5 5")),
                  "a.xml");
    EXPECT_EQ(bomb.things.at(0).label, "&y;");
}

TEST(Boxes, VocFoldersAndListsAndXmlBesidePictures) {
    const TestFolder folder;
    make_folders(folder / "voc/Annotations");
    make_folders(folder / "voc/JPEGImages");
    make_folders(folder / "voc/ImageSets/Main");
    make_folders(folder / "flat");
    for (const char* name : {"a", "b", "c"}) {
        const std::string xml = voc_file(object_text(name, "2 3 11 13"));
        write_file_atomically(folder / "voc/Annotations/" + name + ".xml", xml);
        write_picture(folder / "voc/JPEGImages/" + name + ".png");
        write_file_atomically(folder / "flat/" + name + ".xml", xml);
        write_picture(folder / "flat/" + name + ".png");
    }
    const BoxedSet all = read_boxed({.paths = {folder / "voc"}});
    ASSERT_EQ(all.pictures.size(), 3u);
    EXPECT_EQ(all.labels(), (std::vector<std::string>{"a", "b", "c"}));
    // Corners count from 1, and both are inside.
    EXPECT_EQ(all.pictures[0].things[0].box, (PictureBox{1, 2, 11, 13}));
    EXPECT_EQ(all.pictures[0].things[0].area, 110);
    EXPECT_EQ(read_boxed({.paths = {folder / "flat"}}).pictures.size(), 3u);
    write_file_atomically(folder / "voc/ImageSets/Main/val.txt", "c\n");
    write_file_atomically(folder / "voc/ImageSets/Main/train.txt", "b 1\n\na -1\r\n");
    const BoxedSet listed = read_boxed({.paths = {folder / "voc"}});
    ASSERT_EQ(listed.pictures.size(), 2u);
    EXPECT_EQ(listed.notes.size(), 1u);
    EXPECT_EQ(read_boxed({.paths = {folder / "voc/ImageSets/Main/val.txt"}}).labels(),
              std::vector<std::string>{"c"});
    for (const char* path : {"voc", "flat", "voc/ImageSets/Main/val.txt"})
        EXPECT_EQ(guess_shape(folder / path)->shape, RecordShape::boxed) << path;
    EXPECT_THROW(read_boxed({.paths = {folder / "voc/JPEGImages"}}), Error);
}

constexpr const char* good_coco =
    R"({"images": [{"id": 7, "file_name": "a.png", "height": 30, "width": 40},
                   {"id": 9, "file_name": "b.png"}],
        "categories": [{"id": 18, "name": "dog"}, {"id": 2, "name": "cat"}],
        "annotations": [{"id": 1, "image_id": 9, "category_id": 2, "bbox": [1, 2, 10, 20.5],
                         "area": 77, "iscrowd": 1},
                        {"image_id": 7, "category_id": 18, "bbox": [-5, 2, 10, 5]},
                        {"image_id": 7, "category_id": 18, "bbox": [3, 2, 0, 5]},
                        {"image_id": 7, "category_id": 18, "bbox": [90, 2, 9, 5]}]})";

TEST(Boxes, CocoFiles) {
    const TestFolder folder;
    make_folders(folder / "images");
    write_picture(folder / "images/a.png");
    write_picture(folder / "images/b.png", 35, 45);
    write_file_atomically(folder / "instances.json", good_coco);
    const BoxedSet set = read_boxed({.paths = {folder / "instances.json"}});
    ASSERT_EQ(set.pictures.size(), 2u);
    EXPECT_EQ(set.pictures[1].height, 35u);  // not told: the picture's own
    ASSERT_EQ(set.pictures[1].things.size(), 1u);
    EXPECT_TRUE(set.pictures[1].things[0].crowd);
    EXPECT_EQ(set.pictures[1].things[0].area, 77);
    EXPECT_EQ(set.pictures[1].things[0].box, (PictureBox{1, 2, 11, 22.5}));
    ASSERT_EQ(set.pictures[0].things.size(), 1u);  // cut, one empty, one outside
    EXPECT_EQ(set.pictures[0].things[0].box, (PictureBox{0, 2, 5, 7}));
    EXPECT_EQ(set.cut, 1);
    ASSERT_EQ(set.dropped.size(), 2u);
    EXPECT_NE(set.dropped[0].find("annotations[2]"), std::string::npos);
    EXPECT_NE(set.dropped[1].find("outside"), std::string::npos);
    EXPECT_EQ(set.categories.at("dog"), 18);
    EXPECT_EQ(guess_shape(folder / "instances.json")->shape, RecordShape::boxed);
    EXPECT_EQ(read_boxed({.paths = {folder / "instances.json"}, .limit = 1}).pictures.size(), 1u);
}

// As COCO lays itself out, and as tools that export one file do.
TEST(Boxes, AFolderWithACocoFileInIt) {
    const TestFolder folder;
    make_folders(folder / "coco/images");
    make_folders(folder / "coco/annotations");
    write_picture(folder / "coco/images/a.png");
    write_picture(folder / "coco/images/b.png", 35, 45);
    const std::string annotations = folder / "coco/annotations/";
    write_file_atomically(annotations + "instances_train.json", good_coco);
    const auto guess = guess_shape(folder / "coco");  // neither masks nor classes
    ASSERT_TRUE(guess.has_value());
    EXPECT_EQ(guess->shape, RecordShape::boxed);
    EXPECT_EQ(guess->why, "it holds pictures and their boxes in COCO's form");
    write_file_atomically(annotations + "captions_train.json", good_coco);
    write_file_atomically(annotations + "instances_val.json", good_coco);
    const BoxedSet set = read_boxed({.paths = {folder / "coco"}});
    EXPECT_EQ(set.pictures.size(), 2u);
    ASSERT_EQ(set.notes.size(), 1u);
    EXPECT_NE(set.notes[0].find("instances_train.json"), std::string::npos) << set.notes[0];
    write_file_atomically(annotations + "instances_train2.json", good_coco);
    try {
        read_boxed({.paths = {folder / "coco"}});
        FAIL();
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("holds 2 COCO files"), std::string::npos) << e.what();
        EXPECT_NE(e.hint().find("instances_train.json"), std::string::npos) << e.hint();
    }
    // A JSON file of another kind beside class folders changes nothing.
    make_folders(folder / "classes/cat");
    make_folders(folder / "classes/dog");
    write_picture(folder / "classes/cat/a.png");
    write_picture(folder / "classes/dog/b.png");
    write_file_atomically(folder / "classes/info.json", R"({"images": 2, "who": "me"})");
    EXPECT_EQ(guess_shape(folder / "classes")->shape, RecordShape::pictures);
}

TEST(Boxes, ADegenerateBoxIsDroppedWithAWord) {
    const TestFolder folder;
    write_picture(folder / "a.png");
    write_file_atomically(
        folder / "a.xml",
        voc_file(object_text("cell", "5 5 5 9") + object_text("cell", "9 9 3 3") +
                 object_text("cell", "50 9 60 13") + object_text("cell", "3 3 9 9")));
    const BoxedSet set = read_boxed({.paths = {folder.path()}});
    EXPECT_EQ(set.pictures.at(0).things.size(), 1u);
    ASSERT_EQ(set.dropped.size(), 3u);
    EXPECT_NE(set.dropped[0].find("<object> 1"), std::string::npos);
    const NamedBoxed named[] = {{"train", {.paths = {folder.path()}}},
                                {"held-out", {.paths = {folder.path()}}}};
    const BoxCheck check = check_boxed(named);
    EXPECT_FALSE(check.clean());  // both sets hold the same picture
    EXPECT_EQ(check.leaks.at(0).pictures, 1);
    EXPECT_NE(check.text().find("boxes that are none, left out 3"), std::string::npos)
        << check.text();
    EXPECT_TRUE(check_boxed({named, 1}).clean());
}

TEST(Boxes, APictureOfAnotherSizeIsTold) {
    const TestFolder folder;
    write_picture(folder / "a.png", 31, 40);
    write_file_atomically(folder / "a.xml", voc_file(object_text("cell", "5 5 9 9")));
    const BoxedSet set = read_boxed({.paths = {folder.path()}});
    try {
        load_boxed(set.pictures.at(0), 3);
        FAIL();
    } catch (const Error& e) {
        EXPECT_EQ(e.kind(), ErrorKind::bad_input);
        EXPECT_NE(std::string(e.what()).find("40 x 31"), std::string::npos) << e.what();
    }
}

TEST(MadeBoxes, AreReadAsTheyWereMade) {
    const TestFolder folder;
    const MadeShapes o{.count = 5, .size = 48, .seed = 3};
    write_made_boxes(o, folder.path());
    const BoxedSet set = read_boxed({.paths = {folder.path()}});
    ASSERT_EQ(set.pictures.size(), 5u);
    EXPECT_TRUE(set.dropped.empty());
    for (std::int64_t i = 0; i < 5; ++i) {
        const BoxesPicture made = made_boxes(o, i);
        const BoxedPicture& read = set.pictures[static_cast<std::size_t>(i)];
        EXPECT_EQ(load_boxed(read, 3), made.picture);
        ASSERT_EQ(read.things.size(), made.things.size());
        for (std::size_t k = 0; k < read.things.size(); ++k) {
            EXPECT_EQ(read.things[k].box, made.things[k].box);
            EXPECT_EQ(read.things[k].label, made.things[k].label);
        }
    }
}

}  // namespace
}  // namespace fovea
