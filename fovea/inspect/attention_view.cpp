#include "fovea/inspect/attention_view.h"

#include <algorithm>

#include "fovea/ops/probe.h"
#include "fovea/tasks/translate.h"

namespace fovea {
namespace {

// A token as a person reads it: the byte-level and SentencePiece space marks become a blank.
std::string shown(const Tokenizer& tokenizer, std::int32_t id) {
    const std::int32_t one[] = {id};
    std::string text =
        tokenizer.is_special(id) ? tokenizer.id_to_token(id).value_or("?") : tokenizer.decode(one);
    while (!text.empty() && text[0] == ' ') text.erase(0, 1);
    return text.empty() ? "·" : text;
}

std::vector<std::string> shown(const Tokenizer& tokenizer, const Ids& ids) {
    std::vector<std::string> out;
    for (const std::int32_t id : ids) out.push_back(shown(tokenizer, id));
    return out;
}

// Full rows of one report: weights outside a row's visibility are 0.
AttentionMap map_of(const Probe& probe, std::size_t report, std::size_t keys) {
    AttentionMap m;
    for (int h = 0; h < probe.heads(report); ++h) {
        const Ragged r = probe.map(report, h);
        std::vector<std::vector<float>> rows;
        for (std::int64_t i = 0; i < r.rows(); ++i) {
            std::vector<float> row(r.row(i).begin(), r.row(i).end());
            row.resize(keys, 0.0f);  // one sequence: what a row sees begins at its first key
            rows.push_back(std::move(row));
        }
        m.weight.push_back(std::move(rows));
    }
    return m;
}

}  // namespace

AttentionView look_inside(const Seq2SeqModel& model, const std::string& source,
                          const std::string& target) {
    AttentionView v;
    v.source_text = source;
    v.target_text = target.empty() ? translate(model, source) : target;
    const Ids s = model.encode_source(source);
    Ids t = model.encode_target(v.target_text);
    t.insert(t.begin(), model.config.decoder_start_token_id);
    t.pop_back();  // </s> is predicted, not read
    v.source_tokens = shown(*model.source_tokenizer, s);
    v.target_tokens = shown(*model.target_tokenizer, t);
    v.target_tokens[0] = "<start>";

    const Segments from = Segments::of_lengths({static_cast<std::int64_t>(s.size())});
    const Segments to = Segments::of_lengths({static_cast<std::int64_t>(t.size())});
    Probe probe;
    model.network->decoder(t, to, model.network->encode(s, from), from);
    // In order of the calls: the encoder's layers, then self and cross of each decoder layer.
    std::size_t report = 0;
    for (int l = 0; l < model.config.encoder_layers; ++l) {
        AttentionMap m = map_of(probe, report++, s.size());
        m.name = "encoder self-attention, layer " + std::to_string(l + 1);
        m.kind = "encoder";
        m.layer = l;
        v.maps.push_back(std::move(m));
    }
    for (int l = 0; l < model.config.decoder_layers; ++l) {
        AttentionMap self = map_of(probe, report++, t.size());
        self.name = "decoder masked self-attention, layer " + std::to_string(l + 1);
        self.kind = "decoder";
        self.layer = l;
        self.queries_are_source = self.keys_are_source = false;
        v.maps.push_back(std::move(self));
        AttentionMap cross = map_of(probe, report++, s.size());
        cross.name = "decoder cross-attention, layer " + std::to_string(l + 1);
        cross.kind = "cross";
        cross.layer = l;
        cross.queries_are_source = false;
        v.maps.push_back(std::move(cross));
    }
    return v;
}

namespace {

std::size_t columns_of(const std::string& text) {  // code points
    std::size_t n = 0;
    for (const char c : text) n += (static_cast<unsigned char>(c) & 0xc0u) != 0x80u;
    return n;
}

std::string first_columns(const std::string& text, std::size_t n) {
    std::string out;
    for (const char c : text) {
        if ((static_cast<unsigned char>(c) & 0xc0u) != 0x80u && n-- == 0) break;
        out += c;
    }
    return out;
}

}  // namespace

std::string terminal_picture(const AttentionView& view, const AttentionMap& map, int width) {
    static const char* const shades[] = {"  ", "░░", "▒▒", "▓▓", "██"};
    const auto &queries = view.queries(map), &keys = view.keys(map);
    std::size_t label = 0;
    for (const std::string& q : queries)
        label = std::max(label, std::min<std::size_t>(columns_of(q), 12));
    const auto room =
        static_cast<std::size_t>(std::max(8, (width - static_cast<int>(label) - 4) / 2));
    const std::size_t shown_keys = std::min(keys.size(), room);
    std::string out = map.name + " (mean of " + std::to_string(map.weight.size()) + " heads)\n";
    out += std::string(label + 2, ' ');
    for (std::size_t k = 0; k < shown_keys; ++k) {  // two columns a key: the first letters of it
        const std::string two = first_columns(keys[k], 2);
        out += two + std::string(2 - std::min<std::size_t>(2, columns_of(two)), ' ');
    }
    out += "\n";
    for (std::size_t q = 0; q < queries.size(); ++q) {
        const std::string name = first_columns(queries[q], 12);
        out += std::string(label - std::min(label, columns_of(name)), ' ') + name + " ▕";
        for (std::size_t k = 0; k < shown_keys; ++k) {
            float mean = 0;
            for (const auto& head : map.weight)
                mean += head[q][k] / static_cast<float>(map.weight.size());
            const int shade = mean >= 0.6f    ? 4
                              : mean >= 0.3f  ? 3
                              : mean >= 0.12f ? 2
                              : mean >= 0.04f ? 1
                                              : 0;
            out += shades[shade];
        }
        out += "▏\n";
    }
    return out;
}

}  // namespace fovea
