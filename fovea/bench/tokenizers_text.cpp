#include "fovea/bench/tokenizers_text.h"

#include <cstdlib>
#include <functional>
#include <vector>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/bench/sample_lines.h"

namespace fovea::bench {
namespace {

using Sink = std::function<void(std::string)>;

// Paragraphs and questions of a SQuAD file.
void read_squad(const std::string& path, const Sink& line) {
    const Json all = parse_json(read_file_or_gzip(path), path);
    for (const Json& article : all.at("data")) {
        for (const Json& paragraph : article.at("paragraphs")) {
            line(paragraph.at("context").get<std::string>());
            for (const Json& question : paragraph.at("qas"))
                line(question.at("question").get<std::string>());
        }
    }
}

void read_lines(const std::string& path, const Sink& line) {
    LineReader reader(path);
    for (std::string s; reader.next(s);) line(s);
}

// The first two columns, each as a line.
void read_pairs(const std::string& path, const Sink& line) {
    LineReader reader(path);
    for (std::string s; reader.next(s);) {
        const std::size_t tab = s.find('\t');
        if (tab == std::string::npos) continue;
        const std::size_t end = std::min(s.find('\t', tab + 1), s.size());
        line(s.substr(0, tab));
        line(s.substr(tab + 1, end - tab - 1));
    }
}

std::string one_line(std::string s) {
    for (char& c : s)
        if (c == '\n' || c == '\r') c = ' ';
    return s;
}

// Lines of all data sets in turns, so that any prefix of the text is a mixture of them.
std::string mixed(const std::vector<std::vector<std::string>>& sets, std::int64_t bytes) {
    std::string text;
    text.reserve(static_cast<std::size_t>(bytes) + 4096);
    std::vector<std::size_t> at(sets.size(), 0);
    bool any = true;
    while (any && static_cast<std::int64_t>(text.size()) < bytes) {
        any = false;
        for (std::size_t k = 0; k < sets.size(); ++k) {
            if (at[k] == sets[k].size()) continue;
            any = true;
            text += sets[k][at[k]++];
            text += '\n';
        }
    }
    return text;
}

}  // namespace

std::string shared_folder() {
    if (const char* named = std::getenv("FOVEA_SHARED")) return named;
    return is_folder("../shared/data") ? "../shared" : std::string();
}

BenchText tokenizer_bench_text(const std::string& file, std::int64_t bytes) {
    BenchText result;
    if (!file.empty()) {
        const std::string once = read_file_or_gzip(file);
        expect_input(!once.empty(), file, ": has no text");
        while (static_cast<std::int64_t>(result.text.size()) < bytes) {
            result.text += once;
            if (result.text.back() != '\n') result.text += '\n';
        }
        result.source = file;
    } else if (const std::string shared = shared_folder(); !shared.empty()) {
        std::vector<std::vector<std::string>> sets;
        const auto add = [&](const std::string& name, const auto& read) {
            const std::string path = shared + "/data/" + name;
            if (!file_exists(path)) return;
            sets.emplace_back();
            read(path, [&](std::string line) { sets.back().push_back(one_line(std::move(line))); });
        };
        add("squad1.1/train-v1.1.rebuilt.json.gz", read_squad);
        add("squad1.1/dev-v1.1.rebuilt.json.gz", read_squad);
        add("tatoeba-deu-eng/train.tsv.gz", read_pairs);
        add("tinyshakespeare/input.txt", read_lines);
        result.text = mixed(sets, bytes);
        result.source = "../shared/data";
    }
    if (static_cast<std::int64_t>(result.text.size()) < bytes) {
        const auto missing = bytes - static_cast<std::int64_t>(result.text.size());
        result.text += sample_prose(1, missing);
        result.source += result.source.empty() ? "made from a seed" : " and made from a seed";
    }
    const std::size_t end = result.text.rfind('\n', static_cast<std::size_t>(bytes));
    if (end != std::string::npos) result.text.resize(end + 1);
    return result;
}

}  // namespace fovea::bench
