#include "fovea/cli/terminal/interrupt.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace fovea {
namespace {

std::atomic<int> came{0};      // the signal that came
std::atomic<bool> any{false};  // one has come
std::atomic<int> scopes{0};    // how many InterruptScopes are alive

std::atomic<bool> line_open{false};

void on_signal(int number) {
    int none = 0;
    if (scopes.load() != 0 && came.compare_exchange_strong(none, number)) {
        any = true;
        return;
    }
    // On a terminal the ^C itself stands on the line.
    if (line_open.load() || isatty(STDERR_FILENO)) {
        [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, "\n", 1);
    }
    _exit(128 + number);
}

}  // namespace

void install_signal_handlers() {
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    for (const int number : {SIGINT, SIGTERM}) {
        struct sigaction old {};
        // A parent that ignores Ctrl-C (nohup, a background job of a script) is obeyed.
        if (sigaction(number, nullptr, &old) == 0 && old.sa_handler == SIG_IGN) continue;
        sigaction(number, &action, nullptr);
    }
}

void set_line_open(bool open) { line_open = open; }

InterruptScope::InterruptScope() { ++scopes; }
InterruptScope::~InterruptScope() { --scopes; }

bool interrupted() { return came.load(std::memory_order_relaxed) != 0; }
const std::atomic<bool>& interrupt_flag() { return any; }
int interrupt_signal() { return came.load(); }

void throw_if_interrupted() {
    if (const int number = came.load()) throw Interrupted{number};
}

}  // namespace fovea
