#include "fovea/tasks/fill.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/batch_plan.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/top_k.h"
#include "fovea/ops/softmax.h"

namespace fovea {
namespace {

constexpr std::string_view gap_spellings[] = {"[MASK]", "<mask>"};

// Gaps in the spelling of the model's own tokenizer.
std::string with_own_gaps(const PretrainedModel& model, std::string text) {
    const Tokenizer& t = *model.folder.tokenizer;
    const std::string own = t.id_to_token(t.mask_id().value_or(-1)).value_or("");
    for (const std::string_view spelling : gap_spellings) {
        if (own.empty() || spelling == own) continue;
        for (std::size_t at = text.find(spelling); at != std::string::npos;
             at = text.find(spelling, at + own.size()))
            text.replace(at, spelling.size(), own);
    }
    return text;
}

struct TextBatches {
    std::vector<FramedText> texts;
    std::optional<BatchPlan> plan;

    void plan_for(std::int64_t batch_tokens) {
        std::vector<std::int64_t> lengths;
        for (const FramedText& t : texts)
            lengths.push_back(static_cast<std::int64_t>(t.tokens.size()));
        plan.emplace(lengths, BatchOptions{.max_tokens = batch_tokens, .shuffle = false}, 0);
    }

    TokenBatch batch(std::int64_t b) const {
        TokenBatch out;
        std::vector<std::int64_t> lengths;
        for (const std::int64_t i : (*plan)[b]) {
            const FramedText& t = texts[static_cast<std::size_t>(i)];
            out.tokens.insert(out.tokens.end(), t.tokens.begin(), t.tokens.end());
            out.types.insert(out.types.end(), t.types.begin(), t.types.end());
            out.positions.insert(out.positions.end(), t.positions.begin(), t.positions.end());
            lengths.push_back(static_cast<std::int64_t>(t.tokens.size()));
        }
        out.segments = Segments::of_lengths(lengths);
        return out;
    }

