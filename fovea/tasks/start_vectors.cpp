#include "fovea/tasks/start_vectors.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/data/word_corpus.h"
#include "fovea/tasks/vectors.h"

namespace fovea {
namespace {

constexpr std::string_view byte_level_space = "Ġ", metaspace = "▁";

// The words behind the tokens: "Ġthe" and "▁the" begin one where the vocabulary marks beginnings,
// "##s" never does.
class TokenWords {
public:
    explicit TokenWords(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {
        for (TokenId id = 0; id < tokenizer.vocab_size(); ++id)
            if (const auto token = tokenizer.id_to_token(id))
                marked_ = marked_ || mark_of(*token) > 0;
    }
    // "" where the token is no word.
    std::string word(TokenId id) const {
        const auto token = tokenizer_.id_to_token(id);
        if (!token || tokenizer_.is_special(id)) return "";
        const std::size_t mark = mark_of(*token);
        if (marked_) return mark > 0 ? token->substr(mark) : "";
        return token->starts_with("##") ? "" : *token;
    }

private:
    static std::size_t mark_of(std::string_view token) {
        for (const std::string_view mark : {byte_level_space, metaspace})
            if (token.starts_with(mark)) return mark.size();
        return 0;
    }
    const Tokenizer& tokenizer_;
    bool marked_ = false;
};

// Tables of tokens, by their names; what turns rows into words again is none.
bool is_embedding(const std::string& name, const std::string& without) {
    if (!without.empty() && name.find(without) != std::string::npos) return false;
    return name.find("lm_head") == std::string::npos &&
           name.find("predictions") == std::string::npos;
}

std::vector<Tensor> tables_for(const ParameterStore& store, std::int64_t rows, std::int64_t dim,
                               const std::string& path, const std::string& without) {
    std::vector<Tensor> tables;
    std::int64_t other = 0;
    for (const std::string& name : store.names()) {
        const Tensor& t = store.at(name);
        if (t.shape().rank() != 2 || t.rows() != rows || !is_embedding(name, without)) continue;
        if (t.cols() == dim)
            tables.push_back(t);
        else
            other = t.cols();
    }
    if (tables.empty() && other == 0)
        refuse_without_effect("vectors", "on a model without an embedding of tokens",
                              "leave --vectors out");
    if (tables.empty())
        fail_with(ErrorKind::usage,
                  text_of("--d-model ", dim, ", or vectors of ", other, " numbers"),
                  "train: ", path, " has vectors of ", dim,
                  " numbers, but the model's embedding has ", other);
    return tables;
}

double spread_of(std::span<const float> values) {
    double sum = 0;
    for (const float x : values) sum += static_cast<double>(x) * x;
    return std::sqrt(sum / static_cast<double>(std::max<std::size_t>(1, values.size())));
}

}  // namespace

VectorStart start_from_vectors(const std::string& path, const ParameterStore& store,
                               const Tokenizer& tokenizer, const Say& say,
                               const std::string& without) {
    VectorStart start;
    if (path.empty()) return start;
    std::vector<std::string> notes;
    const WordVectorModel model = WordVectorModel::load(path, &notes);
    for (const std::string& note : notes) say("vectors: " + note);
    const WordVectors& v = *model.vectors;
    std::vector<Tensor> tables = tables_for(store, tokenizer.vocab_size(), v.dim(), path, without);
    const TokenWords words(tokenizer);
    Tensor found = Tensor::zeros({tokenizer.vocab_size(), v.dim()});
    std::vector<std::int64_t> rows;
    for (TokenId id = 0; id < tokenizer.vocab_size(); ++id) {
        const std::string word = words.word(id);
        if (word.empty()) continue;
        ++start.words;
        float* row = found.write() + id * v.dim();
        if (!v.vector_of(word, row) && !v.vector_of(lowercased(word), row)) continue;
        ++start.found;
        rows.push_back(id);
    }
    std::vector<float> all;
    for (const std::int64_t r : rows)
        all.insert(all.end(), found.data() + r * v.dim(), found.data() + (r + 1) * v.dim());
    const double spread = spread_of(all);
    for (Tensor& table : tables) {
        const double by = spread > 0 ? spread_of(table.span()) / spread : 0;
        for (const std::int64_t r : rows)
            for (std::int64_t j = 0; j < v.dim() && by > 0; ++j)
                table.write()[r * v.dim() + j] = static_cast<float>(by * found.at(r, j));
    }
    say(text_of("vectors: ", start.found, " of the ", start.words,
                " words of the vocabulary have a "
                "vector in ",
                path));
    return start;
}

}  // namespace fovea
