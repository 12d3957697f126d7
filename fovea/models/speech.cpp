#include "fovea/models/speech.h"

#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/loss/ctc.h"

namespace fovea {

void SpeechConfig::apply_preset(const std::string& name) {
    const auto set = [&](int layers, int width, int heads) {
        sizes.encoder_layers = layers;
        sizes.d_model = width;
        sizes.encoder_attention_heads = sizes.decoder_attention_heads = heads;
        sizes.encoder_ffn_dim = sizes.decoder_ffn_dim = 4 * width;
    };
    if (name == "tiny")
        set(4, 96, 4);
    else if (name == "small")
        set(6, 144, 4);
    else if (name == "base")
        set(12, 256, 4);
    else
        fail_with(ErrorKind::usage, "one of tiny, small, base", "no preset \"", name, "\"");
}

SpeechConfig SpeechConfig::from_json(const Json& json, const std::string& where) {
    SpeechConfig c;
    c.sizes = WhisperConfig::from_json(json, where);
    JsonFields f(json, where);
    f.read("ctc_weight", c.ctc_weight, {0, 1});
    for (const int id : {c.sizes.eos_token_id, c.sizes.decoder_start_token_id})
        expect_input(c.sizes.decoder_layers == 0 || (id > 0 && id < c.sizes.vocab_size), where,
                     ": special token id ", id, " lies outside the vocabulary of ",
                     c.sizes.vocab_size);
    return c;
}

Json SpeechConfig::to_json() const {
    Json j = sizes.to_json();
    j["model_type"] = model_type;
    j["architectures"] = {"FoveaSpeech"};
    j["ctc_weight"] = ctc_weight;
    return j;
}

SpeechModel::SpeechModel(const SpeechConfig& c, const Params& p)
    : config(c),
      encoder(c.sizes, p / "model" / "encoder"),
      ctc(c.sizes.d_model, c.sizes.vocab_size, p / "ctc") {
    if (c.sizes.decoder_layers > 0) decoder.emplace(c.sizes, p / "model" / "decoder");
}

SpeechModel::Shifted SpeechModel::shifted(const SpokenUnits& units) const {
    Shifted s;
    std::vector<std::int64_t> lengths;
    for (std::int64_t i = 0; i < units.segments.count(); ++i) {
        const auto begin = units.ids.begin() + units.segments.begin(i),
                   end = units.ids.begin() + units.segments.end(i);
        s.input.push_back(config.sizes.decoder_start_token_id);
        s.input.insert(s.input.end(), begin, end);
        s.labels.insert(s.labels.end(), begin, end);
        s.labels.push_back(config.sizes.eos_token_id);
        lengths.push_back(end - begin + 1);
    }
    const auto names = units.segments.samples();
    s.segments = Segments::of_lengths(lengths, {names.begin(), names.end()});
    return s;
}

SpeechModel::Losses SpeechModel::losses(const SoundRows& sound, const SpokenUnits& units) const {
    Losses l;
    const Tensor logits = unit_logits(sound);
    const CtcOptions mean{.blank = SpeechConfig::blank, .reduction = Reduction::mean};
    l.ctc = ctc_loss(logits, sound.segments, units.ids, units.segments, mean);
    l.joint = l.ctc;
    if (!decoder) return l;
    const Shifted s = shifted(units);
    const Tensor rows = (*decoder)(s.input, s.segments, sound);
    l.decoding = cross_entropy(decoder->logits(rows), s.labels, {.smoothing = 0.1f});
    l.joint = config.ctc_weight * l.ctc + (1 - config.ctc_weight) * *l.decoding;
    return l;
}

std::vector<double> SpeechModel::decoder_scores(const SoundRows& sound,
                                                const SpokenUnits& units) const {
    expect(decoder.has_value(), "speech: the model has no decoder");
    const Shifted s = shifted(units);
    const Tensor logits = decoder->logits((*decoder)(s.input, s.segments, sound));
    const Tensor each = cross_entropy(logits, s.labels, {.reduction = Reduction::none});
    std::vector<double> scores;
    for (std::int64_t i = 0; i < s.segments.count(); ++i) {
        double sum = 0;
        for (std::int64_t r = s.segments.begin(i); r < s.segments.end(i); ++r)
            sum -= static_cast<double>(each.data()[r]);
        scores.push_back(sum);
    }
    return scores;
}

}  // namespace fovea
