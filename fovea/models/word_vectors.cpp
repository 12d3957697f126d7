#include "fovea/models/word_vectors.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/utf8.h"
#include "fovea/ops/linear.h"

namespace fovea {

std::uint32_t subword_hash(std::string_view bytes) {
    std::uint32_t h = 2166136261u;
    for (const char c : bytes) {
        h ^= static_cast<std::uint32_t>(static_cast<std::int8_t>(c));
        h *= 16777619u;
    }
    return h;
}

void SubwordRule::append_rows(std::string_view word, std::int64_t words, Ids& rows) const {
    if (!on()) return;
    const std::string framed = "<" + std::string(word) + ">";
    const std::size_t size = framed.size();
    for (std::size_t begin = 0; begin < size; ++begin) {
        if (is_continuation(framed[begin])) continue;
        std::size_t end = begin;
        for (int n = 1; n <= max && end < size; ++n) {
            ++end;
            while (end < size && is_continuation(framed[end])) ++end;
            if (n < min || (n == 1 && (begin == 0 || end == size))) continue;
            const std::uint32_t h =
                subword_hash(std::string_view(framed).substr(begin, end - begin));
            rows.push_back(
                static_cast<std::int32_t>(words + h % static_cast<std::uint64_t>(buckets)));
        }
    }
}

void WordVectors::index() {
    numbers_.clear();
    for (std::size_t i = 0; i < words.size(); ++i)
        numbers_.emplace(words[i], static_cast<std::int32_t>(i));
}

std::optional<std::int32_t> WordVectors::find(std::string_view word) const {
    const auto found = numbers_.find(std::string(word));
    if (found == numbers_.end()) return {};
    return found->second;
}

Ids WordVectors::rows_of(std::string_view word) const {
    Ids rows;
    if (const auto own = find(word)) rows.push_back(*own);
    if (word != end_of_line)
        subwords.append_rows(word, static_cast<std::int64_t>(words.size()), rows);
    return rows;
}

bool WordVectors::vector_of(std::string_view word, float* to) const {
    const Ids rows = rows_of(word);
    std::fill_n(to, dim(), 0.0f);
    for (const std::int32_t row : rows)
        for (std::int64_t j = 0; j < dim(); ++j) to[j] += input.data()[row * dim() + j];
    const float share = rows.empty() ? 0.0f : 1.0f / static_cast<float>(rows.size());
    for (std::int64_t j = 0; j < dim(); ++j) to[j] *= share;
    return !rows.empty();
}

void normalise(std::span<float> v) {
    double sum = 0;
    for (const float x : v) sum += static_cast<double>(x) * x;
    if (sum <= 0) return;
    const double by = 1 / std::sqrt(sum);
    for (float& x : v) x = static_cast<float>(x * by);
}

WordNeighbours::WordNeighbours(const WordVectors& vectors)
    : unit_({static_cast<std::int64_t>(vectors.words.size()), vectors.dim()}) {
    float* to = unit_.write();
    for (const std::string& word : vectors.words) {
        vectors.vector_of(word, to);
        normalise({to, static_cast<std::size_t>(vectors.dim())});
        to += vectors.dim();
    }
}

std::vector<std::vector<Neighbour>> WordNeighbours::nearest(const Tensor& queries,
                                                            std::size_t count,
                                                            std::span<const Ids> without) const {
    Tensor unit(queries.shape());
    std::copy_n(queries.data(), queries.size(), unit.write());
    const auto dim = static_cast<std::size_t>(queries.cols());
    for (std::int64_t q = 0; q < queries.rows(); ++q)
        normalise({unit.write() + q * queries.cols(), dim});
    const Tensor scores = linear(unit, unit_);
    std::vector<std::vector<Neighbour>> out(static_cast<std::size_t>(queries.rows()));
    for (std::size_t q = 0; q < out.size(); ++q) {
        const auto at = static_cast<std::int64_t>(q);
        const float* query = unit.data() + at * unit.cols();
        if (std::all_of(query, query + dim, [](float x) { return x == 0; })) continue;
        std::vector<Neighbour> all;
        const float* row = scores.data() + at * scores.cols();
        for (std::int32_t w = 0; w < scores.cols(); ++w)
            if (q >= without.size() ||
                std::find(without[q].begin(), without[q].end(), w) == without[q].end())
                all.push_back({w, row[w]});
        const std::size_t kept = std::min(count, all.size());
        std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(kept), all.end(),
                          [](const Neighbour& a, const Neighbour& b) {
                              return a.similarity != b.similarity ? a.similarity > b.similarity
                                                                  : a.word < b.word;
                          });
        all.resize(kept);
        out[q] = std::move(all);
    }
    return out;
}

}  // namespace fovea
