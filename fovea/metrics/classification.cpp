#include "fovea/metrics/classification.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fovea/base/error.h"
#include "fovea/metrics/signature.h"

namespace fovea {
namespace {

double share(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

LabelScore label_score(std::int64_t right, std::int64_t predicted, std::int64_t wanted) {
    // 2·right / (predicted + wanted) is the harmonic mean of the two, without dividing by zero
    return {share(right, predicted), share(right, wanted), share(2 * right, predicted + wanted),
            wanted};
}

constexpr std::size_t most_labels_written = 200;  // of a confusion matrix in a report

// Means over labels, rare ones counting as much as frequent ones.
LabelScore macro_of(const std::vector<LabelScore>& labels, std::int64_t decisions) {
    LabelScore m;
    for (const LabelScore& s : labels) {
        m.precision += s.precision;
        m.recall += s.recall;
        m.f1 += s.f1;
    }
    const auto n = static_cast<double>(std::max<std::size_t>(1, labels.size()));
    return {m.precision / n, m.recall / n, m.f1 / n, decisions};
}

Json percent_of(const LabelScore& s) {
    return {{"precision", 100 * s.precision},
            {"recall", 100 * s.recall},
            {"f1", 100 * s.f1},
            {"support", s.support}};
}

}  // namespace

ConfusionMatrix confusion_matrix(std::span<const std::string> predicted,
                                 std::span<const std::string> wanted) {
    expect_input(predicted.size() == wanted.size(), "classification: ", predicted.size(),
                 " predictions but ", wanted.size(), " labels");
    expect_input(!wanted.empty(), "classification: there is nothing to score");
    std::map<std::string_view, std::size_t> numbers;
    for (const auto side : {predicted, wanted})
        for (const std::string& label : side) numbers.emplace(label, 0);
    // Every text a label of its own (a wrong column) would ask for the square of the lines.
    constexpr std::size_t most_labels = 10000;
    if (numbers.size() > most_labels)
        fail_with(ErrorKind::bad_input, "is this the column of the labels?",
                  "classification: ", numbers.size(), " different labels, but at most ",
                  most_labels, " are compared");
    ConfusionMatrix m;
    for (auto& [label, number] : numbers) {
        number = m.labels.size();
        m.labels.emplace_back(label);
    }
    m.counts.resize(m.labels.size() * m.labels.size());
    for (std::size_t i = 0; i < wanted.size(); ++i)
        ++m.counts[numbers[wanted[i]] * m.labels.size() + numbers[predicted[i]]];
    return m;
}

ClassificationScore classification_score(std::span<const std::string> predicted,
                                         std::span<const std::string> wanted) {
    ClassificationScore s;
    s.confusion = confusion_matrix(predicted, wanted);
    const std::size_t n = s.confusion.labels.size();
    std::int64_t all_right = 0;
    for (std::size_t k = 0; k < n; ++k) {
        std::int64_t times_predicted = 0, times_wanted = 0;
        for (std::size_t j = 0; j < n; ++j) {
            times_predicted += s.confusion.at(j, k);
            times_wanted += s.confusion.at(k, j);
        }
        const std::int64_t right = s.confusion.at(k, k);
        all_right += right;
        s.labels.push_back(label_score(right, times_predicted, times_wanted));
    }
    const auto decisions = static_cast<std::int64_t>(wanted.size());
    s.macro = macro_of(s.labels, decisions);
    s.micro = label_score(all_right, decisions, decisions);
    s.accuracy = share(all_right, decisions);
    return s;
}

MetricScore ClassificationScore::score() const {
    MetricScore out{.name = "accuracy",
                    .value = 100 * accuracy,
                    .higher_is_better = true,
                    .signature = fmt::format("labels:{}|{}", labels.size(), signature_version),
                    .figures = {{"accuracy", 100 * accuracy},
                                {"micro_f1", 100 * micro.f1},
                                {"macro_f1", 100 * macro.f1},
                                {"macro_precision", 100 * macro.precision},
                                {"macro_recall", 100 * macro.recall}}};
    for (std::size_t k = 0; k < labels.size(); ++k)
        out.figures["labels"][confusion.labels[k]] = percent_of(labels[k]);
    if (labels.size() > most_labels_written) return out;
    Json rows = Json::array();
    for (std::size_t k = 0; k < labels.size(); ++k) {
        const auto row = confusion.counts.begin() + static_cast<std::ptrdiff_t>(k * labels.size());
        rows.push_back(
            std::vector<std::int64_t>(row, row + static_cast<std::ptrdiff_t>(labels.size())));
    }
    out.figures["confusion"] = {{"labels", confusion.labels}, {"counts", rows}};
    return out;
}

}  // namespace fovea
