#include "fovea/cli/score_measure.h"

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/metrics/corpus_score.h"
#include "fovea/metrics/resampling.h"

namespace fovea {
namespace {

using Lines = std::vector<std::string>;

std::string shown(const std::string& path) { return path == "-" ? "standard input" : path; }

struct ScoredTexts {
    Lines hypotheses;
    std::vector<Lines> systems;
    std::vector<References> references;
    BleuTokenizer tokenizer = BleuTokenizer::v13a;
};

Lines lines_of_file(const std::string& path) {
    Lines lines;
    LineReader reader(path);
    for (std::string line; reader.next(line);) lines.push_back(line);
    return lines;
}

void expect_as_many(const ScoreRequest& q, const Lines& hypotheses, const std::string& path,
                    const Lines& lines) {
    if (lines.size() != hypotheses.size())
        fail_with(ErrorKind::bad_input, "line by line, the files must belong together",
                  "score: ", shown(q.hypotheses), " has ", hypotheses.size(), " lines but ",
                  shown(path), " has ", lines.size());
}

// All files are read and compared before the first score is computed.
ScoredTexts read_texts(const ScoreRequest& q) {
    ScoredTexts t;
    t.hypotheses = lines_of_file(q.hypotheses);
    t.references.resize(t.hypotheses.size());
    for (std::size_t k = 0; k < q.references.size(); ++k) {
        Lines column = lines_of_file(q.references[k]);
        expect_as_many(q, t.hypotheses, q.references[k], column);
        if (k == 0)
            t.tokenizer =
                q.tokenize == "auto" ? fitting_tokenizer(column) : bleu_tokenizer(q.tokenize);
        for (std::size_t i = 0; i < column.size(); ++i)
            t.references[i].push_back(std::move(column[i]));
    }
    for (const std::string& path : q.systems) {
        t.systems.push_back(lines_of_file(path));
        expect_as_many(q, t.hypotheses, path, t.systems.back());
    }
    expect_input(!t.hypotheses.empty(), "score: ", shown(q.hypotheses), " has no lines");
    return t;
}

std::vector<CorpusScore> measure_lines(const ScoreRequest& q, const ScoredTexts& t,
                                       const Lines& lines) {
    std::vector<CorpusScore> all;
    for (const std::string& metric : q.metrics) {
        if (metric == "bleu") {
            all.push_back(measure_bleu(lines, t.references,
                                       {.tokenizer = t.tokenizer, .lowercase = q.lowercase}));
        } else if (metric == "chrf" || metric == "chrf++") {
            all.push_back(
                measure_chrf(lines, t.references,
                             {.word_order = metric == "chrf" ? 0 : 2, .lowercase = q.lowercase}));
        } else if (metric == "rouge") {
            for (CorpusScore& s : measure_rouge(lines, t.references, {.stemmer = q.stem}))
                all.push_back(std::move(s));
        } else {
            expect(metric == "exact", "score: unknown metric ", metric);
            all.push_back(measure_exact_match(lines, t.references));
        }
    }
    return all;
}

ScoredSystem system_of(const ScoreRequest& q, const std::string& file,
                       const std::vector<CorpusScore>& scores) {
    ScoredSystem system{shown(file), {}};
    for (const CorpusScore& s : scores) {
        system.scores.push_back({s.key, s.score, {}, {}});
        if (q.confidence)
            system.scores.back().interval = confidence_interval(
                bootstrap_scores(s.sums, {.resamples = q.resamples, .seed = q.seed}));
    }
    return system;
}

PairedResult paired_test(const ScoreRequest& q, const SegmentSums& baseline,
                         const SegmentSums& system) {
    if (q.paired == "bootstrap")
        return paired_bootstrap(baseline, system, {.resamples = q.resamples, .seed = q.seed});
    return paired_randomization(baseline, system, {.trials = q.trials, .seed = q.seed});
}

}  // namespace

ScoreReport measure_files(const ScoreRequest& q) {
    const ScoredTexts t = read_texts(q);
    ScoreReport r;
    r.lines = static_cast<std::int64_t>(t.hypotheses.size());
    r.references = static_cast<std::int64_t>(q.references.size());
    if (q.measures("bleu")) {
        r.tokenizer = name_of(t.tokenizer);
        r.tokenizer_fitted = q.tokenize == "auto";
        r.looks_tokenized = t.tokenizer != BleuTokenizer::none && looks_tokenized(t.hypotheses);
    }
    r.paired = q.paired;
    r.resamples = q.confidence || q.paired == "bootstrap" ? q.resamples : 0;
    r.trials = q.paired == "randomization" ? q.trials : 0;
    r.seed = q.seed;
    const std::vector<CorpusScore> baseline = measure_lines(q, t, t.hypotheses);
    r.systems.push_back(system_of(q, q.hypotheses, baseline));
    for (std::size_t k = 0; k < q.systems.size(); ++k) {
        const std::vector<CorpusScore> scores = measure_lines(q, t, t.systems[k]);
        r.systems.push_back(system_of(q, q.systems[k], scores));
        for (std::size_t m = 0; m < scores.size(); ++m)
            r.systems.back().scores[m].paired = paired_test(q, baseline[m].sums, scores[m].sums);
    }
    return r;
}

}  // namespace fovea
