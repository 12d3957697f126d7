#include "fovea/tasks/generation_config.h"

#include "fovea/base/error.h"
#include "fovea/base/json_fields.h"

namespace fovea {
namespace {

std::vector<Ids> bad_words_of(const Json& json, const std::string& where) {
    std::vector<Ids> words;
    if (!json.contains("bad_words_ids") || json["bad_words_ids"].is_null()) return words;
    expect_input(json["bad_words_ids"].is_array(), where,
                 ": \"bad_words_ids\" is no list of lists of token ids");
    for (const Json& word : json["bad_words_ids"]) {
        std::vector<int> ids;
        JsonFields(Json{{"bad_words_ids", word}}, where).read("bad_words_ids", ids, {0, 1 << 24});
        words.emplace_back(ids.begin(), ids.end());
    }
    return words;
}

}  // namespace

SearchOptions search_of(const Json& json, const std::string& where) {
    JsonFields f(json, where);
    SearchOptions s;
    float penalty = 1.0f, repetition = 1.0f, factor = 3.0f;
    constexpr LengthPenalty kinds[] = {LengthPenalty::none,     LengthPenalty::marian,
                                       LengthPenalty::fairseq,  LengthPenalty::hf,
                                       LengthPenalty::onmt_avg, LengthPenalty::onmt_wu};
    int kind = 3;  // hf
    f.read("num_beams", s.beam, {1, 512});
    f.read("max_length", s.max_length, {1});
    f.read("length_penalty", penalty, {-100, 100});
    f.read("repetition_penalty", repetition, {1e-6, 100});
    f.read("no_repeat_ngram_size", s.no_repeat_ngram, {0, 1000});
    f.read_choice("length_penalty_kind",  // ours
                  {name_of(kinds[0]), name_of(kinds[1]), name_of(kinds[2]), name_of(kinds[3]),
                   name_of(kinds[4]), name_of(kinds[5])},
                  kind);
    f.read("max_length_factor", factor, {1e-3, 1e6});  // ours
    s.penalty = kinds[kind];
    s.penalty_strength = penalty;
    s.repetition_penalty = repetition;
    s.max_length_factor = factor;
    for (const Ids& word : bad_words_of(json, where))
        if (word.size() == 1) s.banned.push_back(word[0]);
    return s;
}

void read_sampling(const Json& json, const std::string& where, SearchOptions& s,
                   std::vector<std::string>& stop) {
    JsonFields f(json, where);
    f.read("do_sample", s.sample);
    f.read("temperature", s.temperature, {1e-6, 1e6});
    f.read("top_k", s.top_k, {0, 1 << 24});
    f.read("top_p", s.top_p, {1e-9, 1});
    f.read("min_p", s.min_p, {0, 1});
    f.read("max_new_tokens", s.max_length, {1, 1 << 20});
    f.read("min_new_tokens", s.min_length, {0, 1 << 20});
    if (s.sample) s.beam = 1;
    for (Ids& word : bad_words_of(json, where))
        if (word.size() > 1) s.bad_words.push_back(std::move(word));
    if (!json.contains("stop_strings") || json["stop_strings"].is_null()) return;
    const Json& strings = json["stop_strings"];
    for (const Json& text : strings.is_array() ? strings : Json::array({strings})) {
        expect_input(text.is_string() && !text.get<std::string>().empty(), where,
                     ": \"stop_strings\" holds something that is no text");
        stop.push_back(text.get<std::string>());
    }
}

Json generation_json(const SearchOptions& s) {
    Json j;
    j["num_beams"] = s.beam;
    j["max_length"] = s.max_length;
    j["length_penalty"] = s.penalty_strength;
    j["length_penalty_kind"] = name_of(s.penalty);
    j["max_length_factor"] = s.max_length_factor;
    if (s.no_repeat_ngram > 0) j["no_repeat_ngram_size"] = s.no_repeat_ngram;
    if (s.repetition_penalty != 1.0) j["repetition_penalty"] = s.repetition_penalty;
    return j;
}

}  // namespace fovea
