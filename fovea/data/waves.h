#pragma once
// Sounds with what is said in them: a table of paths and transcripts (TSV, CSV, JSON lines; paths
// are relative to its folder), a folder with one such table in it, or a folder of sounds for each
// class. Sounds are WAV, FLAC (io/wave.h) or Sphinx features (io/mfc.h).
// Thread-safety: calls for different files may run at once.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fovea/data/records.h"

namespace fovea {

struct SpokenClip {
    std::string path;  // of the sound
    std::string text;  // transcript or class
    std::string file;  // the table, or the sound itself
    std::int64_t line = 0;
    std::string speaker = {};  // of a column of that name; "" where there is none
};

struct ClipFiles {
    std::vector<std::string> paths;
    std::string path_key = {}, text_key = {};  // columns; empty: guessed
    std::int64_t skip_bad = 0, limit = 0;
};

struct ClipSet {
    std::vector<SpokenClip> clips;
    bool classes =
        false;  // a label each, not a transcript: folders of classes, or a column "label"
};

// Errors name file and line; a sound that is not there is one.
ClipSet read_clips(const ClipFiles& files, Problems* problems = nullptr);

bool is_wave_name(const std::string& path);    // .wav .flac .mfc
bool is_wave_folder(const std::string& path);  // FOLDER/label/*.wav
// The table of a folder (TSV, CSV, JSON lines) that names sounds: the only one, or the only one of
// them that is called train; "" where there is none.
std::string wave_table_in(const std::string& folder);
// The column that names sounds; nothing where there is none.
std::optional<std::size_t> wave_column(const Columns& columns);

}  // namespace fovea
