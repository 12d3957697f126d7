// Measuring a classifier, and what is tuned by it.
#include "fovea/tasks/classify_score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fovea/metrics/classification.h"
#include "fovea/ops/rows/pooling.h"
#include "fovea/tasks/classify.h"

namespace fovea {
namespace {

// −log of the probability of the right labels, each decided by itself: the mean over all decisions.
double loss_of_several(std::span<const std::string> labels, const TextLabel& answer,
                       const std::vector<std::string>& wanted) {
    double loss = 0;
    for (std::size_t c = 0; c < answer.probabilities.size(); ++c) {
        const bool right = std::find(wanted.begin(), wanted.end(), labels[c]) != wanted.end();
        const double p = answer.probabilities[c];
        loss -= std::log(std::max(right ? p : 1 - p, 1e-30)) / static_cast<double>(labels.size());
    }
    return loss;
}

// −log of the probability of the right label.
double loss_of_one(std::span<const std::string> labels, const TextLabel& answer,
                   const std::vector<std::string>& wanted) {
    double loss = 0;
    for (std::size_t c = 0; c < answer.probabilities.size(); ++c)
        if (std::find(wanted.begin(), wanted.end(), labels[c]) != wanted.end())
            loss -= std::log(std::max(static_cast<double>(answer.probabilities[c]), 1e-30));
    return loss;
}

MetricScore score_of_several(std::span<const TextLabel> answers,
                             std::span<const LabelledText> records) {
    std::vector<LabelSet> found, wanted;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        found.push_back(answers[i].labels);
        wanted.push_back(records[i].labels);
    }
    return multi_label_score(found, wanted).score();
}

}  // namespace

MetricScore score_of_one_label(std::span<const std::string> labels,
                               std::span<const TextLabel> answers,
                               std::span<const LabelledText> records) {
    std::vector<std::string> found, wanted;
    std::vector<double> probabilities;
    std::vector<bool> right;
    double loss = 0;
    for (std::size_t i = 0; i < answers.size(); ++i) {
        found.push_back(answers[i].label);
        wanted.push_back(label_of(records[i]));
        const std::vector<float>& p = answers[i].probabilities;
        probabilities.push_back(p.empty() ? 0 : *std::max_element(p.begin(), p.end()));
        right.push_back(found.back() == wanted.back());
        loss += loss_of_one(labels, answers[i], records[i].labels);
    }
    MetricScore s = classification_score(found, wanted).score();
    s.figures["calibration_error"] = 100 * calibration_error(probabilities, right);
    s.figures["loss"] = loss / static_cast<double>(std::max<std::size_t>(1, answers.size()));
    return s;
}

MetricScore score_labelled(const ClassifyModel& model, std::span<const LabelledText> records,
                           std::vector<TextLabel>* answers, const PredictControl& control) {
    std::vector<TextInput> texts;
    for (const LabelledText& r : records) texts.push_back(input_of(r));
    std::vector<TextLabel> found = classify(model, texts, 4096, control);
    const std::vector<std::string>& labels = model.folder.labels;
    MetricScore s = model.several ? score_of_several(found, records)
                                  : score_of_one_label(labels, found, records);
    if (model.several) {
        double loss = 0;
        for (std::size_t i = 0; i < found.size(); ++i)
            loss += loss_of_several(labels, found[i], records[i].labels);
        s.figures["loss"] = loss / static_cast<double>(std::max<std::size_t>(1, texts.size()));
    }
    if (answers) *answers = std::move(found);
    return s;
}

void tune_thresholds(ClassifyModel& model, std::span<const LabelledText> records) {
    std::vector<TextInput> texts;
    for (const LabelledText& r : records) texts.push_back(input_of(r));
    const std::vector<TextLabel> found = classify(model, texts);
    std::vector<float> thresholds;
    for (std::size_t c = 0; c < model.folder.labels.size(); ++c) {
        std::vector<double> probabilities;
        std::vector<bool> wanted;
        for (std::size_t i = 0; i < found.size(); ++i) {
            if (found[i].probabilities.empty()) continue;
            const auto& labels = records[i].labels;
            probabilities.push_back(found[i].probabilities[c]);
            wanted.push_back(std::find(labels.begin(), labels.end(), model.folder.labels[c]) !=
                             labels.end());
        }
        thresholds.push_back(static_cast<float>(best_threshold(probabilities, wanted)));
    }
    model.set_thresholds(std::move(thresholds));
}

void start_with_label_words(ClassifyModel& model) {
    const auto& pooling = model.network->pooling;
    if (!pooling || pooling->options.pool != Pool::queries)
        throw Error("--label-words: the model has no query for each class", ErrorKind::usage,
                    "it belongs to --model label-query and --pool queries");
    std::vector<Ids> labels;
    for (std::string label : model.folder.labels) {
        for (char& c : label)
            if (c == '_' || c == '-' || c == '/' || c == '.') c = ' ';
        const std::vector<TokenId> ids = model.folder.tokenizer->encode_ids(label, false);
        labels.emplace_back(ids.begin(), ids.end());
    }
    const TokenBatch batch = pack(labels);
    const Tensor means = segment_mean(model.network->encoder.rows(batch), batch.segments);
    // √d makes up for the scores' own 1/√d: a label's words stand out from the first update on.
    const float scale = std::sqrt(static_cast<float>(means.cols()));
    Tensor query = pooling->query;
    std::transform(means.data(), means.data() + means.size(), query.write(),
                   [&](float x) { return scale * x; });
}

std::string confusion_table(const Json& figures) {
    if (!figures.contains("confusion")) return "";
    const auto labels = figures["confusion"]["labels"].get<std::vector<std::string>>();
    const auto counts =
        figures["confusion"]["counts"].get<std::vector<std::vector<std::int64_t>>>();
    std::string out;
    if (labels.size() <= 8) {
        out = "  wanted \\ found";
        for (const std::string& label : labels) out += fmt::format(" {:>10}", label);
        for (std::size_t w = 0; w < labels.size(); ++w) {
            out += fmt::format("\n  {:<14}", labels[w]);
            for (const std::int64_t count : counts[w]) out += fmt::format(" {:>10}", count);
        }
        return out + "\n";
    }
    struct Mistake {
        std::int64_t count;
        std::size_t wanted, found;
    };
    std::vector<Mistake> mistakes;
    for (std::size_t w = 0; w < labels.size(); ++w)
        for (std::size_t f = 0; f < labels.size(); ++f)
            if (w != f && counts[w][f] > 0) mistakes.push_back({counts[w][f], w, f});
    std::stable_sort(mistakes.begin(), mistakes.end(),
                     [](const Mistake& a, const Mistake& b) { return a.count > b.count; });
    out = "  most frequent mistakes:\n";
    for (std::size_t i = 0; i < mistakes.size() && i < 20; ++i)
        out += fmt::format("  {:>6}  {} taken for {}\n", mistakes[i].count,
                           labels[mistakes[i].wanted], labels[mistakes[i].found]);
    return out;
}

}  // namespace fovea
