#pragma once
// E-mails with their subject lines in the layout of AESLC (Zhang and Tetreault 2019): a folder of
// *.subject files, each the body, a line "@subject" and the subject; then perhaps "@ann0", "@ann1",
// … with subjects that people wrote. Thread-safety: pure functions, safe from any thread.
#include <cstdint>
#include <string>
#include <vector>

namespace fovea {

struct Email {
    std::string body;  // lines as they stand, without blank ones at either end
    std::string subject;
    std::vector<std::string> annotations;
};

// False where the text is not of this layout; `line` and `problem` then say where and why.
bool parse_email(const std::string& text, Email& mail, std::int64_t& line, std::string& problem);

}  // namespace fovea
