#include "fovea/data/voc.h"

#include <charconv>
#include <cmath>
#include <pugixml.hpp>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/io/picture.h"

namespace fovea {
namespace {

constexpr std::size_t most_things = 10'000;
constexpr double largest_corner = 1e6;  // of a corner: pictures have 8192 pixels a side at most
constexpr const char* object_hint =
    "<object><name>cell</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax>"
    "</bndbox></object>";

std::string_view trimmed(std::string_view text) {
    constexpr const char* blanks = " \t\r\n";
    const std::size_t from = text.find_first_not_of(blanks);
    if (from == std::string_view::npos) return {};
    return text.substr(from, text.find_last_not_of(blanks) - from + 1);
}

// The number inside <name> of a node; `what` tells which node in errors.
double corner_in(const pugi::xml_node& node, const char* name, const std::string& what) {
    const pugi::xml_node child = node.child(name);
    if (!child) fail_with(ErrorKind::bad_input, object_hint, what, ": there is no <", name, ">");
    const std::string_view text = trimmed(child.child_value());
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        fail_with(ErrorKind::bad_input, object_hint, what, ": <", name, "> is \"",
                  repair_utf8(text.substr(0, 40)), "\", which is no number");
    if (std::fabs(value) > largest_corner)
        fail_with(ErrorKind::bad_input, "corners are pixels of the picture", what, ": <", name,
                  "> is ", value, ", beyond any picture");
    return value;
}

// A side in <size>; 0 where it is not told.
std::int64_t side_in(const pugi::xml_node& size, const char* name, const std::string& where) {
    if (!size.child(name)) return 0;
    const double value = corner_in(size, name, where + ": <size>");
    if (value < 0 || value != std::floor(value) || value > largest_picture_side)
        fail_with(ErrorKind::bad_input,
                  "pictures have 1 to 8192 pixels a side; 0 or no <size>: not told", where,
                  ": <size>: <", name, "> is ", value);
    return static_cast<std::int64_t>(value);
}

std::string label_in(const pugi::xml_node& object, const std::string& what) {
    const std::string_view name = trimmed(object.child_value("name"));
    if (name.empty())
        fail_with(ErrorKind::bad_input, object_hint, what, ": there is no <name>, or it is empty");
    if (name.size() > 256 || !is_utf8(name))
        fail_with(ErrorKind::bad_input, "a label is a short text in UTF-8", what, ": <name> is ",
                  name.size() > 256 ? text_of(name.size(), " bytes long") : "not UTF-8");
    return std::string(name);
}

VocThing thing_in(const pugi::xml_node& object, const std::string& what) {
    VocThing t;
    t.label = label_in(object, what);
    const pugi::xml_node box = object.child("bndbox");
    if (!box) fail_with(ErrorKind::bad_input, object_hint, what, ": there is no <bndbox>");
    t.xmin = corner_in(box, "xmin", what);
    t.ymin = corner_in(box, "ymin", what);
    t.xmax = corner_in(box, "xmax", what);
    t.ymax = corner_in(box, "ymax", what);
    const std::string_view difficult = trimmed(object.child_value("difficult"));
    if (!difficult.empty() && difficult != "0" && difficult != "1")
        fail_with(ErrorKind::bad_input, "0 or 1, or leave it out", what, ": <difficult> is \"",
                  repair_utf8(difficult.substr(0, 40)), "\"");
    t.difficult = difficult == "1";
    return t;
}

}  // namespace

VocPicture parse_voc(std::string_view xml, const std::string& where) {
    if (static_cast<std::int64_t>(xml.size()) > largest_voc_file)
        fail_with(ErrorKind::bad_input, "one file holds the boxes of one picture", where, ": has ",
                  xml.size(), " bytes, but at most ", largest_voc_file, " are read");
    pugi::xml_document document;
    const pugi::xml_parse_result parsed = document.load_buffer(xml.data(), xml.size());
    if (!parsed)
        fail_with(ErrorKind::bad_input, "is it whole, and PASCAL VOC's XML?", where,
                  ": no XML at byte ", parsed.offset, ": ", parsed.description());
    const pugi::xml_node root = document.child("annotation");
    if (!root)
        fail_with(ErrorKind::bad_input, "PASCAL VOC's files begin with <annotation>", where,
                  ": there is no <annotation>");
    VocPicture p;
    const std::string_view file = trimmed(root.child_value("filename"));
    if (file.size() > 4096 || !is_utf8(file))
        fail_with(ErrorKind::bad_input, "the picture's name in UTF-8", where,
                  ": <filename> is no name of a file");
    p.file = std::string(file);
    const pugi::xml_node size = root.child("size");
    p.width = side_in(size, "width", where);
    p.height = side_in(size, "height", where);
    for (const pugi::xml_node& object : root.children("object")) {
        if (p.things.size() == most_things)
            fail_with(ErrorKind::bad_input, "is it one picture's file?", where, ": has more than ",
                      most_things, " objects");
        p.things.push_back(thing_in(object, text_of(where, ": <object> ", p.things.size() + 1)));
    }
    return p;
}

}  // namespace fovea
