#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"
#include "fovea/io/hash.h"
#include "fovea/io/manifest.h"
#include "fovea/train/train_state.h"
#include "fuzz_targets.h"

namespace fovea {

void fuzz_saved_state(FuzzBytes data) {
    if (data.empty()) return;
    const std::string text(text_of_bytes(data).substr(1));
    try {
        if (data[0] % 3 == 0) {
            const TrainState s = parse_state(text, "f.json");
            property(parse_state(state_text(s), "f.json") == s, "a state survives saving");
        } else if (data[0] % 3 == 1) {
            // with a checksum that fits, or nothing would get past it
            const std::string whole = text + ",\"checksum\":\"" + hash_of(text) + "\"}\n";
            const Manifest m = parse_manifest(whole, "f.json");
            property(!m.files.empty(), "a manifest lists files");
            for (const ManifestEntry& f : m.files)
                property(f.size >= 0 && f.name.find('/') == std::string::npos, "plain names");
            const std::string again = manifest_text(m);
            property(manifest_text(parse_manifest(again, "f.json")) == again,
                     "a manifest survives saving");
        } else {
            JsonFields f(parse_json(text, "f.json"), "f.json");
            int n = 0;
            double x = 0;
            bool b = false;
            std::string s;
            std::vector<int> list;
            const auto read = [&](auto& value, auto... range) {
                try {
                    f.read("x", value, range...);
                } catch (const Error&) {
                }
            };
            read(n, NumberRange{.min = 1, .max = 9});
            property(n == 0 || (n >= 1 && n <= 9), "ranges hold");
            read(x, NumberRange{.min = 0});
            property(x >= 0, "ranges hold");
            read(b);
            read(s);
            read(list, NumberRange{});
        }
    } catch (const Error& e) {
        property(std::string_view(e.what()).rfind("f.json: ", 0) == 0, "an error names the file");
    }
}

}  // namespace fovea
