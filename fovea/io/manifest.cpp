#include "fovea/io/manifest.h"

#include "fovea/base/error.h"
#include "fovea/io/flat_json.h"
#include "fovea/io/hash.h"

namespace fovea {
namespace {

constexpr std::string_view mark = ",\"checksum\":\"";

[[noreturn]] void refuse_manifest(const std::string& where, const std::string& what) {
    throw Error(where + ": " + what, ErrorKind::bad_input);
}

}  // namespace

std::string manifest_text(const Manifest& m) {
    JsonWriter json;
    json.open('{');
    const auto add = [&](const char* name, const auto& x) { json.key(name), json.value(x); };
    add("format", manifest_format);
    add("step", m.step);
    add("parent_step", m.parent_step);
    json.key("files");
    json.open('[');
    for (const ManifestEntry& f : m.files) {
        json.open('{');
        add("name", f.name);
        add("size", f.size);
        add("xxh3_128", f.xxh3_128);
        add("tensors", f.tensors);
        json.close('}');
    }
    json.close(']');
    add("run", m.run);
    add("code_version", m.code_version);
    std::string text = json.text();  // its } follows the checksum
    const std::string checksum = hash_of(text);
    return text.append(mark).append(checksum).append("\"}\n");
}

Manifest parse_manifest(const std::string& text, const std::string& where) {
    const std::size_t at = text.rfind(mark);
    const std::size_t tail = mark.size() + 32 + 3;
    if (at == std::string::npos || text.size() - at != tail || !text.ends_with("\"}\n"))
        refuse_manifest(where, "is damaged or cut off: its checksum is missing");
    if (hash_of(std::string_view(text).substr(0, at)) != text.substr(at + mark.size(), 32))
        refuse_manifest(where, "is damaged: its checksum does not fit");

    const FlatJson json(text, where);
    Manifest m;
    if (const std::int64_t format = json.integer("format"); format != manifest_format)
        fail_with(ErrorKind::bad_input, "use the version of Fovea that wrote it", where,
                  ": has the format ", format, " but this version reads ", manifest_format);
    const auto at_least = [&](const std::string& path, std::int64_t least) {
        const std::int64_t n = json.integer(path);
        if (n < least)
            refuse_manifest(where,
                            text_of("\"", path, "\" is ", n, " but must be at least ", least));
        return n;
    };
    m.step = at_least("step", 0);
    m.parent_step = at_least("parent_step", -1);
    m.run = json.text("run");
    m.code_version = json.text("code_version");
    const std::int64_t files = json.items("files");
    if (files == 0) refuse_manifest(where, "lists no files");
    for (std::int64_t i = 0; i < files; ++i) {
        const std::string entry = FlatJson::in("files", std::to_string(i));
        ManifestEntry e{json.text(FlatJson::in(entry, "name")),
                        at_least(FlatJson::in(entry, "size"), 0),
                        json.text(FlatJson::in(entry, "xxh3_128")),
                        at_least(FlatJson::in(entry, "tensors"), 0)};
        if (e.name.empty() || e.name.find('/') != std::string::npos || e.name == ".." ||
            e.name == ".")
            refuse_manifest(where, "lists the file \"" + e.name + "\", which is no plain name");
        m.files.push_back(std::move(e));
    }
    return m;
}

}  // namespace fovea
