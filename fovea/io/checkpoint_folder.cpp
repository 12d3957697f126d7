#include "fovea/io/checkpoint_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "fovea/base/checked.h"
#include "fovea/base/clock.h"
#include "fovea/base/disk.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/io/flat_json.h"
#include "fovea/io/new_file.h"

namespace fovea {
namespace {

// Non-finite numbers are never saved: a run must not resume from them.
void expect_finite(const std::vector<TensorToWrite>& tensors, const char* what) {
    for (const TensorToWrite& t : tensors) {
        if (t.values.empty() || t.values.format() != Format::f32) continue;
        const float* x = t.values.data();
        std::uint32_t worst = 0;  // the largest exponent: all ones means infinity or NaN
        for (std::int64_t i = 0; i < t.values.size(); ++i)
            worst = std::max(worst, std::bit_cast<std::uint32_t>(x[i]) & 0x7f800000u);
        expect(worst != 0x7f800000u, "checkpoint: ", what, " ", t.name,
               " holds values that are not finite; it is not saved");
    }
}

std::string host_name() {
    char name[256] = {};
    return ::gethostname(name, sizeof name - 1) == 0 ? name : "?";
}

std::int64_t with_a_tenth_more(std::int64_t bytes) { return checked_add(bytes, bytes / 10); }

std::string gigabytes(std::int64_t bytes) {
    char text[32];
    const double b = static_cast<double>(bytes);
    std::snprintf(text, sizeof text, b < 1e9 ? "%.2f MB" : "%.2f GB", b * (b < 1e9 ? 1e-6 : 1e-9));
    return text;
}

}  // namespace

CheckpointFolder::CheckpointFolder(std::string run, CheckpointOptions options)
    : run_(std::move(run)), options_(std::move(options)) {
    expect(options_.keep_last >= 1, "checkpoints: keep_last is ", options_.keep_last,
           " but must be at least 1");
    make_folders(run_);
    const std::string path = join_path(run_, "LOCK");
    lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (lock_ < 0) fail(path, ": cannot open: ", std::strerror(errno));
    if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {  // the kernel frees it when its owner dies
        const int error = errno;
        ::close(std::exchange(lock_, -1));
        if (error != EWOULDBLOCK) fail(path, ": cannot lock: ", std::strerror(error));
        std::string owner = read_file(path, 4096);
        while (!owner.empty() && owner.back() == '\n') owner.pop_back();
        fail_with(ErrorKind::busy, "wait for it to end, or choose another folder with --out", run_,
                  ": another training is running here (", owner.empty() ? "?" : owner, ")");
    }
    const std::string owner = text_of("process ", ::getpid(), " on ", host_name(), "\n");
    // only to tell others; the lock itself is the descriptor
    if (::ftruncate(lock_, 0) != 0 ||
        ::pwrite(lock_, owner.data(), owner.size(), 0) != static_cast<ssize_t>(owner.size())) {
        ::close(std::exchange(lock_, -1));
        fail(path, ": cannot write: ", std::strerror(errno));
    }
}

CheckpointFolder::~CheckpointFolder() {
    if (lock_ >= 0) ::close(lock_);
}

std::string CheckpointFolder::write_temporary(const Checkpoint& c, SaveReport& report) {
    const SafetensorsWriter model(c.model, {{"format", "pt"}}), optimizer(c.optimizer, {});
    report.bytes = checked_add(checked_add(model.file_size(), optimizer.file_size()),
                               static_cast<std::int64_t>(c.state.size()));
    for (const auto& [name, text] : c.texts)
        report.bytes = checked_add(report.bytes, static_cast<std::int64_t>(text.size()));
    const std::int64_t room = disk::free_space(run_);
    if (room >= 0 && room < with_a_tenth_more(report.bytes))
        fail_with(ErrorKind::failed, "free some space or keep fewer checkpoints", run_, ": only ",
                  gigabytes(room), " are free but the checkpoint of step ", c.step, " needs ",
                  gigabytes(with_a_tenth_more(report.bytes)));

    const std::string folder =
        join_path(run_, text_of(".tmp-step-", c.step, ".", disk::unique_suffix()));
    disk::make_folder(folder);
    try {
        Manifest m{.step = c.step,
                   .parent_step = parent_,
                   .files = {},
                   .run = c.run,
                   .code_version = options_.code_version};
        const auto add = [&](const std::string& name, std::int64_t size, std::int64_t tensors,
                             const auto& fill) {
            NewFile file(join_path(folder, name), size);
            fill([&](const void* data, std::int64_t bytes) { file.write(data, bytes); });
            const FileHash hash = file.finish();
            m.files.push_back({name, hash.size, hash.hex, tensors});
        };
        add("model.safetensors", model.file_size(), model.count(),
            [&](const auto& sink) { model.write(sink); });
        add("optim.safetensors", optimizer.file_size(), optimizer.count(),
            [&](const auto& sink) { optimizer.write(sink); });
        const auto add_text = [&](const std::string& name, const std::string& text) {
            add(name, static_cast<std::int64_t>(text.size()), 0, [&](const auto& sink) {
                sink(text.data(), static_cast<std::int64_t>(text.size()));
            });
        };
        add_text("state.json", c.state);
        for (const auto& [name, text] : c.texts) add_text(name, text);
        const std::string manifest = manifest_text(m);
        NewFile last(join_path(folder, "MANIFEST.json"),
                     static_cast<std::int64_t>(manifest.size()));
        last.write(manifest);
        last.finish();
        disk::sync_folder(folder);
    } catch (...) {
        discard(folder);
        throw;
    }
    return folder;
}

SaveReport CheckpointFolder::save(const Checkpoint& c) {
    const Stopwatch watch;
    SaveReport report;
    report.folder = checkpoint_path(run_, c.step);
    try {
        expect(c.step >= 0, "checkpoint: step ", c.step, " is negative");
        for (const auto& [name, text] : c.texts)
            expect(!name.empty() && name.find('/') == std::string::npos && name[0] != '.',
                   "checkpoint: \"", name, "\" is no plain file name");
        expect_finite(c.model, "parameter");
        expect_finite(c.optimizer, "optimizer state");
        if (file_exists(report.folder)) {
            const std::string problem = [&]() -> std::string {
                try {
                    open_checkpoint(report.folder);
                } catch (const Error& e) {
                    return e.what();
                }
                return {};
            }();
            if (problem.empty())
                fail_with(ErrorKind::failed, "resume from it, or train in another folder",
                          report.folder, ": exists already and is complete");
            discard(report.folder);  // damaged: in the way of a good one
        }
        const std::string temporary = write_temporary(c, report);
        try {
            disk::rename_new(temporary, report.folder);
        } catch (...) {
            discard(temporary);
            throw;
        }
        disk::sync_folder(run_);
        try {
            open_checkpoint(report.folder);
        } catch (const Error& e) {
            discard(report.folder);
            fail_with(ErrorKind::failed, "the disk does not keep what is written to it", e.what(),
                      " (read back right after saving)");
        }
    } catch (...) {
        ++failures_;
        throw;
    }
    failures_ = 0;
    parent_ = c.step;
    try {
        write_file_atomically(join_path(run_, "LATEST"), base_name(report.folder) + "\n");
    } catch (const Error& e) {
        report.warnings.push_back(e.what());
    }
    rotate(c, report);
    report.seconds = watch.seconds();
    return report;
}

// Out of sight first, so that a kill in the middle leaves no half checkpoint under a good name.
void CheckpointFolder::discard(const std::string& folder) noexcept {
    try {
        std::string target = folder;
        if (base_name(folder).rfind(".tmp-", 0) != 0) {
            target = join_path(run_, ".trash-" + base_name(folder) + "." + disk::unique_suffix());
            disk::rename_new(folder, target);
            disk::sync_folder(run_);
        }
        disk::remove_tree(target);
    } catch (const std::exception&) {
        // resume() clears away what is left
    }
}

void CheckpointFolder::rotate(const Checkpoint& newest, SaveReport& report) {
    try {
        const auto steps = checkpoint_steps(run_);
        const auto best_one = best();
        std::int64_t kept = 0;
        for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
            // steps beyond the newest are of a run that was resumed from before them
            if (*step > newest.step) continue;
            const bool is_best = *step == newest.best_step || (best_one && *step == best_one->step);
            if (*step == newest.step && newest.out_of_turn) continue;
            if (best_one && best_one->out_of_turn && *step == best_one->step) continue;
            if (kept++ < options_.keep_last || is_best) continue;
            const std::string folder = checkpoint_path(run_, *step);
            discard(folder);
            if (file_exists(folder))
                report.warnings.push_back(folder + ": could not be removed");
            else
                report.removed.push_back(*step);
        }
    } catch (const Error& e) {
        report.warnings.push_back(e.what());
    }
}

