#pragma once
// MANIFEST.json, the last file written into a checkpoint: what belongs to it and the checksum of
// each file, under a checksum of its own, so that no single flipped bit anywhere goes unseen.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <cstdint>
#include <string>
#include <vector>

namespace fovea {

struct ManifestEntry {
    std::string name;
    std::int64_t size = 0;
    std::string xxh3_128;
    std::int64_t tensors = 0;  // 0 for files that hold none
};

inline constexpr std::int64_t manifest_format = 2;

struct Manifest {
    std::int64_t step = 0;
    std::int64_t parent_step = -1;  // the checkpoint this run came from, -1 for none
    std::vector<ManifestEntry> files = {};
    std::string run = {};  // the run's id: checkpoints of different runs are never mixed
    std::string code_version = {};
};

std::string manifest_text(const Manifest& manifest);
Manifest parse_manifest(const std::string& text, const std::string& where);

}  // namespace fovea
