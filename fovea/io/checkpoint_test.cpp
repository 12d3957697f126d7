#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <limits>

#include "fovea/base/json.h"
#include "fovea/io/checkpoint_folder.h"
#include "fovea/io/hash.h"
#include "fovea/io/test_checkpoint.h"

namespace fovea {
namespace {

TEST(Checkpoint, WhatIsSavedIsResumedBitForBit) {
    const TestFolder folder;
    const Checkpoint c = small_checkpoint(1200);
    {
        CheckpointFolder run(folder / "run");
        EXPECT_FALSE(run.resume());
        const SaveReport report = run.save(c);
        EXPECT_EQ(base_name(report.folder), "step-0000001200");
        EXPECT_TRUE(report.warnings.empty());
        EXPECT_GT(report.bytes, 100);
    }
    EXPECT_EQ(read_file(folder / "run/LATEST"), "step-0000001200\n");
    CheckpointFolder run(folder / "run");
    const auto back = run.resume();
    ASSERT_TRUE(back);
    EXPECT_EQ(back->state, c.state);
    EXPECT_EQ(back->manifest.run, "a run");
    EXPECT_EQ(back->manifest.parent_step, -1);
    expect_same_tensors(back->model(), c.model);
    expect_same_tensors(back->optimizer(), c.optimizer);
    EXPECT_EQ(read_file(join_path(back->folder, "config.json")), "{}");
    run.save(small_checkpoint(1300));
    EXPECT_EQ(open_checkpoint(folder / "run/step-0000001300").manifest.parent_step, 1200);
}

TEST(Checkpoint, OldOnesAreRemovedButTheBest) {
    const TestFolder folder;
    CheckpointFolder run(folder.path(), {.keep_last = 2});
    for (const std::int64_t step : {10, 20, 30, 40, 50, 60, 70, 80, 90}) {
        run.save(small_checkpoint(step));
        if (step == 20) run.mark_best({step, "bleu", 27.5});
    }
    EXPECT_EQ(checkpoint_steps(folder.path()), (std::vector<std::int64_t>{20, 80, 90}));
    EXPECT_EQ(run.best()->step, 20);
    EXPECT_EQ(run.best()->metric, "bleu");
    EXPECT_EQ(run.best()->value, 27.5);
    put_file(folder / "BEST", "damaged");
    EXPECT_FALSE(run.best());
    Checkpoint c = small_checkpoint(100);
    c.best_step = 20;  // the state knows it too
    const SaveReport report = run.save(c);
    EXPECT_EQ(report.removed, (std::vector<std::int64_t>{80}));
    EXPECT_EQ(checkpoint_steps(folder.path()), (std::vector<std::int64_t>{20, 90, 100}));
}

TEST(Checkpoint, ASecondTrainerIsRefusedAndADeadOnesLockIsFree) {
    const TestFolder folder;
    {
        CheckpointFolder run(folder.path());
        try {
            CheckpointFolder second(folder.path());
            ADD_FAILURE() << "two trainers in one folder";
        } catch (const Error& e) {
            EXPECT_EQ(e.kind(), ErrorKind::busy);
            EXPECT_NE(std::string(e.what()).find(text_of("process ", ::getpid(), " on ")),
                      std::string::npos)
                << e.what();
        }
    }
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        CheckpointFolder run(folder.path());
        [[maybe_unused]] const auto n = ::write(ready[1], "x", 1);
        ::pause();
    }
    char byte;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);
    EXPECT_NE(complaint([&] { CheckpointFolder run(folder.path()); }).find("another training"),
              std::string::npos);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    CheckpointFolder run(folder.path());
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST(Checkpoint, NonFiniteNumbersAreNotSaved) {
    const TestFolder folder;
    CheckpointFolder run(folder.path());
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
          -std::numeric_limits<float>::infinity()}) {
        Checkpoint c = small_checkpoint(1);
        Tensor t = Tensor::zeros({5});
        t.write()[4] = bad;
        c.optimizer.push_back(TensorToWrite::of("m.x", t));
        EXPECT_EQ(
            complaint([&] { run.save(c); }),
            "checkpoint: optimizer state m.x holds values that are not finite; it is not saved");
        c = small_checkpoint(1);
        c.model.push_back(TensorToWrite::of("x", t));
        EXPECT_NE(complaint([&] { run.save(c); }), "");
    }
    EXPECT_EQ(run.failures_in_a_row(), 6);
    Checkpoint c = small_checkpoint(1);
    c.texts["../x"] = "";
    EXPECT_NE(complaint([&] { run.save(c); }), "");
    EXPECT_EQ(list_folder(folder.path()), (std::vector<std::string>{"LOCK"}));
    run.save(small_checkpoint(1));
    EXPECT_EQ(run.failures_in_a_row(), 0);
    EXPECT_NE(complaint([&] { run.save(small_checkpoint(1)); }).find("exists already"),
              std::string::npos);
}

