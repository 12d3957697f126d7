#pragma once
// The small tokenizers of tests/text/tokenizers, one of every kind; all were trained by Fovea.
#include <unistd.h>

#include <string>

#include "fovea/base/files.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

inline constexpr const char* committed_tokenizers[] = {
    "bert-uncased.json", "bert-cased.json", "gpt2.json",  "roberta.json",
    "gpt.json",          "albert.json",     "xlnet.json", "t5.json",
    "llama.json",        "word.json",       "t5.model",   "llama.model"};

// A file that lives as long as this.
struct TemporaryFile {
    std::string path;
    explicit TemporaryFile(const std::string& name)
        : path("/tmp/fovea-" + std::to_string(getpid()) + "-" + name) {}
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() { unlink(path.c_str()); }
};

inline std::string committed_bytes(const std::string& name) {
    return read_file_or_gzip(std::string(FOVEA_SOURCE_DIR) + "/tests/text/tokenizers/" + name +
                             ".gz");
}

inline Tokenizer load_committed(const std::string& name) {
    const TemporaryFile file(name);
    write_file_atomically(file.path, committed_bytes(name));
    return Tokenizer::load(file.path);
}

}  // namespace fovea
