#include "fovea/cli/tokenizer.h"

#include <fmt/core.h>

#include <memory>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/cli/help.h"
#include "fovea/cli/options.h"
#include "fovea/cli/terminal/terminal.h"
#include "fovea/text/spec_kind.h"
#include "fovea/text/tokenizer.h"

namespace fovea {
namespace {

constexpr std::size_t lines_at_once = 4096;  // encoded over threads, printed in order

struct TokenizerFlags {
    std::string tokenizer, format = "text";
    std::vector<std::string> files;
    bool no_special = false, offsets = false, keep_special = false;
};

// Every line of the files (standard input where none is named), in batches.
template <class Take>
void for_line_batches(const std::vector<std::string>& files, Take&& take) {
    std::vector<std::string> lines;
    std::string line;
    for (const std::string& path : files.empty() ? std::vector<std::string>{"-"} : files) {
        LineReader reader(path);
        while (reader.next(line)) {
            lines.push_back(line);
            if (lines.size() == lines_at_once) {
                take(lines);
                lines.clear();
            }
        }
    }
    if (!lines.empty()) take(lines);
}

void print_ids(const std::vector<TokenId>& ids) {
    std::string out;
    for (const TokenId id : ids) {
        if (!out.empty()) out += ' ';
        out += std::to_string(id);
    }
    fmt::print("{}\n", out);
}

Json json_of(const Encoding& e) {
    Json j{{"schema", "fovea.encoding"}, {"version", 1}, {"ids", e.ids}, {"tokens", e.tokens}};
    j["offsets"] = Json::array();
    for (const TextSpan& s : e.offsets) j["offsets"].push_back({s.begin, s.end});
    j["type_ids"] = e.type_ids;
    j["word_ids"] = e.word_ids;
    j["special_mask"] = e.special_mask;
    return j;
}

// Pieces in alternating colours, a bar between them where there are none.
void print_pieces(const Encoding& e, bool offsets) {
    std::string out;
    const bool color = use_color(stdout);
    for (std::size_t i = 0; i < e.size(); ++i) {
        if (i > 0) out += color && !offsets ? "" : " ";
        const Style style = e.special_mask[i] ? Style::dim
                            : i % 2 == 0      ? Style::cyan
                                              : Style::yellow;
        out += styled(stdout, style, e.tokens[i]);
        if (offsets) out += fmt::format("[{},{})", e.offsets[i].begin, e.offsets[i].end);
    }
    fmt::print("{}\n", out);
}

void encode(const TokenizerFlags& f) {
    const Tokenizer t = Tokenizer::load(f.tokenizer);
    for_line_batches(f.files, [&](const std::vector<std::string>& lines) {
        if (f.format == "ids") {
            for (const auto& ids : t.encode_ids_batch(lines, !f.no_special)) print_ids(ids);
            return;
        }
        for (const Encoding& e : t.encode_batch(lines, {.add_special_tokens = !f.no_special})) {
            if (f.format == "json")
                fmt::print("{}\n", to_text(json_of(e)));
            else
                print_pieces(e, f.offsets);
        }
    });
}

std::vector<TokenId> ids_of(const std::string& line, const std::string& where) {
    std::vector<TokenId> ids;
    for (std::size_t at = 0; at < line.size();) {
        if (line[at] == ' ' || line[at] == '\t' || line[at] == ',') {
            ++at;
            continue;
        }
        char* end = nullptr;
        const long id = std::strtol(line.c_str() + at, &end, 10);
        const auto next = static_cast<std::size_t>(end - line.c_str());
        if (next == at || id < 0 || id >= (1l << 31) - 1)
            fail_with(ErrorKind::bad_input,
                      "ids are whole numbers from 0 with spaces between, as "
                      "`fovea tokenizer encode --format ids` prints them",
                      where, ": \"", line.substr(at, 20), "\" is no token id");
        ids.push_back(static_cast<TokenId>(id));
        at = next;
    }
    return ids;
}

void decode(const TokenizerFlags& f) {
    const Tokenizer t = Tokenizer::load(f.tokenizer);
    std::int64_t number = 0, unknown = 0;
    for_line_batches(f.files, [&](const std::vector<std::string>& lines) {
        for (const std::string& line : lines) {
            const auto ids = ids_of(line, text_of("line ", ++number));
            for (const TokenId id : ids) unknown += !t.id_to_token(id);
            const std::string text = t.decode(ids, !f.keep_special);
            if (f.format == "json")
                fmt::print("{}\n",
                           to_text(Json{{"schema", "fovea.text"}, {"version", 1}, {"text", text}}));
            else
                fmt::print("{}\n", text);
        }
    });
    if (unknown > 0 && !global_options().quiet)
        fmt::print(stderr, "note: {} ids are not in the vocabulary ({} tokens) and were left out\n",
                   unknown, t.vocab_size());
}

void inspect(const TokenizerFlags& f) {
    const Tokenizer t = Tokenizer::load(f.tokenizer);
    const TokenizerSpec& s = t.spec();
    Json j{{"schema", "fovea.tokenizer"},
           {"version", 1},
           {"model", kind_of(s)},
           {"vocabulary", t.vocab_size()},
           {"normalizers", s.normalizer.size()},
           {"pre_tokenizers", s.pre_tokenizer.size()},
           {"post_processors", s.post_processor.size()},
           {"added_tokens", s.added_tokens.size()}};
    const std::pair<const char*, std::optional<TokenId>> parts[] = {
        {"bos", t.bos_id()}, {"eos", t.eos_id()}, {"unk", t.unk_id()},  {"sep", t.sep_id()},
        {"pad", t.pad_id()}, {"cls", t.cls_id()}, {"mask", t.mask_id()}};
    for (const auto& [name, id] : parts)
        if (id) j["special"][name] = {{"id", *id}, {"token", t.id_to_token(*id).value_or("")}};
    if (f.format == "json") {
        fmt::print("{}\n", to_text(j));
        return;
    }
    fmt::print("{:<16} {}\n{:<16} {}\n", "model", j["model"].get<std::string>(), "vocabulary",
               t.vocab_size());
    fmt::print("{:<16} {} normalisers, {} splitters, {} post-processors, {} added tokens\n",
               "steps", s.normalizer.size(), s.pre_tokenizer.size(), s.post_processor.size(),
               s.added_tokens.size());
    for (const auto& [name, id] : parts)
        if (id) fmt::print("{:<16} {} {}\n", name, *id, t.id_to_token(*id).value_or(""));
    fmt::print("{:<16}", "first tokens");
    for (TokenId id = 0; id < std::min<std::int64_t>(12, t.vocab_size()); ++id)
        fmt::print(" {}", t.id_to_token(id).value_or("?"));
    fmt::print("\n");
}

}  // namespace

void add_tokenizer_command(CLI::App& app) {
    CLI::App* v = app.add_subcommand("tokenizer", "Train, use and look into tokenizers.");
    v->require_subcommand(1);
    set_examples(*v, {"fovea tokenizer train corpus.txt --vocab-size 8000 --out tokenizer.json",
                      "echo 'Hello, world!' | fovea tokenizer encode tokenizer.json",
                      "fovea tokenizer inspect tokenizer.json"});
    add_tokenizer_train_command(*v);
    const auto add = [&](const char* name, const char* sentence,
                         void (*work)(const TokenizerFlags&)) {
        CLI::App* verb = v->add_subcommand(name, sentence);
        auto f = std::make_shared<TokenizerFlags>();
        verb->add_option("TOKENIZER", f->tokenizer,
                         "a tokenizer.json, vocab.txt, SentencePiece .model, or model folder")
            ->required();
        verb->callback([f, work] { work(*f); });
        return std::pair{verb, f};
    };
    auto [enc, ef] = add("encode", "Lines of text to tokens.", encode);
    enc->add_option("FILES", ef->files, "texts, one per line; - or nothing: standard input");
    add_format_options(*enc, ef->format, {"text", "json", "ids"});
    enc->add_flag("--no-special", ef->no_special, "without the special tokens of the template");
    enc->add_flag("--offsets", ef->offsets, "where each piece stands in the line, in characters");
    set_examples(*enc, {"echo 'Hello, world!' | fovea tokenizer encode tokenizer.json",
                        "fovea tokenizer encode vocab.txt --format ids < in.txt",
                        "fovea tokenizer encode spiece.model --format json in.txt"});
    auto [dec, df] = add("decode", "Lines of ids to text.", decode);
    dec->add_option("FILES", df->files, "ids, one text a line; - or nothing: standard input");
    add_format_options(*dec, df->format, {"text", "json"});
    dec->add_flag("--keep-special", df->keep_special, "show special tokens too");
    set_examples(*dec, {"echo 15496 11 995 0 | fovea tokenizer decode gpt2/tokenizer.json",
                        "fovea tokenizer decode tokenizer.json ids.txt",
                        "fovea tokenizer decode tokenizer.json --keep-special ids.txt"});
    auto [ins, nf] = add("inspect", "What a tokenizer consists of.", inspect);
    add_format_options(*ins, nf->format, {"text", "json"});
    set_examples(*ins,
                 {"fovea tokenizer inspect tokenizer.json", "fovea tokenizer inspect vocab.txt",
                  "fovea tokenizer inspect run/model --json"});
}

}  // namespace fovea
