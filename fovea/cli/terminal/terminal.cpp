#include "fovea/cli/terminal/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace fovea {
namespace {

ColorMode color_mode = ColorMode::automatic;

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value && *value;
}

}  // namespace

void set_color_mode(ColorMode mode) { color_mode = mode; }

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

bool takes_control_codes(std::FILE* stream) {
    const char* term = std::getenv("TERM");
    return is_terminal(stream) && term && std::strcmp(term, "dumb") != 0;
}

int terminal_width(std::FILE* stream) {
    winsize size{};
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
    if (const char* columns = std::getenv("COLUMNS")) {
        const long n = std::strtol(columns, nullptr, 10);
        if (n >= 20 && n <= 1000) return static_cast<int>(n);
    }
    return 80;
}

bool use_color(std::FILE* stream) {
    if (color_mode != ColorMode::automatic) return color_mode == ColorMode::always;
    if (is_set("NO_COLOR")) return false;
    if (const char* force = std::getenv("CLICOLOR_FORCE"); force && *force && *force != '0')
        return true;
    return takes_control_codes(stream);
}

std::string styled(std::FILE* stream, Style style, std::string_view text) {
    if (!use_color(stream)) return std::string(text);
    const char* code = "";
    switch (style) {
        case Style::bold:
            code = "1";
            break;
        case Style::red:
            code = "1;31";
            break;
        case Style::green:
            code = "32";
            break;
        case Style::yellow:
            code = "33";
            break;
        case Style::cyan:
            code = "36";
            break;
        case Style::dim:
            code = "2";
            break;
    }
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
}

}  // namespace fovea
