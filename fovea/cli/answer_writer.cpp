#include "fovea/cli/answer_writer.h"

#include <fmt/core.h>

#include <algorithm>

#include "fovea/base/files.h"
#include "fovea/cli/terminal/terminal.h"

namespace fovea {
namespace {

// A cell of a table: tabs and line ends would tear the row.
std::string cell(const std::string& text) {
    std::string out = text;
    for (char& c : out)
        if (c == '\t' || c == '\n' || c == '\r') c = ' ';
    return out;
}

// No name twice: a table that is asked about may have labels of its own.
std::vector<std::string> names_beside(std::span<const std::string> kept,
                                      std::vector<std::string> own) {
    for (std::string& name : own)
        if (std::find(kept.begin(), kept.end(), name) != kept.end()) name = "predicted_" + name;
    return own;
}

// Its marks in colours, where standard output takes them.
std::string marked(const Answer& answer) {
    constexpr Style colours[] = {Style::cyan, Style::green, Style::yellow, Style::red};
    const std::string_view text = answer.text;
    std::string out;
    std::size_t at = 0;
    for (const TextMark& m : answer.marks) {
        out += text.substr(at, m.begin - at);
        out += styled(stdout, colours[m.kind % 4], text.substr(m.begin, m.end - m.begin));
        at = m.end;
    }
    return out += text.substr(at);
}

}  // namespace

AnswerWriter::AnswerWriter(std::string format, std::string out, std::vector<std::string> columns)
    : format_(std::move(format)), out_(std::move(out)), columns_(std::move(columns)) {}

void AnswerWriter::put(const std::string& line) {
    if (out_.empty())
        fmt::print("{}\n", line);
    else
        buffer_ += line + "\n";
}

void AnswerWriter::write(const Answer& answer, std::span<const std::string> kept_fields) {
    if (format_ == "text") return put(out_.empty() ? marked(answer) : answer.text);
    if (format_ != "tsv") return put(to_text(answer.json));
    const auto row = [&](std::span<const std::string> kept, std::span<const std::string> own) {
        std::string line;
        for (std::size_t i = 0; i < kept_.size(); ++i)
            line += (i < kept.size() ? cell(kept[i]) : "") + "\t";
        for (std::size_t i = 0; i < own.size(); ++i) line += (i ? "\t" : "") + cell(own[i]);
        put(line);
    };
    if (!header_written_) row(kept_, names_beside(kept_, columns_));
    header_written_ = true;
    if (!answer.rows) return row(kept_fields, answer.cells);
    for (const std::vector<std::string>& cells : *answer.rows) row(kept_fields, cells);
}

void AnswerWriter::flush() { std::fflush(stdout); }

void AnswerWriter::close() {
    if (!out_.empty()) write_file_atomically(out_, buffer_);
}

}  // namespace fovea