    // Runs `work` over each batch until somebody stops it.
    template <class Work>
    void run(const PredictControl& control, const Work& work) const {
        std::int64_t done = 0;
        for (std::int64_t b = 0; b < plan->batches(); ++b) {
            if (control.stop && control.stop->load()) return;
            work((*plan)[b], batch(b));
            done += static_cast<std::int64_t>((*plan)[b].size());
            if (control.progress) control.progress(done, static_cast<std::int64_t>(texts.size()));
        }
    }
};

std::vector<Filling> fillings(const Tokenizer& tokenizer, const TokenScores& scores) {
    std::vector<Filling> out;
    for (std::size_t k = 0; k < scores.best.size(); ++k) {
        Filling f{scores.best[k], {}, std::exp(scores.log_probs[k])};
        if (f.token < tokenizer.vocab_size()) f.text = tokenizer.decode({&f.token, 1}, false);
        if (f.text.size() > 1 && f.text[0] == ' ') f.text.erase(0, 1);
        out.push_back(std::move(f));
    }
    return out;
}

// The text with the best filling of each gap: decoded, as the pieces may join their neighbours.
// Translations stand behind a tab.
std::string filled_text(const PretrainedModel& model, const FramedText& framed,
                        const FilledText& f) {
    const Tokenizer& tokenizer = *model.folder.tokenizer;
    Ids tokens = framed.tokens;
    std::size_t gap = 0;
    for (TokenId& t : tokens)
        if (t == *tokenizer.mask_id() && gap < f.gaps.size() && !f.gaps[gap].empty())
            t = f.gaps[gap++][0].token;
    const auto seam = model.languages ? std::find(framed.types.begin() + 1, framed.types.end(), 1)
                                      : framed.types.end();
    if (seam == framed.types.end() || framed.types[0] == 1) return tokenizer.decode(tokens);
    const std::span<const TokenId> all(tokens);
    const auto first = static_cast<std::size_t>(seam - framed.types.begin());
    return tokenizer.decode(all.first(first)) + "\t" + tokenizer.decode(all.subspan(first));
}

// Two languages: each text by itself, then both in the frame; the longer is cut first.
FramedText framed_languages(const PretrainedModel& model, const TextWithGaps& text) {
    const Tokenizer& t = *model.folder.tokenizer;
    const std::int64_t most = std::max<std::int64_t>(
        0, model.encoder->max_length - model.languages->added(text.second.has_value()));
    std::vector<TokenId> first = t.encode_ids(with_own_gaps(model, text.text), false), second;
    if (text.second) second = t.encode_ids(with_own_gaps(model, *text.second), false);
    FramedText f;
    while (static_cast<std::int64_t>(first.size() + second.size()) > most) {
        (first.size() > second.size() ? first : second).pop_back();
        f.cut = true;
    }
    if (text.second_language && !text.second) std::swap(first, second);
    TokenBatch b;
    model.languages->put(first, second, b);
    return {b.tokens, b.types, b.positions, f.cut};
}

std::int64_t count_gaps(const Ids& tokens, TokenId mask) {
    return std::count(tokens.begin(), tokens.end(), mask);
}

}  // namespace

TokenBatch FramedText::batch() const {
    return {tokens, types, Segments::of_lengths({static_cast<std::int64_t>(tokens.size())}),
            positions};
}

FramedText framed(const PretrainedModel& model, const TextWithGaps& text) {
    if (model.languages) return framed_languages(model, text);
    const Tokenizer& t = *model.folder.tokenizer;
    const auto most = static_cast<std::int64_t>(model.encoder->max_length);
    EncodeOptions o;
    o.truncation = Truncation{.max_length = most};
    const std::string own = with_own_gaps(model, text.text);
    const Encoding e =
        text.second ? t.encode_pair(own, with_own_gaps(model, *text.second), o) : t.encode(own, o);
    FramedText f{Ids(e.ids.begin(), e.ids.end()), {}, {}, !e.overflowing.empty()};
    if (model.has_types) f.types.assign(e.type_ids.begin(), e.type_ids.end());
    return f;
}

std::vector<FilledText> fill(const PretrainedModel& model, std::span<const std::string> texts,
                             int top, std::int64_t batch_tokens, const PredictControl& control) {
    std::vector<TextWithGaps> all;
    for (const std::string& text : texts) all.push_back({text});
    return fill(model, all, top, batch_tokens, control);
}

std::vector<FilledText> fill(const PretrainedModel& model, std::span<const TextWithGaps> texts,
                             int top, std::int64_t batch_tokens, const PredictControl& control) {
    const Tokenizer& tokenizer = *model.folder.tokenizer;
    if (!model.encoder->words || !tokenizer.mask_id())
        fail_with(ErrorKind::usage, "a model pretrained with masked words is wanted",
                  model.folder.path, ": the model fills no gaps");
    const PrecisionScope scope(model.precision);
    const TokenId mask = *tokenizer.mask_id();
    std::vector<FilledText> out(texts.size());
    TextBatches batches;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        batches.texts.push_back(framed(model, texts[i]));
        const FramedText& f = batches.texts.back();
        out[i].cut = f.cut;
        if (!f.cut) continue;
        out[i].lost_gaps = -count_gaps(f.tokens, mask);
        for (const std::string& text : {texts[i].text, texts[i].second.value_or("")}) {
            const auto whole = tokenizer.encode_ids(with_own_gaps(model, text), false);
            out[i].lost_gaps += count_gaps(Ids(whole.begin(), whole.end()), mask);
        }
    }
    batches.plan_for(batch_tokens);
    batches.run(control, [&](std::span<const std::int64_t> chosen, const TokenBatch& batch) {
        Ids gaps;
        for (std::size_t i = 0; i < batch.tokens.size(); ++i)
            if (batch.tokens[i] == mask) gaps.push_back(static_cast<std::int32_t>(i));
        if (!gaps.empty()) {
            const Tensor logits =
                model.encoder->words(gather_rows(model.encoder->rows(batch), gaps));
            const auto scores = top_scores(logits, std::min(top, model.encoder->vocabulary));
            std::size_t k = 0;
            for (std::size_t s = 0; s < chosen.size(); ++s)
                for (;
                     k < gaps.size() && gaps[k] < batch.segments.end(static_cast<std::int64_t>(s));
                     ++k)
                    out[static_cast<std::size_t>(chosen[s])].gaps.push_back(
                        fillings(tokenizer, scores[k]));
        }
        for (const std::int64_t i : chosen) {
            const auto at = static_cast<std::size_t>(i);
            out[at].text = filled_text(model, batches.texts[at], out[at]);
        }
    });
    return out;
}

std::vector<float> follows(const PretrainedModel& model, std::span<const TwoTexts> pairs,
                           std::int64_t batch_tokens, const PredictControl& control) {
    if (!model.encoder->next)
        fail_with(ErrorKind::usage, "BERT has it where it was pretrained with next sentences",
                  model.folder.path, ": the model cannot tell whether a text follows another");
    const PrecisionScope scope(model.precision);
    std::vector<float> out(pairs.size());
    TextBatches batches;
    for (const auto& [first, second] : pairs)
        batches.texts.push_back(framed(model, {first, second}));
    batches.plan_for(batch_tokens);
    batches.run(control, [&](std::span<const std::int64_t> chosen, const TokenBatch& batch) {
        const Tensor p = softmax(model.encoder->next(model.encoder->rows(batch), batch.segments));
        for (std::size_t s = 0; s < chosen.size(); ++s)
            out[static_cast<std::size_t>(chosen[s])] = p.data()[2 * s];
    });
    return out;
}

}  // namespace fovea
