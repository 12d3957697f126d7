#include "fovea/data/scratch_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "fovea/base/disk.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {

struct ScratchFile::State {
    int file = -1;
    std::string named;  // in errors
    std::int64_t size = 0;
    void* mapped = nullptr;
    std::int64_t mapped_size = 0;

    ~State() {
        if (mapped) ::munmap(mapped, static_cast<std::size_t>(mapped_size));
        if (file >= 0) ::close(file);
    }
};

ScratchFile::ScratchFile() : state_(std::make_shared<State>()) {
    const char* const given = std::getenv("TMPDIR");
    const std::string folder = given && *given ? given : "/tmp";
    std::string name = join_path(folder, "fovea-scratch-XXXXXX");
    state_->file = ::mkstemp(name.data());
    if (state_->file < 0)
        fail_with(ErrorKind::failed, "set TMPDIR to a folder that can be written", folder,
                  ": no scratch file can be made there: ", std::strerror(errno));
    ::unlink(name.c_str());  // nothing is left behind, whatever ends the process
    state_->named = name;
}

void ScratchFile::append(const void* data, std::int64_t bytes) {
    disk::write_all(state_->file, data, bytes, state_->named);
    state_->size += bytes;
}

std::int64_t ScratchFile::size() const { return state_->size; }

std::string ScratchFile::path() const { return text_of("/proc/self/fd/", state_->file); }

const void* ScratchFile::map() const {
    State& s = *state_;
    if (s.mapped || s.size == 0) return s.mapped;
    void* const at =
        ::mmap(nullptr, static_cast<std::size_t>(s.size), PROT_READ, MAP_SHARED, s.file, 0);
    expect(at != MAP_FAILED, s.named, ": cannot be mapped: ", std::strerror(errno));
    s.mapped = at;
    s.mapped_size = s.size;
    return at;
}

}  // namespace fovea
