#pragma once
// Ctrl-C and SIGTERM. A verb that works in steps says so with an InterruptScope: then the first
// signal only sets a flag (finish the step, save, say how to resume) and the second one stops the
// program. Without a scope the first signal stops it: files are written atomically, so nothing is
// half done.
#include <atomic>

namespace fovea {

void install_signal_handlers();

// A line on standard error is not ended yet: a signal that stops the program ends it, so that the
// shell's prompt begins a fresh one.
void set_line_open(bool open);

class InterruptScope {
public:
    InterruptScope();
    ~InterruptScope();
    InterruptScope(const InterruptScope&) = delete;
    InterruptScope& operator=(const InterruptScope&) = delete;
};

bool interrupted();                         // a signal has come
const std::atomic<bool>& interrupt_flag();  // the same, for whoever looks again and again
int interrupt_signal();                     // which: SIGINT or SIGTERM; 0 where none came

// Thrown by a verb that has ended its work early and tidily; the exit code is 128 + signal.
struct Interrupted {
    int signal;
};
void throw_if_interrupted();

}  // namespace fovea