void CheckpointFolder::remove_leftovers() {
    for (const std::string& name : list_folder(run_)) {
        // we hold the lock, so nobody is writing them
        const bool folder = name.rfind(".tmp-step-", 0) == 0 || name.rfind(".trash-", 0) == 0;
        const bool file = name.rfind("LATEST.tmp-", 0) == 0 || name.rfind("BEST.tmp-", 0) == 0;
        try {
            if (folder) disk::remove_tree(join_path(run_, name));
            if (file) disk::unlink_file(join_path(run_, name));
        } catch (const Error&) {
            // harmless: they are never read
        }
    }
}

std::optional<OpenCheckpoint> CheckpointFolder::resume() {
    rejected_.clear();
    remove_leftovers();
    const auto steps = checkpoint_steps(run_);
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        const std::string folder = checkpoint_path(run_, *step);
        try {
            OpenCheckpoint c = open_checkpoint(folder);
            parent_ = *step;
            return c;
        } catch (const Error& e) {
            rejected_.push_back({folder, e.what()});
        }
    }
    if (rejected_.empty()) return {};
    std::string all;
    for (const RejectedCheckpoint& r : rejected_) all += "\n  " + r.folder + ": " + r.reason;
    fail_with(ErrorKind::bad_input,
              "train in a new folder, or --force starts afresh and removes the damaged ones", run_,
              ": none of its checkpoints can be resumed:", all);
}

