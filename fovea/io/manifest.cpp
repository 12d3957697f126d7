#include "fovea/io/manifest.h"

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/io/config_fields.h"
#include "fovea/io/hash.h"

namespace fovea {
namespace {

constexpr std::string_view mark = ",\"checksum\":\"";

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
    throw Error(where + ": " + what, ErrorKind::bad_input);
}

}  // namespace

std::string manifest_text(const Manifest& m) {
    Json json{{"format", m.format},
              {"step", m.step},
              {"parent_step", m.parent_step},
              {"files", Json::array()},
              {"config_hash", m.config_hash},
              {"code_version", m.code_version},
              {"isa", m.isa},
              {"world_size", m.world_size}};
    for (const ManifestEntry& f : m.files)
        json["files"].push_back(
            {{"name", f.name}, {"size", f.size}, {"xxh3_128", f.xxh3_128}, {"tensors", f.tensors}});
    std::string text = to_text(json);
    text.pop_back();  // the final }, which follows the checksum
    const std::string checksum = hash_of(text);
    return text.append(mark).append(checksum).append("\"}\n");
}

Manifest parse_manifest(const std::string& text, const std::string& where) {
    const std::size_t at = text.rfind(mark);
    const std::size_t tail = mark.size() + 32 + 3;
    if (at == std::string::npos || text.size() - at != tail || !text.ends_with("\"}\n"))
        refuse(where, "is damaged or cut off: its checksum is missing");
    const std::string body = text.substr(0, at);
    if (hash_of(body) != text.substr(at + mark.size(), 32))
        refuse(where, "is damaged: its checksum does not fit");

    ConfigFields fields(parse_json(text, where), where);
    Manifest m;
    fields.require("format", m.format);
    if (m.format != 1)
        fail_with(ErrorKind::bad_input, "use the version of Fovea that wrote it", where,
                  ": has the format ", m.format, " but this version reads 1");
    fields.require("step", m.step, NumberRange{.min = 0});
    fields.require("parent_step", m.parent_step, NumberRange{.min = -1});
    fields.require("config_hash", m.config_hash);
    fields.require("code_version", m.code_version);
    fields.require("isa", m.isa);
    fields.require("world_size", m.world_size, NumberRange{.min = 1});
    const Json& files = fields.json()["files"];
    if (!files.is_array() || files.empty()) refuse(where, "lists no files");
    for (const Json& f : files) {
        ConfigFields entry(f, where);
        ManifestEntry e;
        entry.require("name", e.name);
        entry.require("size", e.size, NumberRange{.min = 0});
        entry.require("xxh3_128", e.xxh3_128);
        entry.require("tensors", e.tensors, NumberRange{.min = 0});
        if (e.name.empty() || e.name.find('/') != std::string::npos || e.name == ".." ||
            e.name == ".")
            refuse(where, "lists the file \"" + e.name + "\", which is no plain name");
        m.files.push_back(std::move(e));
    }
    return m;
}

}  // namespace fovea
