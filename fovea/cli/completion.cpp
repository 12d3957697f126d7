#include "fovea/cli/completion.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>

#include "fovea/cli/help.h"

namespace fovea {
namespace {

constexpr const char* bash_script = R"(# fovea completion for bash:  source <(fovea completion bash)
_fovea() {
    local IFS=$'\n'
    COMPREPLY=($("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _fovea fovea
)";

constexpr const char* zsh_script = R"(#compdef fovea
# fovea completion for zsh:  source <(fovea completion zsh)
_fovea() {
    local -a found
    found=("${(@f)$("${words[1]}" __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    found=(${found:#})
    if (( ${#found} )); then compadd -a found; else _files; fi
}
if [[ $funcstack[1] == _fovea ]]; then _fovea "$@"; else compdef _fovea fovea; fi  # a file of $fpath, or sourced
)";

constexpr const char* fish_script = R"(# fovea completion for fish:  fovea completion fish | source
function __fovea_complete
    set -l before (commandline -opc)
    fovea __complete -- $before[2..-1] (commandline -ct) 2>/dev/null
end
complete -c fovea -a '(__fovea_complete)'
)";

// The option that a word names, in the verb or, for global flags, in the verbs above it.
const CLI::Option* option_of(const CLI::App* verb, const std::string& word) {
    for (; verb; verb = verb->get_parent())
        if (const CLI::Option* option = verb->get_option_no_throw(word)) return option;
    return nullptr;
}

}  // namespace

std::vector<std::string> completions(const CLI::App& app, const std::vector<std::string>& words) {
    std::vector<std::string> found;
    const std::string typed = words.empty() ? "" : words.back();
    const auto offer = [&](const std::string& word) {
        if (word.starts_with(typed)) found.push_back(word);
    };

    const CLI::App* verb = &app;
    const CLI::Option* waiting = nullptr;  // an option whose value comes next
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
        if (waiting) {
            waiting = nullptr;
            continue;
        }
        if (words[i].starts_with("-")) {
            const CLI::Option* option = option_of(verb, words[i]);
            if (option && option->get_items_expected_max() > 0) waiting = option;
            continue;
        }
        for (const CLI::App* sub : verb->get_subcommands([](const CLI::App*) { return true; }))
            if (sub->get_name() == words[i]) {
                verb = sub;
                break;
            }
    }

    if (waiting) {
        for (const std::string& choice : choices_of(*waiting)) offer(choice);
    } else if (typed.starts_with("-")) {
        for (const CLI::App* v = verb; v; v = v->get_parent())
            for (const CLI::Option* option : v->get_options())
                for (const std::string& name : option->get_lnames())
                    if (v == verb || !name.starts_with("help")) offer("--" + name);
    } else {
        for (const CLI::App* sub : verb->get_subcommands([](const CLI::App*) { return true; }))
            if (sub->get_group() != hidden_group) offer(sub->get_name());
        for (const CLI::Option* option : verb->get_options())
            if (option->get_positional())
                for (const std::string& choice : choices_of(*option)) offer(choice);
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

void add_completion_command(CLI::App& app) {
    auto shell = std::make_shared<std::string>();
    CLI::App* completion =
        app.add_subcommand("completion", "A script that completes verbs, flags and values.");
    completion->group(more_group);
    set_examples(*completion, {"source <(fovea completion bash)", "source <(fovea completion zsh)",
                               "fovea completion fish | source"});
    completion->add_option("SHELL", *shell, "bash, zsh or fish")
        ->required()
        ->check(CLI::IsMember({"bash", "zsh", "fish"}));
    completion->callback([shell] {
        fmt::print("{}", *shell == "bash"  ? bash_script
                         : *shell == "zsh" ? zsh_script
                                           : fish_script);
    });

    auto words = std::make_shared<std::vector<std::string>>();
    CLI::App* ask = app.add_subcommand("__complete", "candidates for the last word");
    ask->group(hidden_group);
    ask->add_option("WORDS", *words, "words typed so far");
    ask->callback([&app, words] {
        for (const std::string& word : completions(app, *words)) fmt::print("{}\n", word);
    });
}

}  // namespace fovea
