#pragma once
// A model folder written anew: in another number format, with old spellings of names made new and
// shards joined. The new folder gives the answers of the old one (up to the rounding asked for).
// Thread-safety: calls for different folders may run at once.
#include <cstdint>
#include <string>
#include <vector>

namespace fovea {

struct ConvertOptions {
    std::string dtype = "same";  // or one of convert_dtypes()
    bool overwrite = false;
    std::string layout = "fasttext";  // of word vectors written to a .bin file; or word2vec
};

std::vector<std::string> convert_dtypes();  // same, f32, bf16, f16, int8

struct Converted {
    std::string task, from, to;  // of the model; numbers before and after
    std::int64_t parameters = 0;
    std::int64_t bytes_before = 0, bytes_after = 0;  // of the weights
};

// Word vectors may be files, on either side: a .vec, .txt or .bin of word2vec or fastText becomes a
// model folder, and a folder becomes such a file where `out` is named so.
// Opens the folder as its task does (so that everything missing, unused or misshapen is one error)
// and writes it to `out`, which must not hold a model unless `overwrite`, and never is the folder
// itself.
Converted convert_model(const std::string& path, const std::string& out,
                        const ConvertOptions& options);

}  // namespace fovea
