#pragma once
// Errors of the whole project: one exception type that says what is wrong, where, and the way out.
//
// Form of a message: "where: what is, but what should be", e.g.
//     linear: x is [2, 5] but W is [11, 16]
// For a user's mistakes add a hint: the next command or flag to try.
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace fovea {

// What kind of failure this is; the command line turns it into its exit code, the server into a
// status. The numbers are the exit codes of the command line.
enum class ErrorKind : int {
    failed = 1,     // failed while working (also a broken internal call: shapes, sizes)
    usage = 2,      // wrong flags or arguments
    bad_input = 3,  // a data or model file whose content is wrong
    not_found = 4,  // a file or model that is missing or cannot be read
    missed = 5,     // a requested bound was missed
    busy = 6,       // server busy or unreachable, run folder locked
};

class Error : public std::runtime_error {
public:
    explicit Error(const std::string& message, ErrorKind kind = ErrorKind::failed,
                   std::string hint = {})
        : std::runtime_error(message), kind_(kind), hint_(std::move(hint)) {}

    ErrorKind kind() const { return kind_; }
    const std::string& hint() const { return hint_; }

private:
    ErrorKind kind_;
    std::string hint_;
};

// All parts, written one after the other with operator<<.
template <class... Parts>
std::string text_of(const Parts&... parts) {
    std::ostringstream out;
    (out << ... << parts);
    return out.str();
}

template <class... Parts>
[[noreturn]] void fail(const Parts&... parts) {
    throw Error(text_of(parts...));
}

// A failure of a given kind with a way out: fail_with(ErrorKind::not_found, "try …", parts…).
template <class... Parts>
[[noreturn]] void fail_with(ErrorKind kind, std::string hint, const Parts&... parts) {
    throw Error(text_of(parts...), kind, std::move(hint));
}

// The project's only check: throws fovea::Error unless the condition holds.
template <class... Parts>
void expect(bool condition, const Parts&... parts) {
    if (!condition) [[unlikely]]
        fail(parts...);
}

// The same for what a user handed in.
template <class... Parts>
void expect_input(bool condition, const Parts&... parts) {
    if (!condition) [[unlikely]]
        throw Error(text_of(parts...), ErrorKind::bad_input);
}

}  // namespace fovea
