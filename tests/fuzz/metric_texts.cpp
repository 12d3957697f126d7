#include <algorithm>
#include <cmath>

#include "fovea/metrics/bleu.h"
#include "fovea/metrics/chrf.h"
#include "fovea/metrics/porter.h"
#include "fovea/metrics/rouge.h"
#include "fovea/metrics/unicode.h"
#include "fuzz_targets.h"

namespace fovea {
namespace {

void in_range(double x, double most) {
    property(std::isfinite(x) && x >= 0 && x <= most * (1 + 1e-9), "a score is in its range");
}

std::u32string without_spaces(std::string_view text) {
    std::u32string out;
    for (const char32_t c : decode_utf8(text))
        if (!is_python_space(c)) out.push_back(c);
    return out;
}

}  // namespace

void fuzz_metric_texts(FuzzBytes data) {
    if (data.empty()) return;
    const std::string_view rest = text_of_bytes(data).substr(1);
    const std::size_t cut = std::min(rest.find('\xFF'), rest.size());
    const std::string a(rest.substr(0, cut)), b(rest.substr(std::min(cut + 1, rest.size())));
    const bool lc = data[0] & 1;
    const References references{b, a};
    // One metric a run: depth is runs.
    static constexpr const char* tokenizers[] = {"none", "13a", "intl", "char", "zh"};
    const int metric = data[0] / 8 % 9;
    if (metric < 5) {
        const BleuOptions options{.tokenizer = bleu_tokenizer(tokenizers[metric]),
                                  .lowercase = lc,
                                  .smoothing = static_cast<Smoothing>(data[0] / 2 % 4),
                                  .effective_order = true};
        if (options.tokenizer != BleuTokenizer::v13a)  // which resolves entities
            property(without_spaces(tokenize_for_bleu(options.tokenizer, a)) == without_spaces(a),
                     "a tokenizer adds spaces and nothing else");
        in_range(sentence_bleu(a, {b}, options).score, 100);
        const BleuScore self = sentence_bleu(a, references, options);
        property(self.matches == self.totals, "a text matches itself");
        property(fitting_tokenizer(references) == fitting_tokenizer(std::vector{a, b}),
                 "the order of references does not matter");
    } else if (metric < 7) {
        const ChrfOptions options{.word_order = metric == 5 ? 0 : 2, .lowercase = lc};
        const double alone = sentence_chrf(a, {b}, options).score;
        in_range(alone, 100);
        property(sentence_chrf(a, references, options).score + 1e-9 >= alone,
                 "the best reference counts");
    } else {
        const RougeScore s = rouge(b, a, {.stemmer = metric == 7});
        for (const RougeValue& v : {s.rouge1, s.rouge2, s.rougeL, s.rougeLsum}) {
            in_range(v.precision, 1);
            in_range(v.recall, 1);
            in_range(v.f1, 1);
        }
        property(s.rougeL.f1 <= s.rouge1.f1 + 1e-12, "a common subsequence is of common words");
        for (const std::string& word : rouge_words(a))
            property(porter_stem(word).size() <= word.size() + 1, "a stem is hardly longer");
    }
}

}  // namespace fovea
