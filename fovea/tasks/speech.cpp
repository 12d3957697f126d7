#include "fovea/tasks/speech.h"

#include <algorithm>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json_fields.h"
#include "fovea/base/utf8.h"

namespace fovea {
namespace {

constexpr std::uint32_t first_values = 0x73706368;  // a stream of its own
constexpr const char *blank_name = "<blank>", *start_name = "<start>", *end_name = "<end>";

std::vector<std::string> parts_of(const std::string& text, const std::string& kind) {
    std::vector<std::string> parts;
    if (kind == "words") {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find(' ', at), text.size());
            if (end > at) parts.push_back(text.substr(at, end - at));
            at = end + 1;
        }
        return parts;
    }
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t begin = at;
        next_code_point(text, at);
        parts.push_back(text.substr(begin, at - begin));
    }
    return parts;
}

std::string unit_kind_of(const Json& config, const std::string& where) {
    std::string kind = "characters";
    JsonFields(config, where).read("unit_kind", kind);
    expect_input(kind == "characters" || kind == "words", where, ": \"unit_kind\" is \"", kind,
                 "\", but characters and words are known");
    return kind;
}

}  // namespace

SpeechNetwork::SpeechNetwork(const Json& config, const std::string& where, int classes,
                             const Params& p) {
    std::string type;
    JsonFields(config, where).read("model_type", type);
    if (type == SpeechConfig::model_type)
        recogniser.emplace(SpeechConfig::from_json(config, where), p);
    else if (config.contains("architectures") &&
             to_text(config["architectures"]).find("AudioClassification") == std::string::npos)
        whisper.emplace(WhisperConfig::from_json(config, where), p);
    else
        classifier.emplace(WhisperConfig::from_json(config, where), classes, p);
}

std::vector<std::string> units_of_texts(std::span<const std::string> texts, const std::string& kind,
                                        bool decoder) {
    std::set<std::string> all;
    for (const std::string& text : texts)
        for (std::string& part : parts_of(text, kind)) all.insert(std::move(part));
    std::vector<std::string> units{blank_name};
    units.insert(units.end(), all.begin(), all.end());
    if (decoder) units.insert(units.end(), {start_name, end_name});
    return units;
}

Transcriber Transcriber::create(ModelFolder folder, std::uint64_t seed) {
    Transcriber m;
    m.folder = std::move(folder);
    m.folder.task = "transcribe";
    m.unit_kind = unit_kind_of(m.folder.config, "config");
    m.features = std::make_shared<const SoundFeatures>(m.folder.preprocessor, "preprocessor");
    m.store = std::make_shared<ParameterStore>();
    Rng rng(seed, first_values);
    m.network = std::make_shared<const SpeechNetwork>(
        m.folder.config, "config", static_cast<int>(m.folder.labels.size()), Params(*m.store, rng));
    return m;
}

Transcriber Transcriber::open(ModelFolder folder, const WeightChoice& weights) {
    Transcriber m;
    m.folder = std::move(folder);
    m.precision = weights.precision;
    const std::string where = m.folder.config_path();
    const std::string preprocessor = join_path(m.folder.path, "preprocessor_config.json");
    if (m.folder.preprocessor.empty())
        fail_with(ErrorKind::not_found, "copy it from where the model comes from", preprocessor,
                  ": there is no such file, which says how sounds are read");
    m.unit_kind = unit_kind_of(m.folder.config, where);
    m.features = std::make_shared<const SoundFeatures>(m.folder.preprocessor, preprocessor);
    const auto make = [&](const Params& p) {
        return std::make_shared<const SpeechNetwork>(m.folder.config, where,
                                                     static_cast<int>(m.folder.labels.size()), p);
    };
    m.store = m.folder.load({}, weights.format, make);
    Rng unused;
    m.network = make(Params(*m.store, unused));
    const WhisperConfig& c = m.network->encoder().config;
    expect_input(c.num_mel_bins == m.features->width(), where, ": \"num_mel_bins\" is ",
                 c.num_mel_bins, " but ", preprocessor, " makes rows of ", m.features->width());
    if (m.is_whisper()) {
        expect_input(m.folder.tokenizer != nullptr, m.folder.path,
                     ": there is no tokenizer.json, which says what Whisper's tokens are");
        m.habits = WhisperHabits::from_json(m.folder.generation, c,
                                            join_path(m.folder.path, "generation_config.json"));
        return m;
    }
    m.folder.generation = Json::object();
    expect_input(m.folder.labels.size() >= 2, where, ": \"id2label\" names ",
                 m.folder.labels.size(), " units or classes, but at least 2 are wanted");
    expect_input(m.classifies() || c.vocab_size == static_cast<int>(m.folder.labels.size()), where,
                 ": \"vocab_size\" is ", c.vocab_size, " but \"id2label\" names ",
                 m.folder.labels.size(), " units");
    return m;
}

void Transcriber::save(const std::string& path, bool overwrite) const {
    folder.save(path, *store, {}, overwrite);
}

void save_transcriber(const ModelFolder& model, const ParameterStore& trained,
                      const std::string& out, bool overwrite) {
    model.save(out, trained, {}, overwrite);
}

Ids Transcriber::units_of(const std::string& text, const std::string& where,
                          bool skip_unknown) const {
    Ids ids;
    for (const std::string& part : parts_of(text, unit_kind)) {
        const auto found = std::find(folder.labels.begin() + 1, folder.labels.end(), part);
        if (found == folder.labels.end() && skip_unknown) continue;
        if (found == folder.labels.end())
            fail_with(ErrorKind::bad_input, "write transcripts as those of training are", where,
                      ": the model has no unit \"", part, "\"");
        ids.push_back(static_cast<std::int32_t>(found - folder.labels.begin()));
    }
    return ids;
}

std::string Transcriber::text_of_units(std::span<const std::int32_t> units) const {
    std::string text;
    for (const std::int32_t u : units) {
        const std::string& name = folder.labels[static_cast<std::size_t>(u)];
        if (name == start_name || name == end_name) continue;
        if (unit_kind == "words" && !text.empty()) text += ' ';
        text += name;
    }
    return text;
}

LoadedSound Transcriber::load(const std::string& path) const {
    LoadedSound s = features->load(path);
    const std::int64_t most = network->encoder().config.max_frames();
    if (is_whisper()) return s;  // it hears long sounds window by window
    if (features->frames_of(s) > most)
        fail_with(ErrorKind::bad_input,
                  "cut it into parts: ffmpeg -i IN -f segment -segment_time 20 OUT%03d.wav", path,
                  ": lasts ",
                  static_cast<double>(features->frames_of(s)) * features->seconds_per_frame(),
                  " seconds, but the model takes ",
                  static_cast<double>(most) * features->seconds_per_frame());
    return s;
}

}  // namespace fovea
