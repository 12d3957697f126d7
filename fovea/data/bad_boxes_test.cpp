// Files of boxes that lie, break off or mean harm: one clear error each.
#include <gtest/gtest.h>

#include <ctime>

#include "fovea/base/error.h"
#include "fovea/data/coco.h"
#include "fovea/data/voc.h"

namespace fovea {
namespace {

struct BadFile {
    const char* name;
    std::string bytes;
    const char* words;  // that the error has
};

std::string voc_with(const std::string& inside) {
    return "<annotation>" + inside + "</annotation>";
}

std::string voc_object(const std::string& inside) {
    return voc_with("<object><name>a</name>" + inside + "</object>");
}

std::string voc_box(const std::string& xmin) {
    return voc_object("<bndbox><xmin>" + xmin +
                      "</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox>");
}

std::string voc_size(const std::string& width) {
    return voc_with("<size><width>" + width + "</width><height>9</height></size>");
}

std::string many_times(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
}

std::vector<BadFile> bad_voc() {
    const std::string whole = voc_box("1");
    return {
        {"empty", "", "no XML"},
        {"blank", " \n\t", "no XML"},
        {"no XML at all", "xmin,ymin,xmax,ymax", "no"},
        {"a picture", "\x89PNG\r\n\x1a\n", "no"},
        {"HTML", "<html><body>404</body></html>", "no <annotation>"},
        {"an element not closed", "<annotation><object>", "no XML"},
        {"closed by another", "<annotation></object>", "no XML"},
        {"cut in a tag", whole.substr(0, whole.size() - 5), "no XML"},
        {"half of it", whole.substr(0, whole.size() / 2), "no XML"},
        {"an attribute cut", "<annotation a=\"", "no XML"},
        {"a comment cut", "<annotation><!-- ", "no XML"},
        {"CDATA cut", "<annotation><![CDATA[ ", "no XML"},
        {"a document type cut", "<!DOCTYPE a [<!ENTITY x \"y\">", "no"},
        {"100,000 deep and cut", many_times("<a>", 100'000), "no"},
        {"100,000 deep", many_times("<a>", 100'000) + many_times("</a>", 100'000),
         "no <annotation>"},
        {"external entity as a number",
         "<!DOCTYPE a [<!ENTITY f SYSTEM \"file:///etc/passwd\">]>" + voc_box("&f;"),
         "\"&f;\", which is no number"},
        {"no name", voc_with("<object><bndbox/></object>"), "no <name>"},
        {"empty name", voc_with("<object><name> </name></object>"), "no <name>"},
        {"name of 300 bytes",
         voc_with("<object><name>" + std::string(300, 'x') + "</name></object>"), "300 bytes"},
        {"name not UTF-8", voc_with("<object><name>\xff\xfe\xfd</name></object>"), "not UTF-8"},
        {"no box", voc_object(""), "no <bndbox>"},
        {"box without corners", voc_object("<bndbox/>"), "no <xmin>"},
        {"three corners", voc_object("<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax></bndbox>"),
         "no <ymax>"},
        {"corner empty", voc_box(""), "no number"},
        {"corner a word", voc_box("left"), "no number"},
        {"corner with a tail", voc_box("12px"), "no number"},
        {"corner NaN", voc_box("nan"), "no number"},
        {"corner infinite", voc_box("inf"), "no number"},
        {"corner 1e999", voc_box("1e999"), "no number"},
        {"corner 1e30", voc_box("1e30"), "beyond any picture"},
        {"corner of 400 digits", voc_box(std::string(400, '9')), "no number"},
        {"second object bad",
         voc_with("<object><name>a</name><bndbox><xmin>1</xmin><ymin>1</ymin>"
                  "<xmax>2</xmax><ymax>2</ymax></bndbox></object><object/>"),
         "<object> 2"},
        {"difficult maybe",
         voc_object("<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2"
                    "</ymax></bndbox><difficult>maybe</difficult>"),
         "<difficult>"},
        {"width below 0", voc_size("-1"), "<width> is -1"},
        {"width 1.5", voc_size("1.5"), "<width> is 1.5"},
        {"width 8193", voc_size("8193"), "<width> is 8193"},
        {"width a word", voc_size("wide"), "no number"},
        {"filename of 5,000 bytes", voc_with("<filename>" + std::string(5000, 'x') + "</filename>"),
         "no name of a file"},
        {"10,001 objects",
         voc_with(many_times("<object><name>a</name><bndbox><xmin>1</xmin><ymin>1"
                             "</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></object>",
                             10'001)),
         "more than 10000"},
        {"17 MB", std::string(std::size_t{17} << 20, ' '), "at most"},
    };
}

std::string coco_with(const std::string& images, const std::string& categories,
                      const std::string& annotations) {
    return R"({"images": [)" + images + R"(], "categories": [)" + categories +
           R"(], "annotations": [)" + annotations + "]}";
}

const std::string one_image = R"({"id": 1, "file_name": "a.png"})";
const std::string one_category = R"({"id": 1, "name": "a"})";

std::string coco_image(const std::string& fields) {
    return coco_with("{" + fields + "}", one_category, "");
}

std::string coco_box(const std::string& fields) {
    return coco_with(one_image, one_category,
                     R"({"image_id": 1, "category_id": 1, )" + fields + "}");
}

std::vector<BadFile> bad_coco() {
    const std::string whole = coco_box(R"("bbox": [1, 2, 3, 4])");
    return {
        {"empty", "", "not JSON"},
        {"cut", whole.substr(0, whole.size() - 1), "not JSON"},
        {"half", whole.substr(0, whole.size() / 2), "not JSON"},
        {"two documents", whole + whole, "not JSON"},
        {"10,000 deep", many_times("[", 10'000) + many_times("]", 10'000), "not JSON"},
        {"not UTF-8", "{\"images\": [\"\xff\xfe\"]}", "not JSON"},
        {"a list", "[]", "no list \"images\""},
        {"a number", "7", "no list \"images\""},
        {"an object of nothing", "{}", "no list \"images\""},
        {"images an object", R"({"images": {}})", "no list \"images\""},
        {"no categories", R"({"images": []})", "no list \"categories\""},
        {"no annotations", R"({"images": [], "categories": []})", "no list \"annotations\""},
        {"image a number", coco_with("7", "", ""), "images[0]"},
        {"image without id", coco_image(R"("file_name": "a.png")"), "no \"id\""},
        {"image's id a word", coco_image(R"("id": "x", "file_name": "a.png")"), "whole number"},
        {"image's id 1.5", coco_image(R"("id": 1.5, "file_name": "a.png")"), "whole number"},
        {"image without name", coco_image(R"("id": 1)"), "no \"file_name\""},
        {"image's name empty", coco_image(R"("id": 1, "file_name": "")"), "no name of a picture"},
        {"image upwards", coco_image(R"("id": 1, "file_name": "../../etc/passwd")"),
         "no name of a picture"},
        {"image absolute", coco_image(R"("id": 1, "file_name": "/etc/passwd")"),
         "no name of a picture"},
        {"image's name with a zero", coco_image(R"("id": 1, "file_name": "a\u0000.png")"),
         "no name of a picture"},
        {"image of no height", coco_image(R"("id": 1, "file_name": "a.png", "height": 0)"),
         ".height: is 0"},
        {"image of height 1e9", coco_image(R"("id": 1, "file_name": "a.png", "height": 1e9)"),
         ".height: is 1e+09"},
        {"image's width a word", coco_image(R"("id": 1, "file_name": "a.png", "width": "x")"),
         "a number"},
        {"image's id twice", coco_with(one_image + "," + one_image, one_category, ""),
         "the id 1 is there twice"},
        {"category without name", coco_with(one_image, R"({"id": 1})", ""), "no \"name\""},
        {"category's name empty", coco_with(one_image, R"({"id": 1, "name": ""})", ""),
         "empty, too long or there twice"},
        {"category's name twice",
         coco_with(one_image, one_category + R"(, {"id": 2, "name": "a"})", ""), "there twice"},
        {"category's id twice",
         coco_with(one_image, one_category + R"(, {"id": 1, "name": "b"})", ""),
         "the id 1 is there twice"},
        {"of no image",
         coco_with(one_image, one_category,
                   R"({"image_id": 5, "category_id": 1, "bbox": [1, 2, 3, 4]})"),
         "none of \"images\" has that id"},
        {"of no category",
         coco_with(one_image, one_category,
                   R"({"image_id": 1, "category_id": 5, "bbox": [1, 2, 3, 4]})"),
         "none of \"categories\" has that id"},
        {"no box", coco_box(R"("area": 3)"), "no \"bbox\""},
        {"box of three", coco_box(R"("bbox": [1, 2, 3])"), "has 3 numbers"},
        {"box of five", coco_box(R"("bbox": [1, 2, 3, 4, 5])"), "has 5 numbers"},
        {"box an object", coco_box(R"("bbox": {"x": 1})"), "an array"},
        {"box of words", coco_box(R"("bbox": ["1", 2, 3, 4])"), "a number"},
        {"box NaN", coco_box(R"("bbox": [NaN, 2, 3, 4])"), "not JSON"},
        {"box 1e999", coco_box(R"("bbox": [1e999, 2, 3, 4])"), "not JSON"},
        {"box 1e30", coco_box(R"("bbox": [1e30, 2, 3, 4])"), "bbox[0]: is 1e+30"},
        {"area below 0", coco_box(R"("bbox": [1, 2, 3, 4], "area": -1)"), ".area: is -1"},
        {"crowd 2", coco_box(R"("bbox": [1, 2, 3, 4], "iscrowd": 2)"), ".iscrowd: is 2"},
        {"crowd a half", coco_box(R"("bbox": [1, 2, 3, 4], "iscrowd": 0.5)"), ".iscrowd: is 0.5"},
    };
}

template <class Parse>
void expect_errors(const std::vector<BadFile>& files, const char* where, const Parse& parse) {
    for (const BadFile& f : files) {
        const std::clock_t start = std::clock();  // others work too: of the processor
        try {
            parse(f.bytes, where);
            ADD_FAILURE() << f.name << ": was read";
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::bad_input) << f.name;
            const std::string what = e.what();
            EXPECT_EQ(what.rfind(where, 0), 0u) << f.name << ": " << what;
            EXPECT_NE(what.find(f.words), std::string::npos) << f.name << ": " << what;
            EXPECT_EQ(what.find('\n'), std::string::npos) << f.name << ": " << what;
            EXPECT_LT(what.size(), 600u) << f.name;
        }
        EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, 0.1) << f.name;
    }
}

TEST(BadBoxes, VocFilesAreOneClearErrorEach) {
    const std::vector<BadFile> files = bad_voc();
    EXPECT_GE(files.size(), 40u);
    expect_errors(files, "a.xml", parse_voc);
}

TEST(BadBoxes, CocoFilesAreOneClearErrorEach) {
    const std::vector<BadFile> files = bad_coco();
    EXPECT_GE(files.size(), 40u);
    expect_errors(files, "a.json", parse_coco);
}

// A file cut at any byte is an error, or (behind its end) the same file.
TEST(BadBoxes, CutAtEveryByte) {
    const std::string voc = voc_box("1"), coco = coco_box(R"("bbox": [1, 2, 3, 4], "iscrowd": 0)");
    for (std::size_t n = 0; n < voc.size(); ++n)
        EXPECT_THROW(parse_voc(voc.substr(0, n), "a.xml"), Error) << n;
    for (std::size_t n = 0; n < coco.size(); ++n)
        EXPECT_THROW(parse_coco(coco.substr(0, n), "a.json"), Error) << n;
    EXPECT_EQ(parse_voc(voc, "a.xml").things.size(), 1u);
    EXPECT_EQ(parse_coco(coco, "a.json").things.size(), 1u);
}

}  // namespace
}  // namespace fovea
