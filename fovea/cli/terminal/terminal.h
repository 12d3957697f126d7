#pragma once
// What the terminal can do: each of standard output and standard error on its own.
#include <cstdio>
#include <string>
#include <string_view>

namespace fovea {

enum class ColorMode { automatic, always, never };
void set_color_mode(ColorMode mode);

bool is_terminal(std::FILE* stream);

// A terminal that can rewrite a line; one whose TERM is "dumb" cannot.
bool takes_control_codes(std::FILE* stream);

// Columns of the terminal behind the stream, else COLUMNS, else 80.
int terminal_width(std::FILE* stream);

// --color first, then NO_COLOR and CLICOLOR_FORCE, then: a terminal whose TERM is not "dumb".
bool use_color(std::FILE* stream);

// The text in a style where the stream takes colours; as it is elsewhere. A style never carries
// meaning alone.
enum class Style { bold, red, green, yellow, cyan, dim };
std::string styled(std::FILE* stream, Style style, std::string_view text);

}  // namespace fovea
