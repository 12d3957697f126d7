#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "check_encoding.h"
#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {

namespace {

// A folder of this process, in memory where possible, removed at its end.
const std::string& folder() {
    struct Folder {
        std::string path = (access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") +
                           ("/fovea-fuzz-" + std::to_string(getpid()));
        Folder() { make_folders(path); }
        ~Folder() {
            for (const std::string& name : list_folder(path)) unlink((path + "/" + name).c_str());
            rmdir(path.c_str());
        }
    };
    static const Folder one;
    return one.path;
}

}  // namespace

void fuzz_vocab_files(FuzzBytes data) {
    if (data.empty()) return;
    std::string_view rest = text_of_bytes(data).substr(1);
    const auto part = [&] {  // up to the next 0xFF
        const std::size_t end = std::min(rest.find('\xFF'), rest.size());
        const std::string_view p = rest.substr(0, end);
        rest.remove_prefix(std::min(end + 1, rest.size()));
        return p;
    };
    const auto write = [](const std::string& path, std::string_view bytes) {
        std::ofstream(path, std::ios::binary) << bytes;
        return path;
    };
    try {
        std::string path;
        if (data[0] % 2 == 0) {
            path = write(folder() + "/vocab.txt", part());
        } else {
            path = write(folder() + "/vocab.json", part());
            write(folder() + "/merges.txt", part());
        }
        const Tokenizer t = Tokenizer::load(path);
        check_tokenizer_on(t, rest);
        check_tokenizer_on(t, "Hello, world! don't");
    } catch (const Error& e) {
        property(std::string_view(e.what()).find("vocab") != std::string_view::npos ||
                     std::string_view(e.what()).find("merges") != std::string_view::npos,
                 "an error names the file");
    }
}

}  // namespace fovea
