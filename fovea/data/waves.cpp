#include "fovea/data/waves.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/data/column_names.h"

namespace fovea {
namespace {

bool one_of(const std::string& name, std::initializer_list<const char*> names) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

bool names_classes(const std::string& column) {
    return one_of(plain_name(column), {"label", "class", "category", "target", "intent"});
}

// The one people call so, else the first that is not the path and no number of the record.
std::size_t text_column(const Columns& columns, const std::string& path, std::size_t sounds) {
    const auto& names = columns.names;
    for (std::size_t c = 0; c < names.size(); ++c)
        if (c != sounds && one_of(plain_name(names[c]), {"text", "transcript", "transcription",
                                                         "sentence", "words", "normalized_text"}))
            return c;
    for (std::size_t c = 0; c < names.size(); ++c)
        if (c != sounds && names_classes(names[c])) return c;
    for (std::size_t c = 0; c < names.size(); ++c)
        if (c != sounds && !is_id_column(columns, c)) return c;
    for (std::size_t c = 0; c < names.size(); ++c)
        if (c != sounds) return c;
    fail_with(ErrorKind::bad_input, "a table of sounds has a path and a transcript a line", path,
              ": there is no column of transcripts beside that of the sounds");
}

std::optional<std::size_t> speaker_column(const Columns& columns) {
    for (std::size_t c = 0; c < columns.names.size(); ++c)
        if (one_of(plain_name(columns.names[c]), {"speaker", "speaker_id", "client_id"})) return c;
    return {};
}

std::string resolved(const std::string& sound, const std::string& table) {
    if (sound.starts_with('/') || table == "-") return sound;
    return join_path(parent_path(table), sound);
}

void read_table(const std::string& path, const ClipFiles& files, BadLines& bad, ClipSet& to) {
    RecordFiles f;
    f.paths = {path};
    f.needs_columns = true;
    f.keys = {"path", "audio", "sound", "wav", "file_name", "filename"};  // of a header
    for (const std::string& key : {files.path_key, files.text_key})
        if (!key.empty()) f.keys.push_back(key);
    std::optional<std::size_t> sounds, texts, speakers;
    for_each_record(f, bad, [&](const Columns& columns, Record&& r) {
        if (!sounds) {
            sounds = files.path_key.empty() ? wave_column(columns)
                                            : column_of(columns, path, files.path_key);
            if (!sounds)
                fail_with(ErrorKind::bad_input, "name it: --path COLUMN", path,
                          ": no column names sounds (.wav, .flac, .mfc)");
            texts = files.text_key.empty() ? text_column(columns, path, *sounds)
                                           : column_of(columns, path, files.text_key);
            speakers = speaker_column(columns);
            to.classes = to.classes || names_classes(columns.names[*texts]);
            bad.problems.notes.push_back(text_of(
                path, ": sounds from ", describe_column(columns, *sounds), ", ",
                to.classes ? "labels" : "transcripts", " from ", describe_column(columns, *texts)));
        }
        if (r.fields.size() <= std::max(*sounds, *texts)) {
            bad.add(r.path, r.line, "a path and a transcript are wanted");
            return true;
        }
        SpokenClip clip{resolved(r.fields[*sounds], path), r.fields[*texts], r.path, r.line};
        if (speakers && *speakers < r.fields.size()) clip.speaker = r.fields[*speakers];
        if (!file_exists(clip.path)) {
            bad.add(r.path, r.line, "there is no sound " + clip.path,
                    "paths are relative to the folder of the table");
            return true;
        }
        to.clips.push_back(std::move(clip));
        return files.limit == 0 || static_cast<std::int64_t>(to.clips.size()) < files.limit;
    });
}

void read_folder(const std::string& folder, const ClipFiles& files, ClipSet& to) {
    to.classes = true;
    for (const std::string& label : list_folder(folder)) {
        const std::string inner = join_path(folder, label);
        if (!is_folder(inner)) continue;
        for (const std::string& name : list_folder(inner)) {
            if (!is_wave_name(name)) continue;
            const std::string path = join_path(inner, name);
            to.clips.push_back({path, label, path, static_cast<std::int64_t>(to.clips.size()) + 1});
            if (files.limit > 0 && static_cast<std::int64_t>(to.clips.size()) >= files.limit)
                return;
        }
    }
}

bool names_waves(const std::string& table) {
    RecordFiles files;
    files.paths = {table};
    files.skip_bad = INT64_MAX;
    bool found = false;
    for_each_record(files, [&](const Columns& columns, Record&&) {
        found = columns.names.size() > 1 && wave_column(columns);
        return false;
    });
    return found;
}

}  // namespace

bool is_wave_name(const std::string& path) {
    const std::size_t dot = path.rfind('.');
    if (dot == std::string::npos) return false;
    const std::string ending = plain_name(path.substr(dot + 1));
    return one_of(ending, {"wav", "flac", "mfc"});
}

bool is_wave_folder(const std::string& path) {
    if (!is_folder(path)) return false;
    for (const std::string& label : list_folder(path)) {
        const std::string inner = join_path(path, label);
        if (!is_folder(inner)) continue;
        for (const std::string& name : list_folder(inner))
            if (is_wave_name(name)) return true;
    }
    return false;
}

std::string wave_table_in(const std::string& folder) {
    if (!is_folder(folder)) return "";
    std::vector<std::string> all, to_learn;
    for (const std::string& name : list_folder(folder)) {
        if (!name.ends_with(".tsv") && !name.ends_with(".csv") && !name.ends_with(".jsonl"))
            continue;
        const std::string path = join_path(folder, name);
        if (!names_waves(path)) continue;
        all.push_back(path);
        if (name.find("train") != std::string::npos) to_learn.push_back(path);
    }
    const auto& found = all.size() == 1 ? all : to_learn;
    return found.size() == 1 ? found[0] : "";
}

std::optional<std::size_t> wave_column(const Columns& columns) {
    for (std::size_t c = 0; c < columns.names.size(); ++c) {
        std::size_t named = 0, rows = 0;
        for (const auto& row : columns.sample) {
            if (row.size() <= c) continue;
            ++rows;
            named += is_wave_name(row[c]);
        }
        if (rows > 0 && named * 3 >= rows * 2) return c;  // a header is no path
    }
    return {};
}

ClipSet read_clips(const ClipFiles& files, Problems* problems) {
    ClipSet set;
    BadLines bad(files.skip_bad);
    for (const std::string& path : files.paths) {
        const std::string table = wave_table_in(path);
        if (is_folder(path) && table.empty())
            read_folder(path, files, set);
        else
            read_table(table.empty() ? path : table, files, bad, set);
    }
    expect_input(!set.clips.empty(), files.paths.empty() ? "" : files.paths[0],
                 ": there is no sound in it");
    if (problems) *problems = bad.problems;
    return set;
}

}  // namespace fovea
