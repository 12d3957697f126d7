#pragma once
// `--vectors FILE`: the embedding of a new model starts from word vectors instead of random rows.
// Thread-safety: belongs to whoever makes the model.
#include <string>

#include "fovea/tasks/task.h"
#include "fovea/tensor/parameter_store.h"
#include "fovea/text/tokenizer.h"

namespace fovea {

// Rows of the table of `tokenizer`'s tokens (the parameter with as many rows, and as many columns
// as the vectors have) become the vectors of those tokens that are words, scaled to the spread that
// the table has: models expect it. Tokens inside of words keep their random rows. `path` is a
// folder or a file of word2vec or fastText; "" does nothing. `say` hears how many words were found.
// Parameters with `without` in their names are left ("decoder": where that has other tokens).
struct VectorStart {
    std::int64_t words = 0, found = 0;  // tokens that are words
};
VectorStart start_from_vectors(const std::string& path, const ParameterStore& store,
                               const Tokenizer& tokenizer, const Say& say,
                               const std::string& without = "");

}  // namespace fovea
