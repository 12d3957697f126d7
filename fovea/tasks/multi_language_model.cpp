// A language model beside another task, on the same encoder: hidden tokens of its texts are told
// (Devlin et al. 2018), or the next ones, where the encoder reads from the left (Rei 2017).
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/data/masking.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/ops/loss/linear_cross_entropy.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/tasks/multi_texts.h"

namespace fovea {
namespace {

//   h = norm(gelu(rows Wᵀ + b))      p = softmax(h Eᵀ + c), E the embeddings where they are found
struct WordHead {
    WordHead(const TextEncoder& e, const Tensor& embeddings, const Params& p)
        : dense(e.width, e.width, p / "dense"),
          norm(e.width, p / "norm"),
          words(embeddings.id() != 0 ? embeddings
                                     : p.get("words.weight", {e.vocabulary, e.width}, xavier())),
          bias(p.get("words.bias", {e.vocabulary}, zeros())) {}

    Tensor loss(const Tensor& rows, const Ids& labels) const {
        return linear_cross_entropy(norm(dense(rows, Act::gelu)), words, bias, labels);
    }

    Linear dense;
    LayerNorm norm;
    Tensor words, bias;
};

// The table of tokens: a matrix of that shape among the encoder's embeddings.
Tensor token_embeddings(const TrainedEncoder& body) {
    const TextEncoder& e = *body.encoder;
    const ParameterStore& store = *body.folder.in_training;
    for (const std::string& name : store.names())
        if (store.at(name).shape() == Shape({e.vocabulary, e.width}) && e.layer_of(name) == 0)
            return store.at(name);
    return {};
}

// A tokenizer that knows no mask hides tokens behind the one for unknown words, whose vector then
// learns to stand for any word.
MaskVocabulary hiding_vocabulary(const Tokenizer& t) {
    if (t.mask_id()) return mask_vocabulary(t);
    MaskVocabulary v;
    const auto mask = t.unk_id() ? t.unk_id() : t.pad_id() ? t.pad_id() : t.eos_id();
    if (!mask)
        fail_with(ErrorKind::bad_input, "a vocabulary with an unknown or padding token",
                  "language-model: the tokenizer has no token to hide others behind");
    v.mask = *mask;
    for (TokenId id = 0; id < t.vocab_size(); ++id) {
        v.special.push_back(t.is_special(id) || id == v.mask);
        v.continues.push_back(0);
    }
    return v;
}

class LanguageModelPart : public TextPart {
public:
    void describe(Settings& s) override {
        s.add("objective", objective_, "hidden tokens or the next one; auto: as the encoder reads",
              {.group = "model", .choices = {"auto", "masked", "causal"}});
        s.add("hide", masking_.share, "masked: share of the tokens that are to be told",
              {.group = "model", .min = 0.01, .max = 0.9});
    }

private:
    const char* name() const override { return "language-model"; }

    void make_head(const RunSettings& run) override {
        const TextEncoder& e = *body_->encoder;
        causal_ = objective_ == "causal" || (objective_ == "auto" && e.step);
        if (causal_ && !e.step)
            fail_with(ErrorKind::usage, "objective = \"masked\"",
                      "language-model: the encoder looks both ways, and would see the next token");
        masking_.seed = run.options.seed;
        if (!causal_) masker_.emplace(masking_, hiding_vocabulary(*body_->folder.tokenizer));
        Rng rng(run.options.seed, 0x6c6d6864);
        head_.emplace(e, token_embeddings(*body_), Params(store_, rng));
    }

    double guessing_loss() const override {
        return std::log(static_cast<double>(body_->encoder->vocabulary));
    }

    Tensor loss(std::span<const std::int64_t> chosen) const override {
        std::vector<Ids> ids;
        std::vector<std::uint64_t> samples;
        ChosenTokens told;
        std::int64_t first_row = 0;
        for (const std::int64_t i : chosen) {
            const auto at = static_cast<std::size_t>(i);
            Ids tokens = sequences_[at];
            const auto n = static_cast<std::int64_t>(tokens.size());
            if (causal_) {
                for (std::int64_t k = 0; k + 1 < n; ++k)
                    told.rows.push_back(static_cast<std::int32_t>(first_row + k));
                told.labels.insert(told.labels.end(), tokens.begin() + 1, tokens.end());
            } else {
                const TextRun run{.document = names_[at], .place = 0, .size = n};
                masker_->mask(tokens, {&run, 1}, epoch_, first_row, told);
            }
            first_row += n;
            ids.push_back(std::move(tokens));
            samples.push_back(static_cast<std::uint64_t>(i));
        }
        const Tensor rows = body_->encoder->rows(pack(ids, samples));
        if (told.rows.empty()) return Tensor::zeros({1});  // nothing but special tokens
        return head_->loss(gather_rows(rows, told.rows), told.labels);
    }

    std::string objective_ = "auto";
    MaskingOptions masking_;
    bool causal_ = false;
    std::optional<WordHead> head_;
    std::optional<Masker> masker_;
};

}  // namespace

std::unique_ptr<Trainer> make_language_model_part() {
    return std::make_unique<LanguageModelPart>();
}

}  // namespace fovea
