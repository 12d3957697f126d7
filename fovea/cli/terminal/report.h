#pragma once
// How an error is told: plain text with its hint, or one JSON object, always on standard error.
#include <string>
#include <string_view>

#include "fovea/base/error.h"

namespace fovea {

struct ErrorReport {
    ErrorKind kind = ErrorKind::failed;
    std::string message;  // may have further lines: where, what was seen
    std::string hint;     // the way out; may be empty
};

// failed, usage, bad_input, not_found, missed, busy
std::string_view code_of(ErrorKind kind);

// error: MESSAGE
// hint: HINT              or   {"error":{"code":…,"message":…,"hint":…}}
void print_error(const ErrorReport& report, bool json);

}  // namespace fovea