TEST(Checkpoint, ABestSavedOutOfTurnTakesNoPlaceAndGoesWhenSuperseded) {
    const TestFolder folder;
    CheckpointFolder run(folder.path(), {.keep_last = 2});
    const auto save_best = [&](std::int64_t step) {
        Checkpoint c = small_checkpoint(step);
        c.best_step = step;
        c.out_of_turn = true;
        run.save(c);
        run.mark_best({step, "bleu", static_cast<double>(step), true});
    };
    run.save(small_checkpoint(10));
    run.save(small_checkpoint(20));
    save_best(23);
    EXPECT_EQ(checkpoint_steps(folder.path()), (std::vector<std::int64_t>{10, 20, 23}));
    save_best(26);
    EXPECT_EQ(checkpoint_steps(folder.path()), (std::vector<std::int64_t>{10, 20, 26}));
    run.save(small_checkpoint(30));
    run.save(small_checkpoint(40));
    EXPECT_EQ(checkpoint_steps(folder.path()), (std::vector<std::int64_t>{26, 30, 40}));
    run.mark_best({40, "bleu", 99});  // a regular one
    EXPECT_EQ(checkpoint_steps(folder.path()), (std::vector<std::int64_t>{30, 40}));
}

TEST(Checkpoint, ClearingRemovesTheRunAndNothingElse) {
    const TestFolder folder, elsewhere;
    CheckpointFolder run(folder.path());
    run.save(small_checkpoint(1));
    run.save(small_checkpoint(2));
    run.mark_best({2, "bleu", 1});
    EXPECT_TRUE(holds_run(folder.path()));
    for (const char* name : {"metrics.jsonl", "config.toml", "notes.txt"})
        put_file(folder / name, "x");
    for (const char* name : {"model", "events", "own", ".tmp-step-3.9.a"})
        make_folders(folder / name);
    put_file(folder / "model/config.json", "{}");
    put_file(folder / "events/events.out.tfevents.1.2.fovea", "");
    put_file(elsewhere / "precious", "x");
    std::filesystem::create_symlink(elsewhere.path(), folder / "step-0000000007");
    put_file(folder / "model/mine.txt", "x");
    const std::string what = complaint([&] { run.clear(); });
    EXPECT_NE(what.find("model/mine.txt"), std::string::npos) << what;
    EXPECT_TRUE(file_exists(folder / "step-0000000001/state.json"));  // nothing was touched

    std::filesystem::remove(folder / "model/mine.txt");
    run.clear();
    EXPECT_EQ(list_folder(folder.path()),
              (std::vector<std::string>{"LOCK", "notes.txt", "own", "step-0000000007"}));
    EXPECT_TRUE(file_exists(elsewhere / "precious"));
    run.save(small_checkpoint(1));
}

TEST(Checkpoint, LeftoversAreClearedAndStrangersLeftAlone) {
    const TestFolder folder;
    CheckpointFolder run(folder.path());
    run.save(small_checkpoint(3));
    make_folders(folder / ".tmp-step-4.99.abc/deep");
    put_file(folder / ".tmp-step-4.99.abc/deep/x", "x");
    make_folders(folder / ".trash-step-0000000001.9.a");
    make_folders(folder / "step-12");           // not our ten digits
    make_folders(folder / "step-00000000012");  // eleven digits, but a leading zero
    put_file(folder / "step-0000000099", "a file");
    put_file(folder / "LATEST.tmp-1.2", "x");
    put_file(folder / "metrics.jsonl", "{}");
    EXPECT_EQ(run.resume()->step(), 3);
    EXPECT_EQ(list_folder(folder.path()),
              (std::vector<std::string>{"LATEST", "LOCK", "metrics.jsonl", "step-00000000012",
                                        "step-0000000003", "step-0000000099", "step-12"}));
}

