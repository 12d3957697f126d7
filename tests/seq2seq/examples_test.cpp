// The programs of examples/, run as a reader would: train on a small file, translate with the
// result.
#include "tests/seq2seq/run_fovea.h"

namespace fovea {
namespace {

TEST(Examples, TrainThenTranslate) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    GTEST_SKIP() << "the example trains for many minutes under a sanitizer";
#endif
    const std::string pairs = dates_file("example.tsv", 60, false), run = folder() + "/example";
    const Ran trained = run_program("example_train", pairs + " " + run);
    ASSERT_EQ(trained.code, 0) << trained.err;
    EXPECT_NE(trained.out.find("last loss"), std::string::npos) << trained.out;
    const Ran translated = run_program("example_translate", run + "/model", "5 May 1999\n1 May\n");
    ASSERT_EQ(translated.code, 0) << translated.err;
    EXPECT_EQ(std::count(translated.out.begin(), translated.out.end(), '\n'), 2);
    // The library and the program say the same.
    EXPECT_EQ(translated.out, fovea("translate " + run + "/model", "5 May 1999\n1 May\n").out);
    EXPECT_EQ(run_program("example_train", "").code, 2);
    EXPECT_EQ(run_program("example_translate", "").code, 2);
}

}  // namespace
}  // namespace fovea