void CheckpointFolder::mark_best(const BestCheckpoint& b) {
    expect(std::isfinite(b.value), "checkpoint: the best ", b.metric, " is not finite");
    const auto former = best();
    JsonWriter json;
    json.open('{');
    json.key("step"), json.value(b.step);
    json.key("metric"), json.value(b.metric);
    json.key("value"), json.value(b.value);
    json.key("out_of_turn"), json.value(std::int64_t{b.out_of_turn});
    json.close('}');
    write_file_atomically(join_path(run_, "BEST"), json.text() + "\n");
    if (former && former->out_of_turn && former->step != b.step &&
        file_exists(checkpoint_path(run_, former->step)))
        discard(checkpoint_path(run_, former->step));
}

std::optional<BestCheckpoint> CheckpointFolder::best() const {
    const std::string path = join_path(run_, "BEST");
    if (!file_exists(path)) return {};
    try {
        const FlatJson json(read_file(path, 1 << 16), path);
        return BestCheckpoint{json.integer("step"), json.text("metric"), json.number("value"),
                              json.integer("out_of_turn") != 0};
    } catch (const Error&) {
        return {};  // a hint only
    }
}

void CheckpointFolder::check_space(std::int64_t checkpoint_bytes) const {
    const auto here = static_cast<std::int64_t>(checkpoint_steps(run_).size());
    // The last of a row is written before the oldest goes: one more than are kept, at least one.
    const std::int64_t more = std::max<std::int64_t>(options_.keep_last + 1 - here, 1);
    const std::int64_t needed = with_a_tenth_more(checked_mul(checkpoint_bytes, more));
    const std::int64_t room = disk::free_space(run_);
    if (room >= 0 && room < needed)
        fail_with(ErrorKind::failed, "free some space, or keep fewer checkpoints with --keep", run_,
                  ": only ", gigabytes(room), " are free but ", more,
                  here > 0 ? " more checkpoints need " : " checkpoints need ", gigabytes(needed));
}

}  // namespace fovea
