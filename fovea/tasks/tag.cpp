#include "fovea/tasks/tag.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/utf8.h"
#include "fovea/data/batch_plan.h"
#include "fovea/data/word_spans.h"
#include "fovea/ops/softmax.h"

namespace fovea {
namespace {

// The tags of a batch's words, and the probabilities of all labels for each.
struct JudgedWords {
    Ids tags;
    Tensor probabilities;  // [words, labels]
};

Ids highest_of_each(const Tensor& x) {
    Ids best;
    for (std::int64_t i = 0; i < x.rows(); ++i) {
        const float* row = x.data() + i * x.cols();
        best.push_back(static_cast<std::int32_t>(std::max_element(row, row + x.cols()) - row));
    }
    return best;
}

JudgedWords judged(const TagNetwork& network, const WordBatch& batch) {
    const Tensor e = network.emissions(batch);
    if (network.crf)
        return {network.crf->decode(e, batch.words, network.order).tags,
                network.crf->marginals(e, batch.words, network.order)};
    const Tensor p = softmax(e);
    if (network.order.pairs.empty()) return {highest_of_each(e), p};
    // Without a CRF tags say nothing about each other, but their order holds.
    const std::int64_t n = e.cols();
    const CrfWeights nothing{Tensor::zeros({n, n}), Tensor::zeros({n}), Tensor::zeros({n})};
    return {crf_decode(e, batch.words, nothing, network.order).tags, p};
}

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
        const JudgedWords j =
            batch.words.total() > 0 ? judged(*model.network, batch) : JudgedWords{};
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

// Character numbers of rising byte offsets.
class CharacterOffsets {
public:
    explicit CharacterOffsets(std::string_view text) : text_(text) {}
    std::int64_t operator()(std::int32_t byte) {
        const auto to = static_cast<std::size_t>(byte);
        chars_ += static_cast<std::int64_t>(count_chars(text_.substr(at_, to - at_)));
        at_ = to;
        return chars_;
    }

private:
    std::string_view text_;
    std::size_t at_ = 0;
    std::int64_t chars_ = 0;
};

std::vector<TextEntity> entities_in(const std::string& text, std::span<const TextSpan> spans,
                                    const std::vector<WordTag>& words, bool chunks) {
    std::vector<TagEntity> found;
    if (chunks) {
        TagSequence tags;
        for (const WordTag& w : words) tags.push_back(w.tag);
        found = entities_of(tags);
    } else {
        for (std::size_t i = 0; i < words.size(); ++i)
            if (const auto at = static_cast<std::int64_t>(i); words[i].tag != "O")
                found.push_back({words[i].tag, at, at});
    }
    std::vector<TextEntity> entities;
    for (const TagEntity& e : found) {
        const auto first = static_cast<std::size_t>(e.first),
                   last = static_cast<std::size_t>(e.last);
        double sum = 0;
        for (std::size_t i = first; i <= last; ++i) sum += words[i].probability;
        const auto begin = static_cast<std::size_t>(spans[first].begin);
        entities.push_back({words[first].start, words[last].end, e.type,
                            text.substr(begin, static_cast<std::size_t>(spans[last].end) - begin),
                            sum / static_cast<double>(last - first + 1)});
    }
    return entities;
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
        CharacterOffsets characters(whole[i]);
        const auto labels = static_cast<std::int64_t>(model.folder.labels.size());
        for (std::size_t w = 0; w < tags.size(); ++w) {
            WordTag word;
            word.start = characters(spans[i][w].begin);
            word.end = characters(spans[i][w].end);
            word.tag = model.folder.labels[static_cast<std::size_t>(tags[w])];
            word.probability = p[static_cast<std::int64_t>(w) * labels + tags[w]];
            out[i].words.push_back(std::move(word));
        }
        out[i].windows = static_cast<std::int64_t>(encoded[i].windows.size());
        out[i].entities = entities_in(whole[i], spans[i], out[i].words, chunks);
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
