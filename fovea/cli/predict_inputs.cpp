#include "fovea/cli/predict_inputs.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/cli/help.h"
#include "fovea/cli/terminal/terminal.h"
#include "fovea/data/labelled_texts.h"
#include "fovea/data/pictures.h"
#include "fovea/data/waves.h"

namespace fovea {
namespace {

bool is_table(const std::string& path, const std::string& input) {
    if (input != "auto") return input == "table";
    if (path == "-") return false;
    const RecordFormat f = format_by_name(path);
    return f == RecordFormat::tsv || f == RecordFormat::csv || f == RecordFormat::jsonl ||
           f == RecordFormat::label_lines;
}

void read_lines(const std::string& path, PredictInputs& to) {
    LineReader reader(path);
    for (std::string line; reader.next(line);) to.objects.push_back({{"text", line}});
}

// Every field of the record under its column's name, and the text under "text" (a second one under
// "text_pair").
void read_table(const std::string& path, const std::vector<std::string>& keys, PredictInputs& to) {
    RecordFiles files;
    files.paths = {path};
    for_each_text(files, keys, [&](const Columns& columns, TextRecord&& t) {
        Json object = Json::object();
        for (std::size_t c = 0; c < t.record.fields.size() && c < columns.names.size(); ++c)
            object[columns.names[c]] = t.record.fields[c];
        object["text"] = t.texts[0];
        if (t.texts.size() > 1) object["text_pair"] = t.texts[1];
        to.objects.push_back(std::move(object));
        if (to.columns.empty()) to.columns = columns.names;
        to.rows.push_back(std::move(t.record.fields));
        return true;
    });
}

// One more field for each input, from the lines of a file.
void add_field(const std::string& name, const std::string& path, PredictInputs& to) {
    LineReader reader(path);
    std::size_t count = 0;
    for (std::string line; reader.next(line); ++count)
        if (count < to.objects.size()) to.objects[count][name] = line;
    expect_input(count == to.objects.size(), path, ": has ", count, " lines but there are ",
                 to.objects.size(), " texts");
}

}  // namespace

void InputFlags::add_to(CLI::App& verb, const std::string& what,
                        const std::vector<InputFile>& files) {
    verb.add_option("FILES", files_, what + "; - or nothing: standard input");
    verb.add_option("--input", input_,
                    "lines of text, or a table (auto: .tsv, .csv and .jsonl are)")
        ->check(CLI::IsMember({"auto", "lines", "table"}))
        ->group(more_group);
    verb.add_option("--text-column", text_keys_, "column of the text in a table [guessed]")
        ->allow_extra_args(false)
        ->group(more_group);
    for (const InputFile& f : files) {
        FieldFile& to = fields_.emplace_back(FieldFile{f.field, ""});
        verb.add_option("--" + f.flag, to.path, f.help)->group(more_group);
    }
}

void InputFlags::add_inline(CLI::App& verb, const InputFile& flag) {
    inline_field_ = flag.field;
    verb.add_option("--" + flag.flag, inline_inputs_, flag.help)->allow_extra_args(false);
}

bool InputFlags::are_typed() const {
    const bool from_standard = files_.empty() || files_ == std::vector<std::string>{"-"};
    const bool has_fields = std::any_of(fields_.begin(), fields_.end(),
                                        [](const FieldFile& f) { return !f.path.empty(); });
    return from_standard && is_terminal(stdin) && !has_fields && inline_inputs_.empty();
}

PredictInputs InputFlags::read() const {
    PredictInputs inputs;
    for (const std::string& text : inline_inputs_)
        inputs.objects.push_back({{inline_field_, text}});
    const bool from_standard = files_.empty() && inline_inputs_.empty();
    const std::vector<std::string> files = from_standard ? std::vector<std::string>{"-"} : files_;
    for (const std::string& path : files) {
        if (path != "-" && !file_exists(path))
            throw Error(path + ": there is no such file", ErrorKind::not_found,
                        "texts come from files or standard input: echo \"" + path + "\" | fovea …");
        if (has_picture_name(path) || is_idx(path))
            for (const std::string& name : picture_names(path))
                inputs.objects.push_back({{"text", name}});
        else if (is_folder(path))  // frames, or a clip
            inputs.objects.push_back({{"text", path}});
        else if (is_wave_name(path))  // a sound is an input, not a file of them
            inputs.objects.push_back({{"text", path}});
        else if (is_table(path, input_))
            read_table(path, text_keys_, inputs);
        else
            read_lines(path, inputs);
    }
    for (const FieldFile& f : fields_)
        if (!f.path.empty()) add_field(f.field, f.path, inputs);
    return inputs;
}

}  // namespace fovea
