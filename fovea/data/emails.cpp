#include "fovea/data/emails.h"

#include <algorithm>

namespace fovea {
namespace {

bool is_blank(const std::string& line) {
    return line.find_first_not_of(" \t\r") == std::string::npos;
}

std::string joined(std::vector<std::string>& lines, const char* between) {
    while (!lines.empty() && is_blank(lines.back())) lines.pop_back();
    std::string out;
    bool begun = false;
    for (const std::string& line : lines) {
        if (!begun && is_blank(line)) continue;
        if (begun) out += between;
        out += line;
        begun = true;
    }
    lines.clear();
    return out;
}

// "@subject" is 0, "@ann0" is 1, "@ann1" is 2, …; any other line is -1.
int section_of(const std::string& line) {
    if (line == "@subject") return 0;
    if (line.size() < 5 || line.rfind("@ann", 0) != 0) return -1;
    int n = 0;
    for (std::size_t i = 4; i < line.size(); ++i) {
        if (line[i] < '0' || line[i] > '9' || n > 999) return -1;
        n = n * 10 + (line[i] - '0');
    }
    return n + 1;
}

}  // namespace

bool parse_email(const std::string& text, Email& mail, std::int64_t& number, std::string& problem) {
    mail = {};
    number = 0;
    std::vector<std::string> lines;
    int section = -1;  // the body
    const auto finish = [&] {
        if (section < 0) {
            mail.body = joined(lines, "\n");
            return true;
        }
        std::string value = joined(lines, " ");  // a subject is one line
        if (value.empty()) {
            problem = section == 0 ? "the subject is empty" : "an annotation is empty";
            return false;
        }
        if (section == 0)
            mail.subject = std::move(value);
        else
            mail.annotations.push_back(std::move(value));
        return true;
    };
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        at = end + 1;
        ++number;
        if (!line.empty() && line.back() == '\r') line.pop_back();
        const int next = section_of(line);
        if (next < 0) {
            lines.push_back(std::move(line));
            continue;
        }
        if (next != section + 1) {
            problem = line + " stands out of order (@subject, @ann0, @ann1, … are wanted)";
            return false;
        }
        if (!finish()) return false;
        section = next;
    }
    if (section < 0) {
        problem = "there is no line @subject";
        return false;
    }
    return finish();
}

}  // namespace fovea
