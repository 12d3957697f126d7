#include "fovea/tasks/vectors.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json_fields.h"
#include "fovea/data/word_corpus.h"

namespace fovea {
namespace {

constexpr const char* unknown_word = "<unk>";

// Counts as two numbers that f32 holds exactly: up to 2^40.
Tensor counts_tensor(const std::vector<std::int64_t>& counts, std::size_t words) {
    Tensor t = Tensor::zeros({static_cast<std::int64_t>(words), 2});
    float* to = t.write();
    for (std::size_t i = 0; i < counts.size(); ++i) {
        to[2 * i] = static_cast<float>(counts[i] >> 20);
        to[2 * i + 1] = static_cast<float>(counts[i] & ((1 << 20) - 1));
    }
    return t;
}

std::vector<std::int64_t> counts_of(const Tensor& t) {
    std::vector<std::int64_t> counts;
    for (std::int64_t i = 0; i < t.rows(); ++i)
        counts.push_back((static_cast<std::int64_t>(t.at(i, 0)) << 20) +
                         static_cast<std::int64_t>(t.at(i, 1)));
    if (std::all_of(counts.begin(), counts.end(), [](std::int64_t c) { return c == 0; }))
        counts.clear();
    return counts;
}

// A word is a token; ids are the words' numbers.
std::shared_ptr<const Tokenizer> tokenizer_of(const std::vector<std::string>& words) {
    std::vector<std::string> tokens = words;
    WordLevelSpec model;
    if (std::find(words.begin(), words.end(), unknown_word) == words.end())
        tokens.emplace_back(unknown_word);
    model.vocab = Vocabulary(tokens);
    TokenizerSpec spec;
    spec.pre_tokenizer.push_back(pretokenizer::WhitespaceSplit{});
    spec.model = std::move(model);
    return std::make_shared<const Tokenizer>(Tokenizer(std::move(spec)));
}

// The tables of a folder, by its config.
struct VectorTables {
    VectorTables(const Json& config, const std::string& where, const Params& p) {
        JsonFields f(config, where);
        std::int64_t words = 0, buckets = 0;
        int dim = 0;
        bool has_output = true;
        f.require("vocab_size", words, {1, 1u << 31});
        f.require("hidden_size", dim, {1, 1 << 16});
        f.read("buckets", buckets, {0, 1u << 31});
        f.read("has_output", has_output);
        input = p.constant("input.weight", {words + buckets, dim}, zeros());
        p.store().keep_exact("counts");
        counts = p.constant("counts", {words, 2}, zeros());
        if (has_output) output = p.constant("output.weight", {words, dim}, zeros());
    }
    Tensor input, output, counts;
};

}  // namespace

WordVectorModel WordVectorModel::of(WordVectors vectors, Json settings) {
    WordVectorModel m;
    m.folder.task = "vectors";
    m.folder.config = std::move(settings);
    Json& c = m.folder.config;
    c["model_type"] = word_vectors_type;
    c["vocab_size"] = vectors.words.size();
    c["hidden_size"] = vectors.dim();
    c["objective"] = vectors.skip_gram ? "skipgram" : "cbow";
    c["buckets"] = vectors.subwords.buckets;
    c["min_n"] = vectors.subwords.min;
    c["max_n"] = vectors.subwords.max;
    c["has_output"] = !vectors.output.empty();
    m.folder.tokenizer = m.folder.target_tokenizer = tokenizer_of(vectors.words);
    m.store = std::make_shared<ParameterStore>();
    m.store->put("input.weight", vectors.input);
    m.store->put("counts", counts_tensor(vectors.counts, vectors.words.size()));
    if (!vectors.output.empty()) m.store->put("output.weight", vectors.output);
    vectors.index();
    m.vectors = std::make_shared<const WordVectors>(std::move(vectors));
    return m;
}

WordVectorModel WordVectorModel::open(ModelFolder folder) {
    WordVectorModel m;
    m.folder = std::move(folder);
    m.folder.generation = Json::object();
    const std::string where = m.folder.config_path();
    if (model_type_of(m.folder.config) != word_vectors_type)
        fail_with(ErrorKind::usage, "fovea embed takes any text encoder", m.folder.path,
                  ": holds no word vectors (model_type \"", model_type_of(m.folder.config), "\")");
    m.store = m.folder.load({}, Format::f32,
                            [&](const Params& p) { VectorTables(m.folder.config, where, p); });
    Rng unused;
    const VectorTables tables(m.folder.config, where, Params(*m.store, unused));
    WordVectors v;
    v.input = tables.input;
    v.output = tables.output;
    v.counts = counts_of(tables.counts);
    JsonFields f(m.folder.config, where);
    f.read("buckets", v.subwords.buckets);
    f.read("min_n", v.subwords.min, {0, 64});
    f.read("max_n", v.subwords.max, {0, 64});
    int objective = 0;
    f.read_choice("objective", {"skipgram", "cbow"}, objective);
    v.skip_gram = objective == 0;
    for (std::int64_t i = 0; i < tables.counts.rows(); ++i) {
        const auto word = m.folder.tokenizer->id_to_token(static_cast<TokenId>(i));
        expect_input(word.has_value(), m.folder.path, ": tokenizer.json has no word ", i, " of ",
                     tables.counts.rows());
        v.words.push_back(*word);
    }
    v.index();
    m.vectors = std::make_shared<const WordVectors>(std::move(v));
    return m;
}

WordVectors word_vectors_of(WordVectorFile file) {
    WordVectors v;
    v.words = std::move(file.words);
    v.counts = std::move(file.counts);
    v.subwords = {file.min_n, file.max_n, file.buckets};
    v.skip_gram = file.skip_gram;
    v.input = file.input;
    v.output = file.output;
    v.index();
    return v;
}

WordVectorModel WordVectorModel::load(const std::string& path, std::vector<std::string>* notes) {
    if (is_folder(path)) return open(ModelFolder::open(path));
    WordVectorFile file = read_word_vectors(path);
    if (notes)
        for (const std::string& note : file.notes) notes->push_back(path + ": " + note);
    const Json settings{{"window", file.window},
                        {"negatives", file.negatives},
                        {"sample", file.sample},
                        {"min_count", file.min_count},
                        {"epochs", file.epochs}};
    return of(word_vectors_of(std::move(file)), settings);
}

void WordVectorModel::save(const std::string& path, bool overwrite) const {
    folder.save(path, *store, {}, overwrite);
}

void save_word_vectors(const ModelFolder& model, const ParameterStore& trained,
                       const std::string& out, bool overwrite) {
    model.save(out, trained, {}, overwrite);
}

WordVectorFile WordVectorModel::file(WordVectorFormat format) const {
    const WordVectors& v = *vectors;
    WordVectorFile out;
    out.words = v.words;
    out.counts = v.counts;
    out.skip_gram = v.skip_gram;
    JsonFields f(folder.config, folder.config_path());
    f.read("window", out.window);
    f.read("negatives", out.negatives);
    f.read("sample", out.sample);
    f.read("min_count", out.min_count);
    f.read("epochs", out.epochs);
    if (format == WordVectorFormat::fasttext) {
        out.input = v.input;
        out.output = v.output;
        out.buckets = v.subwords.buckets;
        out.min_n = v.subwords.min;
        out.max_n = v.subwords.max;
        return out;
    }
    out.input = Tensor({static_cast<std::int64_t>(v.words.size()), v.dim()});
    float* to = out.input.write();
    for (std::size_t w = 0; w < v.words.size(); ++w)
        v.vector_of(v.words[w], to + static_cast<std::int64_t>(w) * v.dim());
    return out;
}

namespace {

struct WordQuery {
    std::vector<float> vector;
    Ids words;  // to be left out
};

WordQuery parse_query(const WordVectors& v, const std::string& text) {
    WordQuery q{std::vector<float>(static_cast<std::size_t>(v.dim())), {}};
    std::vector<float> one(q.vector.size());
    float sign = 1;
    bool wants_word = true;
    std::size_t terms = 0;
    for_each_word(text, [&](std::string_view word) {
        if (!wants_word && (word == "+" || word == "-")) {
            sign = word == "+" ? 1.0f : -1.0f;
            wants_word = true;
            return;
        }
        if (!wants_word)
            fail_with(ErrorKind::bad_input,
                      "one word, or words with + and - between them: king - man + woman; whole "
                      "sentences: fovea embed",
                      "vectors: \"", text, "\" has no + or - before \"", word, "\"");
        if (!v.vector_of(word, one.data()))
            fail_with(ErrorKind::bad_input, "it was seen too rarely in training, or never",
                      "vectors: nothing is known of the word \"", word, "\"");
        if (const auto number = v.find(word)) q.words.push_back(*number);
        normalise(one);
        for (std::size_t j = 0; j < one.size(); ++j) q.vector[j] += sign * one[j];
        wants_word = false;
        ++terms;
    });
    if (wants_word)
        fail_with(ErrorKind::bad_input, "one word a line, or king - man + woman",
                  "vectors: ", terms == 0 ? "an empty line" : "\"" + text + "\" ends with a sign");
    return q;
}

}  // namespace

std::vector<std::vector<WordAnswer>> nearest_words(const WordVectorModel& model,
                                                   std::span<const std::string> queries,
                                                   std::size_t count) {
    const WordVectors& v = *model.vectors;
    std::vector<Ids> without;
    Tensor all({static_cast<std::int64_t>(queries.size()), v.dim()});
    float* to = all.write();
    for (const std::string& text : queries) {
        WordQuery q = parse_query(v, text);
        to = std::copy(q.vector.begin(), q.vector.end(), to);
        without.push_back(std::move(q.words));
    }
    std::vector<std::vector<WordAnswer>> out;
    if (queries.empty()) return out;
    for (const auto& found : WordNeighbours(v).nearest(all, count, without)) {
        std::vector<WordAnswer>& answers = out.emplace_back();
        for (const Neighbour& n : found)
            answers.push_back({v.words[static_cast<std::size_t>(n.word)], n.similarity});
    }
    return out;
}

}  // namespace fovea
