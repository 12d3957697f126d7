#include "fovea/cli/help_man.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "fovea/base/utf8.h"
#include "fovea/cli/help.h"
#include "fovea/cli/help_rows.h"

namespace fovea {
namespace {

// Text as groff wants it: a backslash and a hyphen have names, other characters are \[uXXXX], and a
// line may not begin with a dot or a quote (those are commands).
std::string groff(const std::string& text) {
    std::string out;
    bool line_starts = true;
    for (std::size_t i = 0; i < text.size();) {
        const auto [code, size] = read_char(text.data() + i);
        if (line_starts && (code == U'.' || code == U'\'')) out += "\\&";
        if (code == U'\\')
            out += "\\e";
        else if (code == U'-')
            out += "\\-";
        else if (code == U'|')
            out += "|\\:";        // a long list of choices may be broken here
        else if (code == 0x2026)  // an ellipsis, which terminals of plain ASCII lack
            out += "...";
        else if (code < 0x80)
            out += static_cast<char>(code);
        else
            out += fmt::format("\\[u{:04X}]", static_cast<unsigned>(code));
        line_starts = code == U'\n';
        i += static_cast<std::size_t>(size);
    }
    return out;
}

std::string upper(std::string text) {
    for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    return text;
}

// The name in bold, what follows it (a value) as it is: "--threads N".
std::string flag_line(const std::string& spelling) {
    const std::size_t value = spelling.find_last_of(' ');
    const bool has_value = value != std::string::npos && spelling[value - 1] != ',';
    const std::string name = has_value ? spelling.substr(0, value) : spelling;
    return "\\fB" + groff(name) + "\\fR" + (has_value ? groff(spelling.substr(value)) : "");
}

void add_rows(const std::vector<HelpRow>& rows, std::string& out) {
    for (const HelpRow& row : rows)
        out += ".TP\n" + flag_line(row.left) + "\n" + groff(row.right) + "\n";
}

void add_verb(const CLI::App& verb, std::string& out) {
    if (verb.get_parent()) {
        out += ".SS " + groff(full_name(verb)) + "\n" + groff(verb.get_description()) +
               "\n.PP\n.nf\n" + groff(usage_line(verb)) + "\n.fi\n";
        add_rows(option_rows(verb, true, true), out);
        add_rows(option_rows(verb, false, true), out);
        if (const auto lines = examples_of(verb); !lines.empty()) {
            out += ".PP\nExamples:\n.PP\n.RS 4\n.nf\n";
            for (const std::string& line : lines) out += groff(line) + "\n";
            out += ".fi\n.RE\n";
        }
    }
    for (const CLI::App* sub : verb.get_subcommands([](const CLI::App*) { return true; }))
        if (sub->get_group() != hidden_group) add_verb(*sub, out);
}

}  // namespace

std::string help_man(const CLI::App& app) {
    const std::string& name = app.get_name();
    std::string out = ".\\\" Made from the parser by `" + name + " help --man`. Do not edit.\n";
    out += fmt::format(".TH {} 1 \"\" \"{} {}\" \"User Commands\"\n.ad l\n.nh\n", upper(name), name,
                       FOVEA_VERSION);
    out += ".SH NAME\n" + name + " \\- " + groff(app.get_description()) + "\n";
    out += ".SH SYNOPSIS\n.nf\n" + groff(usage_line(app)) + "\n.fi\n";
    out += ".SH DESCRIPTION\n";
    add_rows(verb_rows(app, true), out);
    out += ".SH FLAGS OF EVERY VERB\n";
    add_rows(option_rows(app, false, true), out);
    out += ".SH VERBS\n";
    add_verb(app, out);
    out +=
        ".SH EXIT STATUS\n"
        ".TP\n0\ndone\n"
        ".TP\n1\nfailed while working\n"
        ".TP\n2\nwrong flags or arguments\n"
        ".TP\n3\na data or model file whose content is wrong\n"
        ".TP\n4\na file or model that is missing or cannot be read\n"
        ".TP\n5\na requested bound was missed\n"
        ".TP\n6\nbusy: a run folder is locked\n";
    return out;
}

}  // namespace fovea
