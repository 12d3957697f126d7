// The program as a person at a terminal meets it: through a pseudo-terminal.
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <termios.h>
#include <unistd.h>

#include <sstream>
#include <utility>

#include "tests/seq2seq/run_fovea.h"

namespace fovea {
namespace {

// A program on a terminal of 80 columns that does not echo.
class Terminal {
public:
    explicit Terminal(const std::vector<std::string>& arguments, const char* kind = "xterm") {
        const winsize size{.ws_row = 24, .ws_col = 80, .ws_xpixel = 0, .ws_ypixel = 0};
        child_ = ::forkpty(&side_, nullptr, nullptr, &size);
        if (child_ == 0) {
            ::setenv("TERM", kind, 1);
            termios t{};
            ::tcgetattr(0, &t);
            t.c_lflag &= ~static_cast<tcflag_t>(ECHO);
            ::tcsetattr(0, TCSANOW, &t);
            std::vector<char*> argv{const_cast<char*>(FOVEA_BINARY)};
            for (const std::string& a : arguments) argv.push_back(const_cast<char*>(a.c_str()));
            argv.push_back(nullptr);
            ::execv(FOVEA_BINARY, argv.data());
            ::_exit(127);
        }
    }
    ~Terminal() {
        if (side_ >= 0) ::close(side_);
    }
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    bool is_there() const { return child_ > 0; }  // a sandbox may have no terminals to give

    void type(const std::string& keys) const {
        EXPECT_EQ(::write(side_, keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
    }

    // Reads on until the words have come; what has come so far, should a minute pass without them.
    std::string until(const std::string& words) {
        while (seen_.find(words) == std::string::npos && read_more()) {
        }
        return std::exchange(seen_, "");
    }

    std::string rest() {
        while (read_more()) {
        }
        return std::exchange(seen_, "");
    }

    void interrupt() const { ::kill(child_, SIGINT); }

    int exit_code() {
        rest();
        int status = 0;
        ::waitpid(child_, &status, 0);
        return WEXITSTATUS(status);
    }

private:
    bool read_more() {
        pollfd p{side_, POLLIN, 0};
        char piece[4096];
        if (::poll(&p, 1, 60'000) <= 0) return false;
        const ssize_t n = ::read(side_, piece, sizeof piece);
        if (n > 0) seen_.append(piece, static_cast<std::size_t>(n));
        return n > 0;
    }

    int side_ = -1;
    pid_t child_ = -1;
    std::string seen_;
};

TEST(Terminal, ALineIsAnsweredBeforeTheNextIsTyped) {
    ASSERT_EQ(fovea(train_flags("typed", 60)).code, 0);
    const std::string model = folder() + "/typed/model";
    Terminal terminal({"translate", model});
    if (!terminal.is_there()) GTEST_SKIP() << "no pseudo-terminal here";
    EXPECT_NE(terminal.until("Ctrl-D ends").find("Ctrl-D ends"), std::string::npos);
    for (const char* text : {"5 May 1999\n", "the 3rd of March, 1987\n"}) {
        std::string answer = fovea("translate " + model, text).out;
        answer.pop_back();
        terminal.type(text);
        EXPECT_NE(terminal.until(answer).find(answer), std::string::npos) << answer;
    }
    terminal.type("\x04");
    EXPECT_EQ(terminal.exit_code(), 0);
}

TEST(Terminal, TheLiveLineOfTrainingKeepsItsTimeToComeAtEightyColumns) {
    Terminal terminal(test::words_of(train_flags("live", 2000)));
    if (!terminal.is_there()) GTEST_SKIP() << "no pseudo-terminal here";
    const std::string seen = terminal.until("eta ");
    EXPECT_NE(seen.find("eta "), std::string::npos) << seen;
    EXPECT_NE(seen.find("loss "), std::string::npos) << seen;
    terminal.interrupt();
    EXPECT_EQ(terminal.exit_code(), 130);
}

TEST(Terminal, ADumbOneGetsNoControlCodes) {
    Terminal terminal(test::words_of(train_flags("dumb", 60)), "dumb");
    if (!terminal.is_there()) GTEST_SKIP() << "no pseudo-terminal here";
    const std::string seen = terminal.rest();
    EXPECT_NE(seen.find("saved"), std::string::npos) << seen;
    EXPECT_EQ(seen.find('\x1b'), std::string::npos) << seen;
}

TEST(Terminal, AnInterruptLeavesAFreshLine) {
    ASSERT_EQ(fovea(train_flags("stopped", 3)).code, 0);
    Terminal terminal({"translate", folder() + "/stopped/model"});
    if (!terminal.is_there()) GTEST_SKIP() << "no pseudo-terminal here";
    terminal.until("Ctrl-D ends\r\n");
    terminal.interrupt();
    EXPECT_EQ(terminal.rest(), "\r\n");
}

}  // namespace
}  // namespace fovea
