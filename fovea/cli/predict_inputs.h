#pragma once
// What a verb of prediction is asked: files of texts or tables, and files of further fields.
#include <CLI/CLI.hpp>
#include <list>
#include <span>
#include <string>
#include <vector>

#include "fovea/base/json.h"
#include "fovea/tasks/task.h"

namespace fovea {

struct PredictInputs {
    std::vector<Json> objects;                   // {"text": …, further fields}
    std::vector<std::string> columns;            // of the input, where it is a table
    std::vector<std::vector<std::string>> rows;  // its fields
    std::span<const std::string> fields(std::size_t i) const {
        return i < rows.size() ? std::span<const std::string>(rows[i])
                               : std::span<const std::string>();
    }
};

class InputFlags {
public:
    // `files`: further files that the task takes, a line for each input.
    void add_to(CLI::App& verb, const std::string& what, const std::vector<InputFile>& files);
    // A flag that holds inputs itself: with it, nothing is read unless files are named.
    void add_inline(CLI::App& verb, const InputFile& flag);
    bool are_typed() const;  // at a terminal, line by line
    PredictInputs read() const;

private:
    std::vector<std::string> files_;
    std::string input_ = "auto";
    std::vector<std::string> text_keys_;
    struct FieldFile {
        std::string field, path;
    };
    std::list<FieldFile> fields_;
    std::string inline_field_;
    std::vector<std::string> inline_inputs_;
};

}  // namespace fovea
