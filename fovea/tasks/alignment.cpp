#include "fovea/tasks/alignment.h"

#include <algorithm>

#include "fovea/infer/attention_maps.h"

namespace fovea {
namespace {

constexpr std::int64_t no_word = -1;

std::int64_t words_in(const std::string& text) {
    std::int64_t words = 0;
    bool inside = false;
    for (const char c : text) {
        const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        words += !space && !inside;
        inside = !space;
    }
    return words;
}

// The word each token is part of: tokens are decoded one by one behind those before them, and words
// counted. A token that adds no letter (a space of its own, </s>) is part of none.
std::vector<std::int64_t> words_of(const Tokenizer& tokenizer, const Ids& ids) {
    std::vector<std::int64_t> words;
    Ids so_far;
    std::string before;
    for (const std::int32_t id : ids) {
        so_far.push_back(id);
        std::string text = tokenizer.decode(so_far);
        const auto letters = [](const std::string& s) {
            return std::count_if(s.begin(), s.end(), [](char c) { return c != ' '; });
        };
        words.push_back(letters(text) > letters(before) ? words_in(text) - 1 : no_word);
        before = std::move(text);
    }
    return words;
}

std::int64_t largest(const std::vector<double>& v) {
    return std::max_element(v.begin(), v.end()) - v.begin();
}

}  // namespace

Alignment align(const Seq2SeqModel& model, const Ids& source, const Ids& produced, int layer) {
    Alignment a;
    if (produced.empty() || source.size() < 2) return a;
    const std::string attention = model.network.source_attention(layer);
    if (attention.empty())
        fail_with(ErrorKind::usage, "leave alignments out, or train with --attention global",
                  "alignments: this model has no attention to its source");
    Seq2SeqBatch batch;
    batch.source = source;
    batch.input = {model.network.start_token};
    batch.input.insert(batch.input.end(), produced.begin(),
                       produced.end() - 1);  // row i predicts token i
    for (std::int32_t& id : batch.input)
        if (id >= model.network.target_vocabulary) id = model.network.unknown_token;
    batch.source_segments = Segments::of_lengths({static_cast<std::int64_t>(source.size())});
    batch.target_segments = Segments::of_lengths({static_cast<std::int64_t>(produced.size())});
    const PrecisionScope scope(model.precision);
    Probe probe;
    model.network.pass(batch);
    const std::vector<std::vector<float>> map = mean_map(probe, probe.find(attention));

    const std::vector<std::int64_t> source_words = words_of(*model.source_tokenizer, source),
                                    target_words = words_of(*model.target_tokenizer, produced);
    const std::int64_t words = *std::max_element(source_words.begin(), source_words.end()) + 1;
    std::vector<double> seen(static_cast<std::size_t>(words));  // by the target word so far
    const std::size_t keys = source.size() - 1;                 // without </s>
    for (std::size_t t = 0; t < produced.size(); ++t) {
        const auto row = map[t].begin();
        a.tokens.push_back({std::max_element(row, row + static_cast<std::ptrdiff_t>(keys)) - row,
                            static_cast<std::int64_t>(t)});
        if (target_words[t] == no_word || words == 0) continue;
        for (std::size_t k = 0; k < keys; ++k)
            if (source_words[k] != no_word)
                seen[static_cast<std::size_t>(source_words[k])] += map[t][k];
        const auto next =
            std::find_if(target_words.begin() + static_cast<std::ptrdiff_t>(t) + 1,
                         target_words.end(), [](std::int64_t word) { return word != no_word; });
        if (next != target_words.end() && *next == target_words[t]) continue;  // goes on
        a.words.push_back({largest(seen), target_words[t]});
        std::fill(seen.begin(), seen.end(), 0.0);
    }
    return a;
}

}  // namespace fovea
