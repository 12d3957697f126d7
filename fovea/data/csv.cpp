#include "fovea/data/csv.h"

namespace fovea {

bool read_tsv_row(LineSource& lines, std::vector<std::string>& row, std::string* raw) {
    std::string line;
    if (!lines.next(line)) return false;
    row.clear();
    std::size_t from = 0;
    for (std::size_t tab = 0; (tab = line.find('\t', from)) != std::string::npos; from = tab + 1)
        row.push_back(line.substr(from, tab - from));
    row.push_back(line.substr(from));
    if (raw) *raw = std::move(line);
    return true;
}

bool read_csv_row(LineSource& lines, std::vector<std::string>& row, std::string& problem,
                  std::string* raw, char separator) {
    constexpr std::size_t longest = std::size_t{16} << 20;  // an open quote must not eat the file
    std::string line;
    if (!lines.next(line)) return false;
    row.assign(1, "");
    if (raw) *raw = line;
    problem.clear();
    bool quoted = false, closed = false;  // inside quotes; a quoted field has just ended
    std::size_t read = line.size();
    for (std::size_t i = 0;; ++i) {
        if (i == line.size()) {
            if (!quoted) return true;
            row.back() += '\n';
            if (!lines.next(line) || (read += line.size()) > longest) {
                problem = "a quoted field is never closed";
                return true;
            }
            if (raw) raw->append("\n").append(line);
            i = static_cast<std::size_t>(-1);
            continue;
        }
        const char c = line[i];
        if (quoted) {
            if (c != '"')
                row.back() += c;
            else if (i + 1 < line.size() && line[i + 1] == '"')
                row.back() += line[++i];
            else
                quoted = false, closed = true;
        } else if (c == separator) {
            row.emplace_back();
            closed = false;
        } else if (c == '"' && row.back().empty() && !closed) {
            quoted = true;
        } else if (closed) {
            problem = "text stands behind a closing quote";
        } else {
            row.back() += c;
        }
    }
}

char csv_separator(const std::string& first_line) {
    for (const char c : {',', ';', '\t'})
        if (first_line.find(c) != std::string::npos) return c;
    return ',';
}

}  // namespace fovea
