#include <unistd.h>

#include <cstdio>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/base/utf8.h"
#include "fovea/data/check.h"
#include "fovea/data/emails.h"
#include "fovea/data/labelled_texts.h"
#include "fuzz_targets.h"

namespace fovea {
namespace {

// One file of this process, in memory where possible.
std::string put(std::string_view bytes, const char* ending) {
    static const std::string stem =
        std::string(::access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp") + "/fovea-fuzz-data-" +
        std::to_string(::getpid());
    const std::string path = stem + ending;
    if (FILE* f = std::fopen(path.c_str(), "wb")) {
        std::fwrite(bytes.data(), 1, bytes.size(), f);
        std::fclose(f);
    }
    return path;
}

struct Removed {
    std::string path;
    ~Removed() { ::unlink(path.c_str()); }
};

}  // namespace

void fuzz_data_files(FuzzBytes data) {
    if (data.empty()) return;
    const std::string_view bytes = text_of_bytes(data).substr(1);
    if (data[0] % 5 == 0) {
        Email mail;
        std::int64_t line = 0;
        std::string problem;
        if (parse_email(std::string(bytes), mail, line, problem))
            property(!mail.subject.empty(), "a subject is not empty");
        else
            property(!problem.empty() && line >= 0, "a problem is told");
        return;
    }
    static const char* const endings[] = {".tsv", ".csv", ".jsonl", ".tsv.gz"};
    const std::string path = put(bytes, endings[data[0] % 5 - 1]);
    const Removed removed{path};
    PairFiles files = pair_files_of(path);
    files.skip_bad = data[0] / 5 % 4;
    try {
        std::int64_t last = 0;
        for (const TextPair& p : read_pairs(files)) {
            property(is_utf8(p.source) && is_utf8(p.target), "texts are UTF-8");
            property(p.line > last, "line numbers rise");
            last = p.line;
        }
    } catch (const Error& e) {
        property(std::string_view(e.what()).rfind(path, 0) == 0, "an error names the file");
        property(e.kind() == ErrorKind::bad_input, "an error is about the input");
    }
    if (data[0] < 128) return;  // the check reads the file four times more
    try {
        std::int64_t last = 0;
        for_each_record({.paths = {path}, .keep_raw = true, .skip_bad = files.skip_bad},
                        [&](const Columns& columns, Record&& r) {
                            property(columns.format == RecordFormat::jsonl || !r.fields.empty(),
                                     "rows have fields");
                            property(r.line > last && r.path == path, "records have their place");
                            last = r.line;
                            return true;
                        });
        for (const LabelledText& t : read_labelled({.paths = {path}, .skip_bad = files.skip_bad})) {
            property(!t.texts.empty() && is_utf8(t.texts[0]), "texts are UTF-8");
            property(!t.labels.empty() && !t.labels[0].empty(), "labels are not empty");
        }
    } catch (const Error& e) {
        property(std::string_view(e.what()).rfind(path, 0) == 0, "an error names the file");
        property(e.kind() == ErrorKind::bad_input, "an error is about the input");
    }
    try {
        const NamedFiles sets[] = {{"train", files}, {"dev", files}};
        const DataCheck check = check_data(sets);
        property(check.files[0].pairs == check.leaks[0].pairs, "a file leaks into itself");
        if (data[0] >= 192)  // making one takes longer than all the rest
            property(!check.text().empty() && !check.json().empty(), "a report is made");
    } catch (const Error& e) {
        property(e.kind() == ErrorKind::bad_input, "an error is about the input");
    }
}

}  // namespace fovea
