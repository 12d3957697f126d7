// The promises P8-P10 of reliability.md: every system call of a save is made to fail, to be the
// last one before a kill, or to be the last one before the power goes.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <set>

#include "fovea/io/test_checkpoint.h"

namespace fovea {
namespace {

struct HookGuard {
    ~HookGuard() { disk::set_hook(nullptr); }
};

bool any_leftover(const std::string& run) {
    for (const std::string& name : list_folder(run))
        if (name.rfind(".tmp-", 0) == 0 || name.find(".tmp-") != std::string::npos) return true;
    return false;
}

// A run that keeps two, so that the save under test also rotates.
void prepare(const std::string& path) {
    CheckpointFolder run(path, {.keep_last = 2});
    run.save(small_checkpoint(1));
    run.save(small_checkpoint(2));
}

TEST(CheckpointFaults, EveryFailingCallLeavesTheOldOnesIntact) {
    const HookGuard guard;
    int fired_points = 0;
    for (const int error : {EIO, ENOSPC, EDQUOT})
        for (const bool for_ever : {false, true})
            for (int n = 1;; ++n) {
                const TestFolder folder;
                prepare(folder.path());
                CheckpointFolder run(folder.path(), {.keep_last = 2});
                ASSERT_EQ(run.resume()->step(), 2);
                int calls = 0;
                disk::set_hook([&](disk::Call, const std::string&) {
                    ++calls;
                    return calls == n || (for_ever && calls > n) ? error : 0;
                });
                bool saved = false;
                std::vector<std::string> warnings;
                try {
                    warnings = run.save(small_checkpoint(3)).warnings;
                    saved = true;
                } catch (const Error& e) {
                    EXPECT_NE(std::string(e.what()).find("cannot "), std::string::npos) << e.what();
                }
                disk::set_hook(nullptr);
                if (calls < n) {
                    EXPECT_TRUE(saved);
                    break;  // all points have been tried
                }
                ++fired_points;
                EXPECT_TRUE(for_ever || !any_leftover(folder.path())) << "call " << n;
                EXPECT_EQ(run.failures_in_a_row(), saved ? 0 : 1);
                // the old ones are as they were, the new one is whole or not there
                const auto found = run.resume();
                ASSERT_TRUE(found) << "call " << n;
                EXPECT_TRUE(run.rejected().empty())
                    << "call " << n << ": " << run.rejected()[0].reason;
                EXPECT_GE(found->step(), saved ? 3 : 2);
                expect_same_tensors(found->model(), small_checkpoint(found->step()).model);
                EXPECT_FALSE(any_leftover(folder.path()));
                // and the next attempt succeeds
                run.save(small_checkpoint(4));
                EXPECT_EQ(run.resume()->step(), 4);
            }
    EXPECT_GT(fired_points, 150);
}

TEST(CheckpointFaults, InterruptedAndShortWritesAreContinued) {
    const HookGuard guard;
    const TestFolder folder;
    CheckpointFolder run(folder.path());
    int turn = 0;
    disk::set_hook([&](disk::Call call, const std::string&) {
        if (call != disk::Call::write) return 0;
        ++turn;
        return turn % 3 == 0 ? EINTR : turn % 3 == 1 ? disk::short_write : 0;
    });
    const Checkpoint c = sized_checkpoint(1, 100'000);
    run.save(c);
    EXPECT_GT(turn, 30);
    expect_same_tensors(run.resume()->model(), c.model);
}

// P9: kill -9 before each call of a save that also rotates, then resume; and, compound, another
// kill in the middle of the clean-up that resuming does.
TEST(CheckpointFaults, AKillAtEveryCallLosesNothing) {
    int points = 0;
    for (int n = 1;; ++n) {
        const TestFolder folder;
        prepare(folder.path());
        const auto in_child = [&](int at, const auto& work) {
            const pid_t child = ::fork();
            if (child == 0) {
                int calls = 0;
                disk::set_hook([&](disk::Call, const std::string&) {
                    if (++calls == at) ::kill(::getpid(), SIGKILL);
                    return 0;
                });
                try {
                    CheckpointFolder run(folder.path(), {.keep_last = 2});
                    work(run);
                } catch (...) {
                    ::_exit(3);
                }
                ::_exit(0);
            }
            int status = 0;
            ::waitpid(child, &status, 0);
            EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0);
            return WIFSIGNALED(status);
        };
        const bool killed =
            in_child(n, [](CheckpointFolder& run) { run.save(small_checkpoint(3)); });
        in_child(2, [](CheckpointFolder& run) { run.resume(); });
        CheckpointFolder run(folder.path(), {.keep_last = 2});
        const auto found = run.resume();
        ASSERT_TRUE(found);
        EXPECT_TRUE(run.rejected().empty()) << run.rejected()[0].reason;
        EXPECT_EQ(found->step() >= 2, true);
        expect_same_tensors(found->model(), small_checkpoint(found->step()).model);
        EXPECT_FALSE(any_leftover(folder.path()));
        run.save(small_checkpoint(5));
        EXPECT_EQ(run.resume()->step(), 5);
        if (!killed) break;
        ++points;
    }
    EXPECT_GT(points, 30);
}

// P10: a copy of the folder as a power cut before call n may leave it. Files that were not synced
// lose everything, keep a random prefix, or keep garbled sectors; a rename whose folder was not
// synced may be undone.
TEST(CheckpointFaults, APowerCutAtEveryCallLosesNothing) {
    const HookGuard guard;
    Rng rng(8);
    const auto damage = [&](std::string bytes, int mode) {
        if (mode == 0) return std::string();
        if (mode == 1)
            return bytes.substr(0, static_cast<std::size_t>(
                                       rng.below(static_cast<std::int64_t>(bytes.size()) + 1)));
        for (std::size_t at = 0; at < bytes.size(); at += 512)
            if (rng.below(2))
                std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at),
                            std::min<std::size_t>(512, bytes.size() - at),
                            static_cast<char>(rng.bits()));
        return bytes;
    };
    int cuts = 0;
    for (int mode = 0; mode < 3; ++mode)
        for (const bool undo : {false, true})
            for (int n = 1;; ++n) {
                const TestFolder folder, after;
                prepare(folder.path());
                std::set<std::string> synced;          // files of the new checkpoint, by name
                std::string pending_from, pending_to;  // a rename not yet safe
                int calls = 0;
                const auto cut = [&] {
                    namespace fs = std::filesystem;
                    for (const std::string& name : list_folder(folder.path())) {
                        const std::string from = folder / name;
                        std::string to = after / name;
                        if (undo && !pending_to.empty() && from == pending_to)
                            to = after / base_name(pending_from);
                        if (!is_folder(from)) {
                            put_file(to, synced.count(from) || name == "LOCK" || name == "LATEST"
                                             ? read_file(from)
                                             : damage(read_file(from), mode));
                            continue;
                        }
                        fs::create_directory(to);
                        const bool fresh = name.rfind(".tmp-", 0) == 0;
                        for (const std::string& file : list_folder(from)) {
                            const std::string bytes = read_file(join_path(from, file));
                            put_file(join_path(to, file),
                                     fresh && !synced.count(join_path(from, file))
                                         ? damage(bytes, mode)
                                         : bytes);
                        }
                    }
                };
                bool was_cut = false;
                {
                    CheckpointFolder run(folder.path(), {.keep_last = 2});
                    std::string last_sync;
                    disk::set_hook([&](disk::Call call, const std::string& path) {
                        if (++calls == n) {
                            cut();
                            was_cut = true;
                        }
                        if (call == disk::Call::sync) synced.insert(path);
                        if (call == disk::Call::sync_folder) pending_to.clear();
                        if (call == disk::Call::rename && path.find("step-") != std::string::npos) {
                            pending_to = path;
                            for (const std::string& name : list_folder(folder.path()))
                                if (name.rfind(".tmp-step", 0) == 0) pending_from = folder / name;
                        }
                        return 0;
                    });
                    run.save(small_checkpoint(3));
                    disk::set_hook(nullptr);
                }
                if (!was_cut) break;
                ++cuts;
                CheckpointFolder run(after.path(), {.keep_last = 2});
                const auto found = run.resume();
                ASSERT_TRUE(found) << "call " << n << " mode " << mode;
                EXPECT_GE(found->step(), 2);
                EXPECT_TRUE(run.rejected().empty())
                    << "call " << n << " mode " << mode << ": " << run.rejected()[0].reason;
                expect_same_tensors(found->model(), small_checkpoint(found->step()).model);
            }
    EXPECT_GT(cuts, 150);
}

// The order on which the promise above rests: everything is synced before the new name appears.
TEST(CheckpointFaults, NothingIsRenamedBeforeItIsSynced) {
    const HookGuard guard;
    const TestFolder folder;
    CheckpointFolder run(folder.path());
    std::set<std::string> opened, synced;
    bool folder_synced = false, renamed = false;
    disk::set_hook([&](disk::Call call, const std::string& path) {
        if (call == disk::Call::open) opened.insert(path), folder_synced = false;
        if (call == disk::Call::sync) synced.insert(path);
        if (call == disk::Call::sync_folder && path.find(".tmp-step") != std::string::npos)
            folder_synced = true;
        if (call == disk::Call::rename && path.find("step-") != std::string::npos) {
            renamed = true;
            EXPECT_EQ(opened, synced);
            EXPECT_TRUE(folder_synced);
            EXPECT_EQ(opened.size(), 5u);
        }
        return 0;
    });
    run.save(small_checkpoint(1));
    EXPECT_TRUE(renamed);
}

}  // namespace
}  // namespace fovea
