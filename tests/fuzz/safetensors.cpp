#include <algorithm>
#include <unordered_set>

#include "fovea/base/error.h"
#include "fovea/io/safetensors.h"
#include "fuzz_targets.h"

namespace fovea {

void fuzz_safetensors(FuzzBytes data) {
    // Two bytes for the header's length instead of eight, so that most inputs get past it.
    if (data.size() < 2) return;
    const std::string_view rest = text_of_bytes(data).substr(2);
    const std::size_t length = std::min<std::size_t>(data[0] + 256u * data[1], rest.size());
    const std::string_view json = rest.substr(0, length);
    const auto bytes = static_cast<std::int64_t>(rest.size() - length);
    try {
        const SafetensorsHeader header = parse_safetensors_header(json, bytes, "f.safetensors");
        std::int64_t at = 0;
        std::unordered_set<std::string> names;
        for (const TensorInfo& t : header.tensors) {
            property(t.begin == at && t.end >= t.begin, "no holes and no overlaps");
            property(t.elements() * bits_of(t.dtype) == (t.end - t.begin) * 8, "sizes fit shapes");
            property(names.insert(t.name).second, "names are unique");
            at = t.end;
            std::vector<float> values(static_cast<std::size_t>(t.elements()));
            if (can_convert_to_f32(t.dtype))
                convert_to_f32(t.dtype, rest.data() + length + t.begin, t.elements(),
                               values.data());
        }
        property(at == bytes, "every byte belongs to a tensor");
    } catch (const Error& e) {
        property(std::string_view(e.what()).rfind("f.safetensors: ", 0) == 0,
                 "an error names the file");
        property(e.kind() == ErrorKind::bad_input, "an error is about the input");
    }
}

}  // namespace fovea
