#include "fovea/tasks/tag.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/utf8.h"
#include "fovea/data/batch_plan.h"
#include "fovea/data/word_spans.h"

namespace fovea {
namespace {

// Batch by batch: take(sentence, its tags, their rows of probabilities).
template <class Take>
void judge_all(const TagModel& model, std::span<const EncodedWords> sentences,
               std::int64_t batch_tokens, const PredictControl& control, Take&& take) {
    const PrecisionScope scope(model.precision);
    std::vector<std::int64_t> lengths;
    for (const EncodedWords& s : sentences) lengths.push_back(std::max<std::int64_t>(1, s.tokens));
    const BatchPlan plan(lengths, {.max_tokens = batch_tokens, .shuffle = false}, 0);
    std::int64_t done = 0;
    for (std::int64_t b = 0; b < plan.batches(); ++b) {
        if (control.stop && control.stop->load()) break;
        const WordBatch batch = pack_words(sentences, plan[b]);
        JudgedWords j;
        if (batch.words.total() > 0)
            j = judged(*model.network, model.network->emissions(batch), batch.words);
        for (std::size_t k = 0; k < plan[b].size(); ++k) {
            const auto s = static_cast<std::int64_t>(k);
            const std::int64_t from = batch.words.begin(s), n = batch.words.length(s);
            take(static_cast<std::size_t>(plan[b][k]),
                 std::span(j.tags).subspan(static_cast<std::size_t>(from),
                                           static_cast<std::size_t>(n)),
                 n > 0 ? j.probabilities.data() + from * j.probabilities.cols() : nullptr);
        }
        done += static_cast<std::int64_t>(plan[b].size());
        if (control.progress) control.progress(done, static_cast<std::int64_t>(sentences.size()));
    }
}

}  // namespace

std::vector<TaggedText> tag(const TagModel& model, std::span<const std::string> texts,
                            std::int64_t batch_tokens, const PredictControl& control) {
    std::vector<TaggedText> out(texts.size());
    std::vector<std::string> whole;
    std::vector<std::vector<TextSpan>> spans;
    std::vector<EncodedWords> encoded;
    for (const std::string& text : texts) {
        whole.push_back(repair_utf8(text));
        spans.push_back(word_spans(whole.back()));
        encoded.push_back(model.encode(whole.back(), spans.back()));
    }
    const bool chunks = model.has_entities();
    const auto take = [&](std::size_t i, std::span<const std::int32_t> tags, const float* p) {
        out[i] = tagged_text(whole[i], spans[i], {model.folder.labels, chunks}, {tags, p});
        out[i].windows = static_cast<std::int64_t>(encoded[i].windows.size());
    };
    judge_all(model, encoded, batch_tokens, control, take);
    return out;
}

TaggedSentences tag_sentences(const TagModel& model,
                              std::span<const std::vector<std::string>> sentences,
                              std::span<const Ids> wanted, const PredictControl& control) {
    TaggedSentences out;
    out.tags.resize(sentences.size());
    std::vector<EncodedWords> encoded;
    for (const auto& words : sentences) encoded.push_back(model.encode(words));
    double loss = 0;
    std::int64_t counted = 0;
    const auto labels = static_cast<std::int64_t>(model.folder.labels.size());
    judge_all(model, encoded, 4096, control,
              [&](std::size_t i, std::span<const std::int32_t> tags, const float* p) {
                  for (std::size_t w = 0; w < tags.size(); ++w) {
                      out.tags[i].push_back(model.folder.labels[static_cast<std::size_t>(tags[w])]);
                      const std::int32_t want = wanted.empty() ? -1 : wanted[i][w];
                      if (want < 0) continue;
                      const double q = p[static_cast<std::int64_t>(w) * labels + want];
                      loss -= std::log(std::max(q, 1e-30));
                      ++counted;
                  }
              });
    out.loss = counted > 0 ? loss / static_cast<double>(counted) : 0;
    return out;
}

}  // namespace fovea