// K7 of reliability.md: whatever is done to the newest checkpoint, it is rejected by name and the
// one before is taken.
class Damage : public testing::Test {
protected:
    Damage() : run_(folder_ / "run") {
        run_.save(small_checkpoint(1));
        run_.save(small_checkpoint(2));
        newest_ = checkpoint_path(run_.path(), 2);
        files_ = list_folder(newest_);
    }

    void expect_fallback(const std::string& file, const std::string& what) {
        const auto found = run_.resume();
        ASSERT_TRUE(found) << what;
        EXPECT_EQ(found->step(), 1) << what;
        ASSERT_EQ(run_.rejected().size(), 1u) << what;
        const std::string& reason = run_.rejected()[0].reason;
        EXPECT_NE(reason.find(file), std::string::npos) << what << ": " << reason;
        EXPECT_EQ(reason.find('\n'), std::string::npos) << reason;
    }

    const TestFolder folder_;
    CheckpointFolder run_;
    std::string newest_;
    std::vector<std::string> files_;
};

TEST_F(Damage, AThousandBitFlipsAreAllSeen) {
    Rng rng(4);
    for (int i = 0; i < 1000; ++i) {
        const std::string name =
            files_[static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(files_.size())))];
        const std::string path = join_path(newest_, name), whole = read_file(path);
        std::string bytes = whole;
        const auto at =
            static_cast<std::size_t>(rng.below(static_cast<std::int64_t>(whole.size())));
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
        put_file(path, bytes);
        EXPECT_NE(complaint([&] { open_checkpoint(newest_); }), "") << name << " byte " << at;
        if (i % 20 == 0) expect_fallback(name, text_of(name, " byte ", at));
        put_file(path, whole);
    }
    EXPECT_EQ(run_.resume()->step(), 2);
}

TEST_F(Damage, TruncationOfAnyFileAtAnyByteIsSeen) {
    for (const std::string& name : files_) {
        const std::string path = join_path(newest_, name), whole = read_file(path);
        for (std::size_t n = 0; n<whole.size(); n += whole.size()> 4096 && n >= 4096 ? 61 : 1) {
            put_file(path, std::string_view(whole).substr(0, n));
            ASSERT_NE(complaint([&] { open_checkpoint(newest_); }), "") << name << " " << n;
        }
        put_file(path, std::string_view(whole).substr(0, whole.size() / 2));
        expect_fallback(name, name + " cut in half");
        put_file(path, whole + "x");
        expect_fallback(name, name + " with a byte more");
        put_file(path, whole);
    }
}

TEST_F(Damage, DeletedSwappedAndForeignFilesAreSeen) {
    const std::string older = checkpoint_path(run_.path(), 1);
    for (const std::string& name : files_) {
        const std::string path = join_path(newest_, name), whole = read_file(path);
        std::filesystem::remove(path);
        expect_fallback(name, name + " deleted");
        if (const std::string other = read_file(join_path(older, name)); other != whole) {
            put_file(path, other);  // of another step
            expect_fallback(newest_, name + " swapped");
        }
        put_file(path, whole);
    }
    put_file(newest_ + "/extra", "x");
    expect_fallback("extra", "a file that does not belong");
    std::filesystem::remove(newest_ + "/extra");
    std::filesystem::rename(newest_, folder_ / "away");
    std::filesystem::create_directory(newest_);
    expect_fallback("MANIFEST.json", "an empty folder");
    std::filesystem::remove(newest_);
    std::filesystem::copy(older, newest_);  // a whole checkpoint under another step's name
    expect_fallback(newest_, "a copy under another name");
}

TEST_F(Damage, ADamagedCheckpointIsReplacedWhenTheStepIsReachedAgain) {
    put_file(newest_ + "/model.safetensors", "x");
    EXPECT_EQ(run_.resume()->step(), 1);
    run_.save(small_checkpoint(2));
    EXPECT_EQ(run_.resume()->step(), 2);
}

