#include "fovea/metrics/wer.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/metrics/signature.h"

namespace fovea {
namespace {

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::vector<std::string_view> spoken_words(std::string_view text) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; at < text.size();) {
        while (at < text.size() && is_blank(text[at])) ++at;
        const std::size_t begin = at;
        while (at < text.size() && !is_blank(text[at])) ++at;
        if (at > begin) words.push_back(text.substr(begin, at - begin));
    }
    return words;
}

std::string_view stripped(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

std::u32string code_points(std::string_view text) {
    std::u32string out;
    for (std::size_t at = 0; at < text.size();) out += next_code_point(text, at);
    return out;
}

// What both share at either end matches. Between, ties are broken as jiwer (rapidfuzz) does: from
// the end a deletion where one is on a best path, then an insertion only where it is forced.
template <class T>
EditCounts edits(std::span<const T> reference, std::span<const T> hypothesis) {
    EditCounts n;
    const auto take = [&](auto same) {
        while (!reference.empty() && !hypothesis.empty() && same()) ++n.hits;
    };
    take([&] {
        if (reference.front() != hypothesis.front()) return false;
        reference = reference.subspan(1), hypothesis = hypothesis.subspan(1);
        return true;
    });
    take([&] {
        if (reference.back() != hypothesis.back()) return false;
        reference = reference.first(reference.size() - 1);
        hypothesis = hypothesis.first(hypothesis.size() - 1);
        return true;
    });
    std::size_t i = reference.size(), j = hypothesis.size();
    const std::size_t width = j + 1;
    expect_input((i + 1) <= (std::size_t{1} << 28) / width, "WER: transcripts of ", i, " and ", j,
                 " parts are too long to compare");
    std::vector<std::int32_t> d((i + 1) * width);
    const auto at = [&](std::size_t a, std::size_t b) -> std::int32_t& { return d[a * width + b]; };
    for (std::size_t a = 0; a <= i; ++a)
        for (std::size_t b = 0; b <= j; ++b) {
            if (a == 0 || b == 0)
                at(a, b) = static_cast<std::int32_t>(a + b);
            else
                at(a, b) = std::min({at(a - 1, b) + 1, at(a, b - 1) + 1,
                                     at(a - 1, b - 1) + (reference[a - 1] != hypothesis[b - 1])});
        }
    while (i > 0 && j > 0) {
        if (at(i, j) == at(i - 1, j) + 1) {
            ++n.deletions, --i;
        } else if (at(i, j - 1) + 1 == at(i - 1, j - 1)) {
            ++n.insertions, --j;
        } else {
            ++(reference[i - 1] == hypothesis[j - 1] ? n.hits : n.substitutions);
            --i, --j;
        }
    }
    n.deletions += static_cast<std::int64_t>(i);
    n.insertions += static_cast<std::int64_t>(j);
    return n;
}

}  // namespace

double EditCounts::rate() const {
    return static_cast<double>(errors()) /
           static_cast<double>(std::max<std::int64_t>(1, reference()));
}

EditCounts& EditCounts::operator+=(const EditCounts& o) {
    hits += o.hits;
    substitutions += o.substitutions;
    deletions += o.deletions;
    insertions += o.insertions;
    return *this;
}

EditCounts word_edits(std::string_view reference, std::string_view hypothesis) {
    const auto r = spoken_words(reference), h = spoken_words(hypothesis);
    return edits<std::string_view>(r, h);
}

EditCounts character_edits(std::string_view reference, std::string_view hypothesis) {
    const std::u32string r = code_points(stripped(reference)),
                         h = code_points(stripped(hypothesis));
    return edits<char32_t>(r, h);
}

MetricScore word_error_rate(std::span<const std::string> references,
                            std::span<const std::string> hypotheses) {
    expect_input(references.size() == hypotheses.size(), "WER: ", hypotheses.size(),
                 " transcripts but ", references.size(), " references");
    expect_input(!references.empty(), "WER: there is nothing to score");
    EditCounts words, characters;
    std::int64_t exact = 0;
    for (std::size_t i = 0; i < references.size(); ++i) {
        const EditCounts w = word_edits(references[i], hypotheses[i]);
        words += w;
        characters += character_edits(references[i], hypotheses[i]);
        exact += w.errors() == 0;
    }
    MetricScore s;
    s.name = "WER";
    s.value = 100 * words.rate();
    s.higher_is_better = false;
    s.signature = text_of("unit:word|split:space|case:given|", signature_version);
    s.figures = {
        {"wer", s.value},
        {"cer", 100 * characters.rate()},
        {"exact", 100.0 * static_cast<double>(exact) / static_cast<double>(references.size())},
        {"substitutions", words.substitutions},
        {"deletions", words.deletions},
        {"insertions", words.insertions},
        {"words", words.reference()}};
    return s;
}

}  // namespace fovea
