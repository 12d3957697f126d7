// Agreement with the reference libraries: tests/metrics holds their scores with all digits, made
// by tools/make_metric_goldens.py.
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/metrics/bleu.h"
#include "fovea/metrics/chrf.h"
#include "fovea/metrics/porter.h"
#include "fovea/metrics/rouge.h"
#include "fovea/metrics/unicode.h"

namespace fovea {
namespace {

constexpr double tolerance = 1e-9;

std::string golden_path(const char* name) {
    return std::string(FOVEA_SOURCE_DIR "/tests/metrics/") + name;
}

const Json& sacrebleu_goldens() {
    static const Json g = read_json(golden_path("sacrebleu.json"));
    return g;
}

Smoothing smoothing(const std::string& name) {
    if (name == "none") return Smoothing::none;
    if (name == "floor") return Smoothing::floor;
    if (name == "add-k") return Smoothing::add_k;
    expect(name == "exp", "unknown smoothing ", name);
    return Smoothing::exp;
}

BleuOptions bleu_options(const Json& c) {
    return {.tokenizer = bleu_tokenizer(c.value("tokenize", "13a")),
            .lowercase = c.value("lowercase", false),
            .smoothing = smoothing(c.value("smooth_method", "exp")),
            .smooth_value = c.value("smooth_value", -1.0),
            .max_order = c.value("max_ngram_order", 4),
            .effective_order = c.value("effective_order", false)};
}

ChrfOptions chrf_options(const Json& c) {
    return {.char_order = c.value("char_order", 6),
            .word_order = c.value("word_order", 0),
            .beta = c.value("beta", 2),
            .lowercase = c.value("lowercase", false),
            .whitespace = c.value("whitespace", false),
            .eps_smoothing = c.value("eps_smoothing", false)};
}

std::string join(const std::vector<std::string>& words) {
    std::string out;
    for (const std::string& w : words) out += (out.empty() ? "" : " ") + w;
    return out;
}

TEST(MetricGoldens, TokenizersSplitAsSacrebleuDoes) {
    for (const Json& segment : sacrebleu_goldens()["segments"])
        for (const auto& [name, tokens] : segment["tokens"].items()) {
            const auto line = segment["hyp"].get<std::string>();
            EXPECT_EQ(join(split_words(tokenize_for_bleu(bleu_tokenizer(name), strip_right(line)))),
                      tokens.get<std::string>())
                << name << " of: " << line;
        }
}

TEST(MetricGoldens, SentenceBleuAndChrf) {
    const Json& g = sacrebleu_goldens();
    ASSERT_GE(g["segments"].size(), 300u);
    for (const Json& segment : g["segments"]) {
        const auto hyp = segment["hyp"].get<std::string>();
        const auto refs = segment["refs"].get<std::vector<std::string>>();
        for (std::size_t i = 0; i < g["bleu_configs"].size(); ++i)
            EXPECT_NEAR(sentence_bleu(hyp, refs, bleu_options(g["bleu_configs"][i])).score,
                        segment["bleu"][i].get<double>(), tolerance)
                << g["bleu_configs"][i] << " of: " << hyp;
        for (std::size_t i = 0; i < g["chrf_configs"].size(); ++i)
            EXPECT_NEAR(sentence_chrf(hyp, refs, chrf_options(g["chrf_configs"][i])).score,
                        segment["chrf"][i].get<double>(), tolerance)
                << g["chrf_configs"][i] << " of: " << hyp;
    }
}

TEST(MetricGoldens, CorpusBleuAndChrfWithSignatureAndText) {
    const Json& g = sacrebleu_goldens();
    ASSERT_GE(g["corpora"].size(), 20u);
    for (const Json& corpus : g["corpora"]) {
        std::vector<std::string> hyps;
        std::vector<References> refs;
        for (const Json& i : corpus["group"]) {
            const Json& segment = g["segments"][i.get<std::size_t>()];
            hyps.push_back(segment["hyp"]);
            refs.push_back(segment["refs"].get<References>());
        }
        for (std::size_t i = 0; i < g["bleu_configs"].size(); ++i) {
            const BleuScore s = corpus_bleu(hyps, refs, bleu_options(g["bleu_configs"][i]));
            const Json& wanted = corpus["bleu"][i];
            const Json& f = wanted["fields"];
            EXPECT_NEAR(s.score, f[0].get<double>(), tolerance);
            EXPECT_NEAR(s.brevity_penalty, f[1].get<double>(), tolerance);
            EXPECT_NEAR(s.ratio, f[2].get<double>(), tolerance);
            EXPECT_EQ(s.hypothesis_length, f[3].get<std::int64_t>());
            EXPECT_EQ(s.reference_length, f[4].get<std::int64_t>());
            ASSERT_EQ(s.precisions.size(), f[5].size());
            for (std::size_t n = 0; n < s.precisions.size(); ++n)
                EXPECT_NEAR(s.precisions[n], f[5][n].get<double>(), tolerance);
            EXPECT_EQ(s.signature, wanted["signature"].get<std::string>());
            EXPECT_EQ(s.text(), wanted["text"].get<std::string>());
        }
        for (std::size_t i = 0; i < g["chrf_configs"].size(); ++i) {
            const ChrfScore s = corpus_chrf(hyps, refs, chrf_options(g["chrf_configs"][i]));
            EXPECT_NEAR(s.score, corpus["chrf"][i]["score"].get<double>(), tolerance);
            EXPECT_EQ(s.text(), corpus["chrf"][i]["text"].get<std::string>());
        }
    }
}

void expect_rouge(const RougeValue& got, const Json& wanted, const std::string& what) {
    EXPECT_NEAR(got.precision, wanted[0].get<double>(), tolerance) << what;
    EXPECT_NEAR(got.recall, wanted[1].get<double>(), tolerance) << what;
    EXPECT_NEAR(got.f1, wanted[2].get<double>(), tolerance) << what;
}

TEST(MetricGoldens, Rouge) {
    const Json g = read_json(golden_path("rouge.json"));
    const Json& texts = sacrebleu_goldens()["segments"];
    ASSERT_EQ(g["segments"].size(), texts.size());
    RougeScore sum;
    std::vector<std::string> hyps;
    std::vector<References> all_refs;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const auto hyp = texts[i]["hyp"].get<std::string>();
        const auto refs = texts[i]["refs"].get<References>();
        for (const bool stemmer : {false, true}) {
            const RougeOptions options{.stemmer = stemmer};
            const Json& one = g["segments"][i]["one"][stemmer ? 1 : 0];
            expect_rouge(rouge_n(refs[0], hyp, 1, options), one[0], "1: " + hyp);
            expect_rouge(rouge_n(refs[0], hyp, 2, options), one[1], "2: " + hyp);
            expect_rouge(rouge_n(refs[0], hyp, 3, options), one[2], "3: " + hyp);
            expect_rouge(rouge_l(refs[0], hyp, options), one[3], "L: " + hyp);
            expect_rouge(rouge_lsum(refs[0], hyp, options), one[4], "Lsum: " + hyp);
            const Json& best = g["segments"][i]["best"][stemmer ? 1 : 0];
            const RougeScore s = rouge(refs, hyp, options);
            expect_rouge(s.rouge1, best[0], "best 1: " + hyp);
            expect_rouge(s.rouge2, best[1], "best 2: " + hyp);
            expect_rouge(s.rougeL, best[3], "best L: " + hyp);
            expect_rouge(s.rougeLsum, best[4], "best Lsum: " + hyp);
        }
        sum.rougeL.f1 += g["segments"][i]["best"][0][3][2].get<double>();
        hyps.push_back(hyp);
        all_refs.push_back(refs);
    }
    EXPECT_NEAR(corpus_rouge(hyps, all_refs).mean.rougeL.f1,
                sum.rougeL.f1 / static_cast<double>(hyps.size()), tolerance);
}

TEST(MetricGoldens, PorterStems) {
    std::ifstream in(golden_path("porter.txt"));
    std::string word, stem;
    int n = 0;
    for (; in >> word >> stem; ++n) EXPECT_EQ(porter_stem(word), stem) << word;
    EXPECT_GT(n, 5000);
}

std::vector<bool> members(const Json& ranges) {
    std::vector<bool> in(0x110000);
    for (const Json& r : ranges)
        for (auto c = r[0].get<std::size_t>(); c <= r[1].get<std::size_t>(); ++c) in[c] = true;
    return in;
}

TEST(MetricGoldens, UnicodeClassesAndLowerCase) {
    const Json g = read_json(golden_path("unicode.json"));
    const auto known = members(g["known"]), number = members(g["N"]), mark = members(g["P"]),
               symbol = members(g["S"]), space = members(g["space"]);
    std::vector<std::u32string> low(0x110000);
    for (const Json& pair : g["lower"])
        for (const Json& c : pair[1]) low[pair[0].get<std::size_t>()].push_back(c.get<char32_t>());
    for (char32_t c = 0; c < 0x110000; ++c) {
        EXPECT_EQ(is_python_space(c), space[c]) << std::hex << std::uint32_t(c);
        if (!known[c]) continue;
        EXPECT_EQ(is_number(c), number[c]) << std::hex << std::uint32_t(c);
        EXPECT_EQ(is_punctuation(c), mark[c]) << std::hex << std::uint32_t(c);
        EXPECT_EQ(is_symbol(c), symbol[c]) << std::hex << std::uint32_t(c);
        const std::u32string one(1, c);
        EXPECT_EQ(lower(std::u32string_view(one)) == (low[c].empty() ? one : low[c]), true)
            << std::hex << std::uint32_t(c);
    }
    for (const Json& pair : g["sigma"])
        EXPECT_EQ(lower(std::string_view(pair[0].get<std::string>())), pair[1].get<std::string>());
}

TEST(MetricGoldens, MultiBleuPrintsTheSameLine) {
    const Json g = read_json(golden_path("multi_bleu.json"));
    std::set<std::string> lines;
    for (const Json& c : g) {
        std::vector<std::string> hyps;
        std::vector<References> refs;
        for (const Json& row : c["rows"]) {
            hyps.push_back(row[0]);
            refs.push_back(row[1].get<References>());
        }
        EXPECT_EQ(multi_bleu(hyps, refs, c["lc"].get<bool>()).text(), c["text"].get<std::string>());
        lines.insert(c["text"].get<std::string>());
    }
    EXPECT_GT(lines.size(), 40u);
}

}  // namespace
}  // namespace fovea
