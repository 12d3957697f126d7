// Answers of a classifier: texts in windows, batches, probabilities, labels.
#include <algorithm>
#include <cmath>

#include "fovea/data/batch_plan.h"
#include "fovea/data/sequence_frame.h"
#include "fovea/ops/activation.h"
#include "fovea/ops/softmax.h"
#include "fovea/tasks/classify.h"

namespace fovea {
namespace {

struct Windows {  // of many texts, one after the other
    std::vector<EncodedText> parts;
    std::vector<std::size_t> text_of_part;
    std::vector<std::int64_t> lengths;
};

Windows windows_of(const ClassifyModel& model, std::span<const TextInput> texts,
                   std::vector<TextLabel>& out) {
    Windows all;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        std::vector<EncodedText> own = model.encode_windows(texts[i]);
        out[i].windows = static_cast<int>(own.size());
        for (EncodedText& e : own) {
            out[i].cut = out[i].cut || e.cut;
            all.lengths.push_back(static_cast<std::int64_t>(e.ids.size()));
            all.parts.push_back(std::move(e));
            all.text_of_part.push_back(i);
        }
    }
    return all;
}

// Probabilities of the windows joined, in their order: the mean.
void join(std::vector<std::vector<float>>& of_parts, const Windows& windows,
          std::vector<TextLabel>& out) {
    for (std::size_t k = 0; k < of_parts.size(); ++k) {
        TextLabel& t = out[windows.text_of_part[k]];
        if (of_parts[k].empty()) continue;  // stopped before it
        if (t.probabilities.empty()) {
            t.probabilities = std::move(of_parts[k]);
            continue;
        }
        for (std::size_t c = 0; c < t.probabilities.size(); ++c)
            t.probabilities[c] += of_parts[k][c];
    }
    for (TextLabel& t : out)
        if (t.windows > 1)
            for (float& p : t.probabilities) p /= static_cast<float>(t.windows);
}

}  // namespace

std::vector<EncodedText> ClassifyModel::encode_windows(const TextInput& input) const {
    EncodedText whole = encode(input);
    if (!whole.cut || input.pair) return {std::move(whole)};
    const SequenceFrame frame = single_frame(*folder.tokenizer);
    const std::int64_t room = network->encoder.max_length - frame.added();
    if (room < 2) return {std::move(whole)};
    const std::vector<TokenId> ids = folder.tokenizer->encode_ids(input.text, false);
    const auto total = static_cast<std::int64_t>(ids.size());
    std::vector<EncodedText> windows;
    for (std::int64_t from = 0;; from += room - room / 2) {
        const std::int64_t begin = std::max<std::int64_t>(0, std::min(from, total - room));
        const std::int64_t end = std::min(begin + room, total);
        EncodedText w;
        w.ids = frame.front.ids;
        w.ids.insert(w.ids.end(), ids.begin() + begin, ids.begin() + end);
        w.ids.insert(w.ids.end(), frame.back.ids.begin(), frame.back.ids.end());
        if (frame.has_types()) {
            w.types = frame.front.types;
            w.types.insert(w.types.end(), static_cast<std::size_t>(end - begin), frame.first_type);
            w.types.insert(w.types.end(), frame.back.types.begin(), frame.back.types.end());
        }
        windows.push_back(std::move(w));
        if (end == total) return windows;
    }
}

void ClassifyModel::set_thresholds(std::vector<float> of_labels) {
    expect(several && of_labels.size() == folder.labels.size(), "classify: ", of_labels.size(),
           " thresholds for ", folder.labels.size(), " labels");
    thresholds = std::move(of_labels);
    folder.config["thresholds"] = thresholds;
}

std::vector<std::string> ClassifyModel::labels_of(std::span<const float> p) const {
    std::vector<std::string> found;
    for (std::size_t c = 0; several && c < p.size(); ++c)
        if (p[c] >= thresholds[c]) found.push_back(folder.labels[c]);
    if (several || p.empty()) return found;
    return {
        folder.labels[static_cast<std::size_t>(std::max_element(p.begin(), p.end()) - p.begin())]};
}

std::vector<TextLabel> classify(const ClassifyModel& model, std::span<const std::string> texts,
                                std::int64_t batch_tokens, const PredictControl& control) {
    std::vector<TextInput> inputs;
    for (const std::string& text : texts) inputs.push_back({text});
    return classify(model, inputs, batch_tokens, control);
}

std::vector<TextLabel> classify(const ClassifyModel& model, std::span<const TextInput> texts,
                                std::int64_t batch_tokens, const PredictControl& control) {
    const PrecisionScope scope(model.precision);
    std::vector<TextLabel> out(texts.size());
    const Windows windows = windows_of(model, texts, out);
    const BatchPlan plan(windows.lengths, {.max_tokens = batch_tokens, .shuffle = false}, 0);
    std::vector<std::vector<float>> of_parts(windows.parts.size());
    std::size_t done = 0;
    for (std::int64_t b = 0; b < plan.batches(); ++b) {
        if (control.stop && control.stop->load()) break;
        const Tensor logits = model.network->logits(pack_texts(windows.parts, plan[b]));
        const Tensor p = model.several ? sigmoid(logits) : softmax(logits);
        for (std::size_t k = 0; k < plan[b].size(); ++k) {
            const float* row = p.data() + static_cast<std::int64_t>(k) * p.cols();
            of_parts[static_cast<std::size_t>(plan[b][k])].assign(row, row + p.cols());
        }
        done += plan[b].size();
        if (control.progress)
            control.progress(static_cast<std::int64_t>(done * texts.size() / of_parts.size()),
                             static_cast<std::int64_t>(texts.size()));
    }
    join(of_parts, windows, out);
    for (TextLabel& t : out) {
        if (t.probabilities.empty()) continue;
        const auto best = std::max_element(t.probabilities.begin(), t.probabilities.end());
        t.label = model.folder.labels[static_cast<std::size_t>(best - t.probabilities.begin())];
        t.labels = model.labels_of(t.probabilities);
    }
    return out;
}

}  // namespace fovea
