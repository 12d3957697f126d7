#include "fovea/tasks/slots.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/json_fields.h"
#include "fovea/base/utf8.h"
#include "fovea/data/batch_plan.h"
#include "fovea/data/word_spans.h"
#include "fovea/metrics/entities.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/softmax.h"

namespace fovea {
namespace {

constexpr std::uint32_t initial_slots = 0x696e6974;  // the stream of initial values

std::vector<std::string> intents_of(const Json& config, const std::string& where) {
    const auto list = config.find("intents");
    expect_input(list != config.end() && list->is_array() && !list->empty(), where,
                 ": \"intents\" must list the intents of the model");
    std::vector<std::string> names;
    for (const Json& name : *list) {
        expect_input(name.is_string(), where, ": \"intents\" holds ", to_text(name),
                     ", which is no text");
        names.push_back(name.get<std::string>());
    }
    return names;
}

Pool intent_pooling(const Json& config, const std::string& where) {
    std::string name = name_of(Pool::attention);
    JsonFields(config, where).read("intent_pooling", name);
    const std::vector<std::string> known = pool_names();
    expect_input(std::find(known.begin(), known.end(), name) != known.end() &&
                     pool_of(name) != Pool::queries,
                 where, ": there is no \"intent_pooling\" \"", name, "\"");
    return pool_of(name);
}

std::int32_t place_of(const std::vector<std::string>& all, const std::string& one) {
    const auto at = std::find(all.begin(), all.end(), one);
    return at == all.end() ? -1 : static_cast<std::int32_t>(at - all.begin());
}

// What was found for one text.
struct FoundSlots {
    std::span<const std::int32_t> tags;
    const float* probabilities;  // [words, labels]
    const float* intents;        // [intents], probabilities
};

// Batch by batch: take(text, what was found). Texts without words are passed over.
template <class Take>
void fill_all(const SlotModel& model, std::span<const EncodedWords> texts,
              std::int64_t batch_tokens, const PredictControl& control, Take&& take) {
    const PrecisionScope scope(model.precision);
    std::vector<std::int64_t> lengths, chosen;
    for (std::size_t i = 0; i < texts.size(); ++i)
        if (texts[i].words > 0) {
            chosen.push_back(static_cast<std::int64_t>(i));
            lengths.push_back(texts[i].tokens);
        }
    const BatchPlan plan(lengths, {.max_tokens = batch_tokens, .shuffle = false}, 0);
    auto done = static_cast<std::int64_t>(texts.size() - chosen.size());
    for (std::int64_t b = 0; b < plan.batches(); ++b) {
        if (control.stop && control.stop->load()) break;
        std::vector<std::int64_t> indices;
        for (const std::int64_t k : plan[b]) indices.push_back(chosen[static_cast<std::size_t>(k)]);
        const WordBatch batch = pack_words(texts, indices);
        const SlotNetwork::Heads heads = (*model.network)(batch);
        const JudgedWords j = judged(model.network->tags, heads.emissions, batch.words);
        const Tensor intents = softmax(heads.intents);
        for (std::size_t k = 0; k < indices.size(); ++k) {
            const auto s = static_cast<std::int64_t>(k);
            const std::int64_t from = batch.words.begin(s), n = batch.words.length(s);
            take(static_cast<std::size_t>(indices[k]),
                 FoundSlots{std::span(j.tags).subspan(static_cast<std::size_t>(from),
                                                      static_cast<std::size_t>(n)),
                            j.probabilities.data() + from * j.probabilities.cols(),
                            intents.data() + s * intents.cols()});
        }
        done += static_cast<std::int64_t>(indices.size());
        if (control.progress) control.progress(done, static_cast<std::int64_t>(texts.size()));
    }
}

std::size_t highest(const float* row, std::size_t n) {
    return static_cast<std::size_t>(std::max_element(row, row + n) - row);
}

}  // namespace

SlotNetwork::SlotNetwork(const Json& config, const std::string& where,
                         const std::vector<std::string>& labels, const Params& p)
    : tags(config, where, labels, p),
      pooling(tags.width(), {.pool = intent_pooling(config, where)}, p / "pooling"),
      intent(tags.width(), static_cast<int>(intents_of(config, where).size()), p / "intent") {}

SlotNetwork::Heads SlotNetwork::operator()(const WordBatch& batch) const {
    const Tensor rows = tags.rows(batch);
    const Tensor whole =
        dropout(pooling(rows, batch.words), tags.encoder ? tags.encoder->dropout : 0.0f);
    return {tags.emissions(rows), intent(whole)};
}

void SlotChoice::write(Json& config) const {
    tags.write(config);
    config["intent_pooling"] = name_of(pooling);
    config["intents"] = intents;
}

SlotModel SlotModel::create(ModelFolder folder, const SlotChoice& choice, std::uint64_t seed) {
    SlotModel m;
    m.folder = std::move(folder);
    m.folder.task = "slots";
    m.intents = choice.intents;
    choice.write(m.folder.config);
    m.store = std::make_shared<ParameterStore>();
    Rng rng(seed, initial_slots);
    m.network = std::make_shared<const SlotNetwork>(m.folder.config, "config", m.folder.labels,
                                                    Params(*m.store, rng));
    check_word_reading(m.network->tags, *m.folder.tokenizer, "config");
    return m;
}

SlotModel SlotModel::create_from(ModelFolder pretrained, const SlotChoice& choice,
                                 std::uint64_t seed, ModelFolder::NewHead& report) {
    SlotModel m;
    m.folder = std::move(pretrained);
    m.folder.task = "slots";
    m.folder.generation = Json::object();
    m.folder.about = Json::object();
    m.intents = choice.intents;
    const std::string where = m.folder.config_path();
    const TextEncoderEntry& entry = text_encoder_of(m.folder.config, where);
    choice.write(m.folder.config);
    const auto make = [&](const Params& p) {
        return std::make_shared<const SlotNetwork>(m.folder.config, where, m.folder.labels, p);
    };
    m.store = m.folder.load_body(entry, tag_head_patterns(), make, report);
    Rng rng(seed, initial_slots);
    m.network = make(Params(*m.store, rng));
    check_word_reading(m.network->tags, *m.folder.tokenizer, where);
    return m;
}

SlotModel SlotModel::open(ModelFolder folder, const WeightChoice& weights) {
    SlotModel m;
    m.folder = std::move(folder);
    m.folder.generation = Json::object();
    m.precision = weights.precision;
    const std::string where = m.folder.config_path();
    m.intents = intents_of(m.folder.config, where);
    expect_input(!m.folder.labels.empty(), where, ": \"id2label\" names no tags of slots");
    const auto make = [&](const Params& p) {
        return std::make_shared<const SlotNetwork>(m.folder.config, where, m.folder.labels, p);
    };
    m.store = m.folder.load(tag_network_rules(m.folder.config, where), weights.format, make);
    Rng unused;
    m.network = make(Params(*m.store, unused));
    check_word_reading(m.network->tags, *m.folder.tokenizer, where);
    return m;
}

void SlotModel::save(const std::string& path, bool overwrite) const {
    save_slots(folder, *store, path, overwrite);
}

void save_slots(const ModelFolder& model, const ParameterStore& trained, const std::string& out,
                bool overwrite) {
    model.save(out, trained, tag_network_rules(model.config, model.config_path()), overwrite);
}

EncodedWords SlotModel::encode(std::span<const std::string> words) const {
    return encode_words(network->tags.reading(*folder.tokenizer), words);
}

std::int32_t SlotModel::label_id(const std::string& label) const {
    return place_of(folder.labels, label);
}
std::int32_t SlotModel::intent_id(const std::string& intent) const {
    return place_of(intents, intent);
}

std::vector<SlotAnswer> fill_slots(const SlotModel& model, std::span<const std::string> texts,
                                   std::int64_t batch_tokens, const PredictControl& control) {
    std::vector<SlotAnswer> out(texts.size());
    std::vector<std::string> whole;
    std::vector<std::vector<TextSpan>> spans;
    std::vector<EncodedWords> encoded;
    const WordReading reading = model.network->tags.reading(*model.folder.tokenizer);
    for (const std::string& text : texts) {
        whole.push_back(repair_utf8(text));
        spans.push_back(word_spans(whole.back()));
        encoded.push_back(encode_words(reading, whole.back(), spans.back()));
    }
    fill_all(model, encoded, batch_tokens, control, [&](std::size_t i, const FoundSlots& f) {
        SlotAnswer& a = out[i];
        a.intents.assign(f.intents, f.intents + model.intents.size());
        const std::size_t best = highest(f.intents, model.intents.size());
        a.intent = model.intents[best];
        a.probability = f.intents[best];
        a.slots =
            tagged_text(whole[i], spans[i], {model.folder.labels, true}, {f.tags, f.probabilities})
                .entities;
        a.windows = static_cast<std::int64_t>(encoded[i].windows.size());
    });
    return out;
}

MetricScore slot_score(const SlotModel& model, std::span<const SlotText> texts,
                       std::vector<std::string>* outputs, const PredictControl& control) {
    std::vector<EncodedWords> encoded;
    for (const SlotText& t : texts) encoded.push_back(model.encode(t.words));
    std::vector<TagSequence> found(texts.size()), wanted;
    for (const SlotText& t : texts) wanted.push_back(t.tags);
    std::vector<std::string> intents(texts.size());
    std::vector<double> losses(texts.size());
    const auto labels = static_cast<std::int64_t>(model.folder.labels.size());
    fill_all(model, encoded, 4096, control, [&](std::size_t i, const FoundSlots& f) {
        intents[i] = model.intents[highest(f.intents, model.intents.size())];
        const std::int32_t intent = model.intent_id(texts[i].intent);
        if (intent >= 0) losses[i] = -std::log(std::max(f.intents[intent], 1e-30f));
        for (std::size_t w = 0; w < f.tags.size(); ++w) {
            found[i].push_back(model.folder.labels[static_cast<std::size_t>(f.tags[w])]);
            const std::int32_t tag = model.label_id(texts[i].tags[w]);
            if (tag < 0) continue;
            const float p = f.probabilities[static_cast<std::int64_t>(w) * labels + tag];
            losses[i] -= std::log(std::max(p, 1e-30f)) / static_cast<double>(f.tags.size());
        }
    });
    std::int64_t right = 0, whole = 0;
    double loss = 0;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const bool same = intents[i] == texts[i].intent;
        right += same;
        whole += same && found[i] == texts[i].tags;
        loss += losses[i];
        if (outputs) outputs->push_back(intents[i] + "\t" + sentence_text(found[i]));
    }
    const auto n = static_cast<double>(std::max<std::size_t>(1, texts.size()));
    MetricScore score = entity_score(found, wanted).score();
    score.name = "slot F1";
    score.figures["intent_accuracy"] = 100 * static_cast<double>(right) / n;
    score.figures["sentence_accuracy"] = 100 * static_cast<double>(whole) / n;
    score.figures["loss"] = loss / n;
    return score;
}

}  // namespace fovea
