#include "fovea/data/word_corpus.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "fovea/base/utf8.h"
#include "fovea/text/unicode/unicode.h"

namespace fovea {
namespace {

constexpr const char* line_end = "</s>";

class CorpusMaker {
public:
    explicit CorpusMaker(const WordCorpusOptions& options) : options_(options) {
        corpus_.lines.push_back(0);
    }

    void add_text(std::string_view text) {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            const std::string_view line = text.substr(at, end - at);
            add_line(options_.lowercase ? lowercased(line) : std::string(line));
            at = end + 1;
        }
    }

    WordCorpus finish() {
        const std::vector<std::int32_t> numbers = choose_words();
        WordCorpus out = std::move(corpus_);
        const std::vector<std::int32_t> all = std::move(out.tokens);
        const std::vector<std::int64_t> lines = std::move(out.lines);
        out.tokens.clear();
        out.lines = {0};
        for (std::size_t l = 0; l + 1 < lines.size(); ++l) {
            for (std::int64_t i = lines[l]; i < lines[l + 1]; ++i)
                if (const std::int32_t number =
                        numbers[static_cast<std::size_t>(all[static_cast<std::size_t>(i)])];
                    number >= 0)
                    out.tokens.push_back(number);
            if (static_cast<std::int64_t>(out.tokens.size()) > out.lines.back())
                out.lines.push_back(static_cast<std::int64_t>(out.tokens.size()));
        }
        return out;
    }

private:
    void add_line(const std::string& line) {
        const std::size_t before = corpus_.tokens.size();
        for_each_word(line, [&](std::string_view word) { add_word(word); });
        if (corpus_.tokens.size() == before) return;
        add_word(line_end);
        end_line();
    }

    void add_word(std::string_view word) {
        const auto [it, fresh] =
            numbers_.try_emplace(std::string(word), static_cast<std::int32_t>(counts_.size()));
        if (fresh) {
            counts_.push_back(0);
            words_.push_back(&it->first);
        }
        ++counts_[static_cast<std::size_t>(it->second)];
        ++corpus_.read;
        corpus_.tokens.push_back(it->second);
        if (static_cast<std::int64_t>(corpus_.tokens.size()) - corpus_.lines.back() >=
            options_.longest_line)
            end_line();
    }

    void end_line() {
        const auto end = static_cast<std::int64_t>(corpus_.tokens.size());
        if (end > corpus_.lines.back()) corpus_.lines.push_back(end);
    }

    // The words that stay, and the number that each word so far has among them, or -1.
    std::vector<std::int32_t> choose_words() {
        std::vector<std::int32_t> order(counts_.size()), numbers(counts_.size(), -1);
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
            return counts_[static_cast<std::size_t>(a)] > counts_[static_cast<std::size_t>(b)];
        });
        for (const std::int32_t old : order) {
            const auto at = static_cast<std::size_t>(old);
            if (counts_[at] < options_.min_count) break;
            numbers[at] = static_cast<std::int32_t>(corpus_.words.size());
            corpus_.words.push_back(*words_[at]);
            corpus_.counts.push_back(counts_[at]);
        }
        corpus_.different = static_cast<std::int64_t>(counts_.size());
        return numbers;
    }

    WordCorpusOptions options_;
    WordCorpus corpus_;
    std::unordered_map<std::string, std::int32_t> numbers_;
    std::vector<const std::string*> words_;
    std::vector<std::int64_t> counts_;
};

}  // namespace

std::string lowercased(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        char32_t lower[2];
        const int n = text::to_lower(next_code_point(text, at), lower);
        for (int i = 0; i < n; ++i) append_utf8(out, lower[i]);
    }
    return out;
}

WordCorpus read_word_corpus(const DocumentFiles& files, const WordCorpusOptions& options,
                            std::vector<std::string>* notes) {
    CorpusMaker maker(options);
    for_each_document(
        files, [&](std::string_view text, bool) { maker.add_text(text); }, notes);
    return maker.finish();
}

}  // namespace fovea
