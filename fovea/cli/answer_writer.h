#pragma once
// Answers as text, a table or JSON lines, to standard output or a file. One writer for every task.
#include <span>
#include <string>
#include <vector>

#include "fovea/tasks/task.h"

namespace fovea {

class AnswerWriter {
public:
    // `out` empty: standard output.
    AnswerWriter(std::string format, std::string out, std::vector<std::string> columns);

    // The input was a table with these columns: the answers' come behind them (format tsv).
    void keep_columns(std::vector<std::string> columns) { kept_ = std::move(columns); }
    void write(const Answer& answer, std::span<const std::string> kept_fields);
    void flush();  // what was written is seen now
    void close();  // a file appears, whole

private:
    void put(const std::string& line);

    std::string format_, out_, buffer_;
    std::vector<std::string> columns_, kept_;
    bool header_written_ = false;
};

}  // namespace fovea
