#include "fovea/models/word_runs.h"

#include <algorithm>

#include "fovea/base/json_fields.h"

namespace fovea {
namespace {

// A run and one more token, or word (the finaliser of splitmix64 mixes the bits).
std::uint64_t longer_run(std::uint64_t run, std::uint64_t next) {
    std::uint64_t h = run * 0x9e3779b97f4a7c15ull + next + 1;
    h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
    return h ^ (h >> 31);
}

}  // namespace

void RunConfig::apply_runs(const EncoderChoice& choice) {
    separator_id = choice.space_token;
    end_id = choice.end_token;
    if (choice.space_token >= 0) min_ngram = 3, max_ngram = 5;
}

void RunConfig::read_runs(const Json& json, const std::string& where) {
    JsonFields f(json, where);
    f.read("max_ngram", max_ngram, {1, 64});
    f.read("min_ngram", min_ngram, {1, 64});
    f.read("separator_id", separator_id, {-1, 1 << 24});
    f.read("end_id", end_id, {-1, 1 << 24});
    f.read("mark_ids", mark_ids, {0, 1 << 24});
    f.read("word_ngram", word_ngram, {0, 64});
    f.read("buckets", buckets, {1, 1 << 26});
}

void RunConfig::write_runs(Json& j) const {
    j["min_ngram"] = min_ngram;
    j["max_ngram"] = max_ngram;
    if (separator_id >= 0) {
        j["separator_id"] = separator_id;
        j["end_id"] = end_id;
        if (!mark_ids.empty()) j["mark_ids"] = mark_ids;
        j["word_ngram"] = word_ngram;
    }
    j["buckets"] = buckets;
}

WordRuns::WordRuns(const RunConfig& config, int vocabulary)
    : c_(config), vocabulary_(vocabulary), marks_(config.mark_ids.begin(), config.mark_ids.end()) {
    std::sort(marks_.begin(), marks_.end());
}

void WordRuns::add(std::span<const std::int32_t> tokens) {
    std::size_t start = 0;  // of the runs: the separator in front of the word
    std::vector<std::uint64_t> words;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::size_t before = ids.size();
        add_runs(tokens.subspan(start, i + 1 - start));
        if (is_mark(tokens[i])) {
            words.push_back(word_of(tokens.subspan(i, 1)));
            add_words(words);
        }
        if (parts(tokens[i]))
            start = i;
        else if (c_.separator_id >= 0 && (i + 1 == tokens.size() || parts(tokens[i + 1]))) {
            words.push_back(word_of(tokens.subspan(start, i + 1 - start)));
            add_words(words);
        }
        lengths.push_back(static_cast<std::int64_t>(ids.size() - before));
    }
}

bool WordRuns::is_mark(std::int32_t token) const {
    return std::binary_search(marks_.begin(), marks_.end(), token);
}

bool WordRuns::parts(std::int32_t token) const {
    return c_.separator_id >= 0 &&
           (token == c_.separator_id || token == c_.end_id || is_mark(token));
}

// Its characters, without the separator in front; or a mark.
std::uint64_t WordRuns::word_of(std::span<const std::int32_t> tokens) const {
    std::uint64_t word = 1;
    for (const std::int32_t token : tokens)
        if (!parts(token) || tokens.size() == 1)
            word = longer_run(word, static_cast<std::uint64_t>(token));
    return word;
}

// Those that end with the last of these tokens.
void WordRuns::add_runs(std::span<const std::int32_t> tokens) {
    std::uint64_t run = 0;
    for (int n = 1; n <= c_.max_ngram && static_cast<std::size_t>(n) <= tokens.size(); ++n) {
        const std::int32_t own = tokens[tokens.size() - static_cast<std::size_t>(n)];
        // A word has the same beginnings and ends beside a mark as beside a separator.
        const std::int32_t token = is_mark(own) ? c_.separator_id : own;
        run = longer_run(run, static_cast<std::uint64_t>(token));
        if (n < c_.min_ngram) continue;
        if (n > 1) {
            add_bucket(run, false);
            continue;
        }
        ids.push_back(token);
        of_words.push_back(0);
    }
}

void WordRuns::add_words(std::span<const std::uint64_t> words) {
    std::uint64_t run = 2;
    for (int n = 1; n <= c_.word_ngram && static_cast<std::size_t>(n) <= words.size(); ++n) {
        run = longer_run(run, words[words.size() - static_cast<std::size_t>(n)]);
        add_bucket(run, true);
    }
}

void WordRuns::add_bucket(std::uint64_t run, bool words) {
    ids.push_back(vocabulary_ +
                  static_cast<std::int32_t>(run % static_cast<std::uint64_t>(c_.buckets)));
    of_words.push_back(words);
}

}  // namespace fovea
