#pragma once
// The man page, from the parser: `fovea help --man` is what `make install` puts into man1/fovea.1.
#include <CLI/CLI.hpp>
#include <string>

namespace fovea {

// Every verb in the man macros of groff. It holds nothing but ASCII and groff's own names of
// characters, so that it reads the same in every locale.
std::string help_man(const CLI::App& app);

}  // namespace fovea
