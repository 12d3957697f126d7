#pragma once
// fovea data split and dedupe
#include <CLI/CLI.hpp>
#include <string>

#include "fovea/data/records.h"

namespace fovea {

void add_data_split(CLI::App& data);
void add_data_dedupe(CLI::App& data);

// --header auto|yes|no, of every verb that reads tables.
void add_header_option(CLI::App& verb, std::string& word);
HeaderRow header_of(const std::string& word);

}  // namespace fovea
