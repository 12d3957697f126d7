#include "fovea/cli/terminal/progress.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace fovea {
namespace {

// A progress line on a clock that only moves when told, written to memory.
class ProgressTest : public ::testing::Test {
protected:
    ProgressTest() : out_(open_memstream(&text_, &size_)) {}
    ~ProgressTest() override {
        std::fclose(out_);
        std::free(text_);
    }
    ProgressOptions options(bool terminal) {
        return {.out = out_, .now = [this] { return time_; }, .terminal = terminal, .width = 100};
    }
    std::string text() {
        std::fflush(out_);
        return {text_, size_};
    }
    static int count(const std::string& text, const std::string& part) {
        int n = 0;
        for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
        return n;
    }

    char* text_ = nullptr;
    std::size_t size_ = 0;
    std::FILE* out_;
    double time_ = 100;
};

TEST_F(ProgressTest, SaysNothingForHalfASecond) {
    {
        Progress progress("work", 10, "steps", options(true));
        for (int i = 1; i <= 10; ++i) {
            time_ += 0.04;
            progress.update(i);
        }
    }
    EXPECT_EQ(text(), "");
}

TEST_F(ProgressTest, RedrawsAtMostTenTimesASecond) {
    Progress progress("work", 10000, "steps", options(true));
    for (int i = 1; i <= 2500; ++i) {  // 2.5 seconds, a thousand updates a second
        time_ += 0.001;
        progress.update(i, "loss 0.5");
    }
    const int lines = count(text(), "work");
    EXPECT_GE(lines, 18);
    EXPECT_LE(lines, 21);
    EXPECT_EQ(count(text(), "\n"), 0);
    EXPECT_NE(text().find("loss 0.5"), std::string::npos);
    EXPECT_NE(text().find("1000 steps/s"), std::string::npos);
    EXPECT_NE(text().find("eta 7.5s"), std::string::npos);
    progress.finish();
    EXPECT_EQ(count(text(), "\n"), 1);
}

TEST_F(ProgressTest, HidesWhileAnswersArePrinted) {
    Progress progress("work", 100, "steps", options(true));
    time_ += 1;
    progress.update(10);
    progress.hide();
    const std::string gone = text();
    EXPECT_EQ(gone.substr(gone.size() - 4), "\r\x1b[K");
    progress.hide();  // nothing there to hide
    EXPECT_EQ(text(), gone);
    time_ += 0.01;
    progress.update(11);  // comes back without a wait
    EXPECT_EQ(count(text().substr(gone.size()), "work"), 1);
    progress.hide();
    progress.finish();  // the last word stays
    EXPECT_EQ(text().back(), '\n');
}

TEST_F(ProgressTest, KeepsWithinTheTerminal) {
    ProgressOptions narrow = options(true);
    narrow.width = 30;
    Progress progress("work", 100, "steps", narrow);
    time_ += 1;
    progress.update(50, std::string(200, 'x'));
    EXPECT_LE(text().size(), 30u + 40u);  // block characters take three bytes
}

TEST_F(ProgressTest, DropsTheLastFieldsButKeepsTheTimeToCome) {
    ProgressOptions narrow = options(true);
    narrow.width = 80;
    Progress progress("train", 10000, "", narrow);
    for (const int done : {100, 5000}) {
        time_ += 1;
        progress.update(done,
                        "step 123456  ep 12  loss 3.123  18.4 k tok/s  lr 1.00e-03  |g| 0.42  "
                        "123 MB");
    }
    const std::string last = text().substr(text().rfind("train"));
    EXPECT_NE(last.find("eta "), std::string::npos) << last;
    EXPECT_NE(last.find("loss 3.123"), std::string::npos) << last;
    EXPECT_EQ(last.find("MB"), std::string::npos) << last;
}

TEST_F(ProgressTest, ALogSaysTheEndOnce) {
    {
        Progress progress("work", 10, "steps", options(false));
        for (int i = 1; i <= 10; ++i) {
            time_ += 2;
            progress.update(i);
        }
    }
    EXPECT_EQ(count(text(), "100 %"), 1) << text();
}

TEST_F(ProgressTest, WritesPlainLinesToALog) {
    {
        Progress progress("work", 1000, "steps", options(false));
        for (int i = 1; i <= 1000; ++i) {  // 200 seconds: 5 % take 10 seconds
            time_ += 0.2;
            progress.update(i);
        }
    }
    EXPECT_EQ(count(text(), "\x1b"), 0);
    EXPECT_EQ(count(text(), "\r"), 0);
    const int lines = count(text(), "\n");
    EXPECT_GE(lines, 19);
    EXPECT_LE(lines, 22);
}

TEST_F(ProgressTest, LogsSlowWorkEveryThirtySeconds) {
    Progress progress("work", 1'000'000, "steps", options(false));
    for (int i = 1; i <= 300; ++i) {
        time_ += 1;
        progress.update(i);
    }
    EXPECT_EQ(count(text(), "\n"), 10);
}

TEST_F(ProgressTest, QuietIsQuiet) {
    ProgressOptions quiet = options(true);
    quiet.quiet = true;
    Progress progress("work", 10, "steps", quiet);
    time_ += 5;
    progress.update(3);
    progress.say("hello");
    progress.finish();
    EXPECT_EQ(text(), "");
}

TEST(ProgressText, DurationsAndRates) {
    EXPECT_EQ(duration_text(0.42), "0.4s");
    EXPECT_EQ(duration_text(12.4), "12s");
    EXPECT_EQ(duration_text(161), "2m41s");
    EXPECT_EQ(duration_text(3 * 3600 + 5 * 60), "3h05m");
    EXPECT_EQ(duration_text(1.0 / 0.0), "?");
    EXPECT_EQ(rate_text(3.214), "3.21");
    EXPECT_EQ(rate_text(845.3), "845");
    EXPECT_EQ(rate_text(18432), "18.4 k");
    EXPECT_EQ(rate_text(2.1e6), "2.1 M");
}

}  // namespace
}  // namespace fovea