TEST(Checkpoint, AManifestCannotNameFilesElsewhere) {
    for (const char* name : {"../x", "/etc/passwd", "", ".."}) {
        Manifest m{.files = {{name, 0, "", 0}}};
        EXPECT_NE(complaint([&] { parse_manifest(manifest_text(m), "m"); }), "") << name;
    }
    std::string other = manifest_text({.files = {{"a", 0, "", 0}}});
    other = other.substr(0, other.find(",\"checksum\""));
    other.replace(other.find("\"format\":2"), 10, "\"format\":1");
    other += ",\"checksum\":\"" + hash_of(other) + "\"}\n";
    EXPECT_NE(
        complaint([&] { parse_manifest(other, "m"); }).find("format 1 but this version reads"),
        std::string::npos);
    EXPECT_NE(complaint([&] { parse_manifest(manifest_text({}), "m"); }).find("no files"),
              std::string::npos);
}

TEST(Checkpoint, AFullDiskIsLoudAndHarmless) {
    const TestFolder folder;
    const std::string disk = folder / "disk";
    make_folders(disk);
    if (::mount("none", disk.c_str(), "tmpfs", 0, "size=1500k") != 0)
        GTEST_SKIP() << "needs the right to mount a small tmpfs";
    {
        CheckpointFolder run(disk, {.keep_last = 5});
        run.save(sized_checkpoint(1, 600'000));
        const std::string what = complaint([&] { run.save(sized_checkpoint(2, 900'000)); });
        EXPECT_NE(what.find("are free but the checkpoint of step 2 needs"), std::string::npos)
            << what;
        // somebody else fills the disk between the look at the free space and the write
        disk::set_hook([&, filled = false](disk::Call call, const std::string&) mutable {
            if (call == disk::Call::make_folder && !filled) {
                filled = true;
                put_file(disk + "/other", std::string(700'000, 'x'));
            }
            return 0;
        });
        try {
            run.save(sized_checkpoint(2, 600'000));
            ADD_FAILURE() << "saved to a full disk";
        } catch (const Error& e) {
            EXPECT_NE(std::string(e.what()).find("No space left"), std::string::npos) << e.what();
            EXPECT_NE(e.hint().find("free some space"), std::string::npos);
        }
        disk::set_hook(nullptr);
        EXPECT_EQ(run.failures_in_a_row(), 2);
        EXPECT_EQ(list_folder(disk),
                  (std::vector<std::string>{"LATEST", "LOCK", "other", "step-0000000001"}));
        EXPECT_EQ(run.resume()->step(), 1);
        EXPECT_NE(complaint([&] { run.check_space(600'000); }).find("5 more checkpoints need"),
                  std::string::npos);
        std::filesystem::remove(disk + "/other");
        run.save(sized_checkpoint(2, 600'000));
        EXPECT_EQ(run.resume()->step(), 2);
    }
    EXPECT_EQ(::umount(disk.c_str()), 0);
}

TEST(Checkpoint, AFileSizeLimitIsLoudAndHarmless) {
    const TestFolder folder;
    CheckpointFolder(folder.path()).save(small_checkpoint(1));
    const pid_t child = ::fork();
    if (child == 0) {  // limits cannot be raised again, so in a process of its own
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{100'000, 100'000};
        ::setrlimit(RLIMIT_FSIZE, &limit);
        int code = 1;
        try {
            CheckpointFolder(folder.path()).save(sized_checkpoint(2, 500'000));
        } catch (const Error& e) {
            code = std::string(e.what()).find("File too large") == std::string::npos ? 2 : 0;
        }
        ::_exit(code);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    CheckpointFolder run(folder.path());
    EXPECT_EQ(run.resume()->step(), 1);
    EXPECT_EQ(list_folder(folder.path()),
              (std::vector<std::string>{"LATEST", "LOCK", "step-0000000001"}));
}

TEST(Checkpoint, AReadOnlyOrVanishedFolderIsAnError) {
    const TestFolder folder;
    CheckpointFolder run(folder / "run");
    std::filesystem::remove_all(folder / "run");
    EXPECT_NE(complaint([&] { run.save(small_checkpoint(1)); }), "");
    EXPECT_NE(complaint([&] { CheckpointFolder bad("/proc/none"); }), "");
}

}  // namespace
}  // namespace fovea
