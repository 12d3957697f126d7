#include "fovea/metrics/corpus_score.h"

#include <fmt/format.h>

#include <algorithm>

#include "fovea/metrics/counting.h"
#include "fovea/metrics/signature.h"

namespace fovea {
namespace {

// A row of BLEU: hypothesis length, reference length, matches, totals.
std::vector<double> row_of(const BleuCounts& c) {
    std::vector<double> row{static_cast<double>(c.hypothesis_length),
                            static_cast<double>(c.reference_length)};
    row.insert(row.end(), c.matches.begin(), c.matches.end());
    row.insert(row.end(), c.totals.begin(), c.totals.end());
    return row;
}

std::vector<std::int64_t> whole(std::span<const double> numbers) {
    std::vector<std::int64_t> counts;
    for (const double x : numbers) counts.push_back(static_cast<std::int64_t>(x));
    return counts;
}

BleuCounts bleu_counts_of(std::span<const double> row) {
    const std::size_t orders = (row.size() - 2) / 2;
    return {static_cast<std::int64_t>(row[0]), static_cast<std::int64_t>(row[1]),
            whole(row.subspan(2, orders)), whole(row.subspan(2 + orders))};
}

// A row of chrF: n-grams of the hypothesis, of the reference, matches.
std::vector<double> row_of(const ChrfCounts& c) {
    std::vector<double> row(c.hypothesis.begin(), c.hypothesis.end());
    row.insert(row.end(), c.reference.begin(), c.reference.end());
    row.insert(row.end(), c.matches.begin(), c.matches.end());
    return row;
}

ChrfCounts chrf_counts_of(std::span<const double> row) {
    const std::size_t n = row.size() / 3;
    return {whole(row.subspan(0, n)), whole(row.subspan(n, n)), whole(row.subspan(2 * n))};
}

template <class Counts>
SegmentSums sums_of(const std::vector<Counts>& segments) {
    SegmentSums s;
    s.segments = static_cast<std::int64_t>(segments.size());
    for (const Counts& c : segments) {
        const std::vector<double> row = row_of(c);
        s.width = static_cast<std::int64_t>(row.size());
        s.rows.insert(s.rows.end(), row.begin(), row.end());
    }
    return s;
}

// A score that is the mean of the segments' shares, in percent.
CorpusScore mean_share(std::string key, std::string name, std::vector<double> shares) {
    CorpusScore m{std::move(key), {}, {}};
    const auto n = static_cast<double>(shares.size());
    m.sums.segments = static_cast<std::int64_t>(shares.size());
    m.sums.width = 1;
    m.sums.rows = std::move(shares);
    m.sums.score = [n](std::span<const double> sum) { return 100 * (sum[0] / n); };
    m.score.name = std::move(name);
    m.score.value = m.sums.score(m.sums.total());
    return m;
}

}  // namespace

CorpusScore measure_bleu(std::span<const std::string> hypotheses,
                         std::span<const References> references, const BleuOptions& options) {
    const std::vector<BleuCounts> segments = segment_bleu_counts(hypotheses, references, options);
    CorpusScore m{"bleu", {}, sums_of(segments)};
    m.sums.score = [options](std::span<const double> sum) {
        return bleu_from_counts(bleu_counts_of(sum), options).score;
    };
    const BleuScore s = bleu_from_counts(bleu_counts_of(m.sums.total()), options);
    m.score.name = "BLEU";
    m.score.value = s.score;
    m.score.signature =
        bleu_signature(reference_count(hypotheses.size(), references, "BLEU"), options);
    m.score.figures = {{"precisions", s.precisions},
                       {"brevity_penalty", s.brevity_penalty},
                       {"ratio", s.ratio},
                       {"hypothesis_length", s.hypothesis_length},
                       {"reference_length", s.reference_length},
                       {"details", s.details()}};
    return m;
}

CorpusScore measure_chrf(std::span<const std::string> hypotheses,
                         std::span<const References> references, const ChrfOptions& options) {
    const std::vector<ChrfCounts> segments = segment_chrf_counts(hypotheses, references, options);
    CorpusScore m{{}, {}, sums_of(segments)};
    m.sums.score = [options](std::span<const double> sum) {
        return chrf_from_counts(chrf_counts_of(sum), options);
    };
    m.score.name = chrf_name(options);
    m.score.value = m.sums.score(m.sums.total());
    m.score.signature =
        chrf_signature(reference_count(hypotheses.size(), references, "chrF"), options);
    m.key = m.score.name;
    std::replace(m.key.begin(), m.key.end(), 'F', 'f');
    return m;
}

std::vector<CorpusScore> measure_rouge(std::span<const std::string> hypotheses,
                                       std::span<const References> references,
                                       const RougeOptions& options) {
    constexpr struct {
        const char *key, *name;
        RougeValue RougeScore::*value;
    } kinds[] = {{"rouge1", "ROUGE-1", &RougeScore::rouge1},
                 {"rouge2", "ROUGE-2", &RougeScore::rouge2},
                 {"rougeL", "ROUGE-L", &RougeScore::rougeL},
                 {"rougeLsum", "ROUGE-Lsum", &RougeScore::rougeLsum}};
    const std::vector<RougeScore> segments = segment_rouge(hypotheses, references, options);
    std::vector<CorpusScore> all;
    for (const auto& kind : kinds) {
        std::vector<double> f1;
        RougeValue sum;
        for (const RougeScore& s : segments) {
            f1.push_back((s.*kind.value).f1);
            sum.precision += (s.*kind.value).precision;
            sum.recall += (s.*kind.value).recall;
        }
        CorpusScore m = mean_share(kind.key, kind.name, std::move(f1));
        const auto n = static_cast<double>(segments.size());
        m.score.figures = {{"precision", 100 * sum.precision / n},
                           {"recall", 100 * sum.recall / n}};
        m.score.signature =
            rouge_signature(reference_count(hypotheses.size(), references, "ROUGE"), options);
        all.push_back(std::move(m));
    }
    return all;
}

CorpusScore measure_exact_match(std::span<const std::string> hypotheses,
                                std::span<const References> references) {
    const std::string n_references = reference_count(hypotheses.size(), references, "exact match");
    std::vector<double> found;
    double right = 0;
    for (std::size_t i = 0; i < hypotheses.size(); ++i) {
        found.push_back(is_exact_match(hypotheses[i], references[i]) ? 1 : 0);
        right += found.back();
    }
    CorpusScore m = mean_share("exact_match", "exact match", std::move(found));
    m.score.signature = fmt::format("nrefs:{}|{}", n_references, signature_version);
    m.score.figures = {{"matches", static_cast<std::int64_t>(right)},
                       {"segments", hypotheses.size()}};
    return m;
}

}  // namespace fovea
