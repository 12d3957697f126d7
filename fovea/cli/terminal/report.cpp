#include "fovea/cli/terminal/report.h"

#include <cstdio>

#include "fovea/base/json.h"
#include "fovea/cli/terminal/terminal.h"

namespace fovea {

std::string_view code_of(ErrorKind kind) {
    switch (kind) {
        case ErrorKind::failed:
            return "failed";
        case ErrorKind::usage:
            return "usage";
        case ErrorKind::bad_input:
            return "bad_input";
        case ErrorKind::not_found:
            return "not_found";
        case ErrorKind::missed:
            return "missed";
        case ErrorKind::busy:
            return "busy";
    }
    return "failed";
}

void print_error(const ErrorReport& report, bool json) {
    std::string text;
    if (json) {
        Json error{{"code", code_of(report.kind)}, {"message", report.message}};
        if (!report.hint.empty()) error["hint"] = report.hint;
        text = to_text(Json{{"error", std::move(error)}}) + "\n";
    } else {
        text = styled(stderr, Style::red, "error:") + " " + report.message + "\n";
        if (!report.hint.empty())
            text += styled(stderr, Style::cyan, "hint:") + " " + report.hint + "\n";
    }
    std::fputs(text.c_str(), stderr);
}

}  // namespace fovea
