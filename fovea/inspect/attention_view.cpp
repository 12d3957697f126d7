#include "fovea/inspect/attention_view.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/ops/attention/probe.h"
#include "fovea/tasks/translate.h"

namespace fovea {
namespace {

// A token as a person reads it: the byte-level and SentencePiece space marks become a blank.
std::string shown(const Tokenizer& tokenizer, std::int32_t id) {
    const std::int32_t one[] = {id};
    std::string text =
        tokenizer.is_special(id) ? tokenizer.id_to_token(id).value_or("?") : tokenizer.decode(one);
    while (!text.empty() && text[0] == ' ') text.erase(0, 1);
    return text.empty() ? "␣" : text;
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
    const PrecisionScope scope(model.precision);
    Probe probe;
    model.network->decoder(t, to, model.network->encode(s, from), from);
    const auto add = [&](const std::string& name, std::size_t keys, AttentionMap about) {
        about.weight = map_of(probe, probe.find(name), keys).weight;
        v.maps.push_back(std::move(about));
    };
    const Transformer& network = *model.network;
    for (int l = 0; l < model.config.encoder_layers; ++l) {
        AttentionMap m;
        m.name = "encoder self-attention, layer " + std::to_string(l + 1);
        m.kind = "encoder";
        m.layer = l;
        add(network.encoder.layers[static_cast<std::size_t>(l)].self_attn.name, s.size(), m);
    }
    for (int l = 0; l < model.config.decoder_layers; ++l) {
        const auto& layer = network.decoder.layers[static_cast<std::size_t>(l)];
        AttentionMap self;
        self.name = "decoder masked self-attention, layer " + std::to_string(l + 1);
        self.kind = "decoder";
        self.layer = l;
        self.queries_are_source = self.keys_are_source = false;
        add(layer.self_attn.name, t.size(), self);
        AttentionMap cross;
        cross.name = "decoder cross-attention, layer " + std::to_string(l + 1);
        cross.kind = "cross";
        cross.layer = l;
        cross.queries_are_source = false;
        add(layer.encoder_attn.name, s.size(), cross);
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

namespace {

struct Shade {
    float from;
    const char* cell;
    const char* says;
};
constexpr Shade shades[] = {{0.6f, "██", "60 % and more"},
                            {0.3f, "▓▓", "30 %"},
                            {0.12f, "▒▒", "12 %"},
                            {0.04f, "░░", "4 %"},
                            {0.0f, "· ", "less"}};

const char* shade_of(float weight) {
    for (const Shade& s : shades)
        if (weight >= s.from) return s.cell;
    return shades[4].cell;
}

std::vector<std::string> letters_of(const std::string& text, std::size_t most) {
    std::vector<std::string> letters;
    for (const char c : first_columns(text, most)) {
        if ((static_cast<unsigned char>(c) & 0xc0u) != 0x80u) letters.emplace_back();
        letters.back() += c;
    }
    return letters;
}

// Keys from top to bottom, ending right above their column.
std::string key_lines(const std::vector<std::string>& keys, std::size_t count, std::size_t indent) {
    constexpr std::size_t longest = 8;
    std::vector<std::vector<std::string>> columns;
    std::size_t height = 1;
    for (std::size_t k = 0; k < count; ++k) {
        columns.push_back(letters_of(keys[k], longest));
        height = std::max(height, columns.back().size());
    }
    std::string out;
    for (std::size_t line = 0; line < height; ++line) {
        std::string text(indent, ' ');
        for (const auto& letters : columns) {
            const std::size_t above = height - letters.size();
            text += line < above ? "  " : letters[line - above] + " ";
        }
        out += text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
    }
    return out;
}

}  // namespace

std::string terminal_legend() {
    std::string out = "weights:";
    for (const Shade& s : shades) out += std::string("  ") + s.cell + " " + s.says;
    return out + "   blank: hidden by the mask\n";
}

std::string terminal_picture(const AttentionView& view, const AttentionMap& map, int width) {
    const auto &queries = view.queries(map), &keys = view.keys(map);
    std::size_t label = 0;
    for (const std::string& q : queries)
        label = std::max(label, std::min<std::size_t>(columns_of(q), 12));
    const auto room =
        static_cast<std::size_t>(std::max(8, (width - static_cast<int>(label) - 4) / 2));
    const std::size_t shown_keys = std::min(keys.size(), room);
    std::string out = map.name + " (mean of " + std::to_string(map.weight.size()) + " heads)\n" +
                      key_lines(keys, shown_keys, label + 2);
    for (std::size_t q = 0; q < queries.size(); ++q) {
        const std::string name = first_columns(queries[q], 12);
        out += std::string(label - std::min(label, columns_of(name)), ' ') + name + " ▕";
        for (std::size_t k = 0; k < shown_keys; ++k) {
            float mean = 0;
            for (const auto& head : map.weight)
                mean += head[q][k] / static_cast<float>(map.weight.size());
            out += map.sees(q, k) ? shade_of(mean) : "  ";
        }
        out += "▏\n";
    }
    if (shown_keys < keys.size())
        out += text_of("(", keys.size() - shown_keys,
                       " more keys: widen the terminal, or see the page)\n");
    return out;
}

}  // namespace fovea
