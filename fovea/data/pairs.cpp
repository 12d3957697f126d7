#include "fovea/data/pairs.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "fovea/base/error.h"
#include "fovea/base/json.h"
#include "fovea/base/rng.h"
#include "fovea/base/utf8.h"
#include "fovea/data/pair_columns.h"

namespace fovea {
namespace {

std::string first_words(const std::string& text, std::int64_t count) {
    std::istringstream in(text);
    std::string all;
    for (std::string word; count > 0 && in >> word; --count) all += (all.empty() ? "" : " ") + word;
    return all;
}

// Makes pairs of records; each file has columns of its own.
class PairMapping {
public:
    PairMapping(const PairFiles& files, BadLines& bad, const std::function<void(TextPair&&)>& take)
        : files_(files), bad_(bad), take_(take) {}

    // False once the limit is reached.
    bool operator()(const Columns& columns, Record&& record) {
        if (columns.file != file_) {
            file_ = columns.file;
            chosen_ = choose_pair_columns(columns, record, files_.source_key, files_.target_key);
            if (!chosen_.note.empty()) bad_.problems.notes.push_back(chosen_.note);
        }
        if (const std::string problem = problem_of(columns, record); !problem.empty()) {
            bad_.add(record.path, record.line, problem);
            return true;
        }
        std::string source = std::move(record.fields[chosen_.source]);
        std::string target =
            chosen_.source == chosen_.target ? source : std::move(record.fields[chosen_.target]);
        const bool source_fits = is_utf8(source);
        if (!source_fits || !is_utf8(target)) {
            const std::size_t side = source_fits ? chosen_.target : chosen_.source;
            const std::string& path = columns.files.empty() ? record.path : columns.files[side];
            bad_.add(path, record.line, "the text is not valid UTF-8",
                     encoding_hint(source_fits ? target : source, path));
            return true;
        }
        std::vector<std::string> also;  // other targets of this source
        if (columns.format == RecordFormat::mails && !files_.reverse && files_.lead == 0)
            also = Json::parse(record.fields[2]).get<std::vector<std::string>>();
        if (files_.reverse) std::swap(source, target);
        if (files_.lead > 0) target = first_words(source, files_.lead);
        take_({std::move(source), std::move(target), record.line, std::move(also)});
        return files_.limit == 0 || ++given_ < files_.limit;
    }

private:
    std::string problem_of(const Columns& columns, const Record& record) const {
        if (columns.format == RecordFormat::jsonl) {
            for (const std::size_t side : {chosen_.source, chosen_.target})
                if (record.kind(side) != FieldKind::text)
                    return "no text under \"" + columns.names[side] + "\"";
            return "";
        }
        const std::size_t need = std::max(chosen_.source, chosen_.target) + 1;
        const std::size_t has = record.fields.size();
        if (has >= need) return "";
        return text_of(has, has == 1 ? " column" : " columns", ", but ",
                       std::max(need, columns.names.size()), " are wanted");
    }

    const PairFiles& files_;
    BadLines& bad_;
    const std::function<void(TextPair&&)>& take_;
    std::int64_t file_ = -1;  // the one the columns were chosen for
    PairColumns chosen_;
    std::int64_t given_ = 0;
};

}  // namespace

RecordFiles record_files_of(const PairFiles& files) {
    RecordFiles r;
    r.paths = {files.target_path.empty() ? files.path : files.path + "," + files.target_path};
    r.paths.insert(r.paths.end(), files.more_paths.begin(), files.more_paths.end());
    r.format = files.format;
    r.header = files.header;
    r.keys = {files.source_key, files.target_key};
    r.needs_columns = true;
    r.skip_bad = files.skip_bad;
    r.keep_messages = files.keep_messages;
    return r;
}

Problems for_each_pair(const PairFiles& files, const std::function<void(TextPair&&)>& take) {
    BadLines bad(files.skip_bad, files.keep_messages);
    PairMapping mapping(files, bad, take);
    for_each_record(record_files_of(files), bad, std::ref(mapping));
    return std::move(bad.problems);
}

std::vector<TextPair> read_pairs(const PairFiles& files, Problems* problems) {
    std::vector<TextPair> pairs;
    const Problems p =
        for_each_pair(files, [&](TextPair&& pair) { pairs.push_back(std::move(pair)); });
    if (problems) *problems = p;
    if (pairs.empty()) throw Error(files.path + ": holds no pair", ErrorKind::bad_input);
    return pairs;
}

// Vitter 1985, algorithm R: the i-th pair replaces one of those kept with probability count / i.
std::vector<TextPair> draw_pairs(const PairFiles& files, std::int64_t count, std::uint64_t seed,
                                 Problems* problems) {
    expect(count > 0, "draw_pairs: ", count, " pairs are asked for");
    struct Kept {
        std::int64_t index;
        TextPair pair;
    };
    std::vector<Kept> kept;
    std::int64_t seen = 0;
    Rng rng(seed, 0x64726177);  // a stream of its own
    const Problems p = for_each_pair(files, [&](TextPair&& pair) {
        const std::int64_t index = seen++;
        if (index < count) {
            kept.push_back({index, std::move(pair)});
        } else if (const std::int64_t at = rng.below(seen); at < count) {
            kept[static_cast<std::size_t>(at)] = {index, std::move(pair)};
        }
    });
    if (problems) *problems = p;
    if (kept.empty()) throw Error(files.path + ": holds no pair", ErrorKind::bad_input);
    std::sort(kept.begin(), kept.end(),
              [](const Kept& a, const Kept& b) { return a.index < b.index; });
    std::vector<TextPair> pairs;
    pairs.reserve(kept.size());
    for (Kept& k : kept) pairs.push_back(std::move(k.pair));
    return pairs;
}

PairFiles pair_files_of(const std::string& argument) {
    PairFiles f;
    const bool two = parallel_paths(argument).size() > 1;
    const std::size_t comma = two ? argument.find(',') : std::string::npos;
    f.path = argument.substr(0, comma);
    if (two) f.target_path = argument.substr(comma + 1);
    return f;
}

}  // namespace fovea
