#include <fmt/core.h>

#include <algorithm>

#include "fovea/inspect/model_overview.h"

namespace fovea {
namespace {

// 1234567 as 1,234,567
std::string with_commas(std::int64_t n) {
    std::string digits = std::to_string(n);
    for (std::int64_t at = static_cast<std::int64_t>(digits.size()) - 3; at > 0; at -= 3)
        digits.insert(static_cast<std::size_t>(at), ",");
    return digits;
}

// A value as words: numbers and texts as they are, objects as "encoder 2, decoder 2".
std::string words_of(const Json& value) {
    if (value.is_string()) return value.get<std::string>();
    if (value.is_number_float()) return fmt::format("{:.4g}", value.get<double>());
    if (!value.is_object() && !value.is_array()) return to_text(value);
    constexpr std::size_t most = 12;  // a model may have a thousand labels
    std::string text;
    std::size_t count = 0;
    for (const auto& [name, v] : value.items()) {
        if (++count > most) return fmt::format("{}, … ({} in all)", text, value.size());
        text += (text.empty() ? "" : ", ") + (value.is_object() ? name + " " : "") + words_of(v);
    }
    return text;
}

std::string line_of(std::string name, const std::string& value) {
    std::replace(name.begin(), name.end(), '_', ' ');
    return fmt::format("{:<16} {}\n", name, value);
}

std::string tokenizer_words(const Json& t) {
    std::string text = fmt::format("{}, {} tokens", t["kind"].get<std::string>(),
                                   with_commas(t["tokens"].get<std::int64_t>()));
    for (const auto& [name, special] : t["special"].items())
        text += fmt::format("; {} {} {}", name, special["token"].get<std::string>(),
                            special["id"].get<std::int64_t>());
    return text;
}

// Layers of the same size in one line.
std::string block_table(const ModelOverview& o) {
    struct Row {
        ParameterBlock sum;
        std::int64_t layers = 0;
        bool alike = true;
    };
    std::vector<Row> rows;
    std::size_t width = 5;
    for (const ParameterBlock& b : o.blocks) {
        auto row = std::find_if(rows.begin(), rows.end(),
                                [&](const Row& r) { return r.sum.name == b.folded; });
        if (row == rows.end()) row = rows.insert(rows.end(), Row{{.name = b.folded}});
        row->alike = row->alike && b.parameters * row->layers == row->sum.parameters;
        row->sum.tensors += b.tensors;
        row->sum.parameters += b.parameters;
        row->sum.bytes += b.bytes;
        row->layers += 1;
        width = std::max(width, b.folded.size());
    }
    const auto line = [&](const std::string& name, const std::string& tensors,
                          const std::string& numbers, const std::string& bytes) {
        return fmt::format("{:<{}}  {:>7}  {:>14}  {:>10}", name, width, tensors, numbers, bytes);
    };
    std::string text = line("block", "tensors", "parameters", "memory") + "\n";
    for (const Row& r : rows) {
        text += line(r.sum.name, with_commas(r.sum.tensors), with_commas(r.sum.parameters),
                     bytes_text(r.sum.bytes));
        if (r.layers > 1)
            text += r.alike ? fmt::format("  {} × {}", r.layers,
                                          with_commas(r.sum.parameters / r.layers))
                            : fmt::format("  {} layers", r.layers);
        text += "\n";
    }
    return text + line("all", "", with_commas(o.parameters), bytes_text(o.weight_bytes)) + "\n";
}

}  // namespace

std::string bytes_text(std::int64_t bytes) {
    if (bytes < 1024) return fmt::format("{} B", bytes);
    double n = static_cast<double>(bytes);
    const char* unit = "";
    for (const char* next : {"KiB", "MiB", "GiB", "TiB"}) {
        if (n < 1024) break;
        n /= 1024;
        unit = next;
    }
    return fmt::format("{:.1f} {}", n, unit);
}

std::string ModelOverview::text() const {
    std::string out = line_of("model", folder);
    if (!task.empty()) out += line_of("task", task);
    for (const auto& [name, value] : architecture.items()) out += line_of(name, words_of(value));
    out += line_of("tokenizer", tokenizer_words(tokenizer));
    if (tokenizer.contains("target"))
        out += line_of("target tokenizer", tokenizer_words(tokenizer["target"]));
    for (const auto& [name, value] : about.items()) out += line_of(name, words_of(value));
    out += line_of("parameters", with_commas(parameters));
    out += line_of("precision", precision);
    std::string memory = bytes_text(weight_bytes) + " of weights";
    if (bytes_per_token > 0) memory += ", about " + bytes_text(bytes_per_token) + " per token";
    return out + line_of("memory", memory) + "\n" + block_table(*this);
}

}  // namespace fovea
