// Names of mechanisms and scores.
#include <charconv>

#include "fovea/base/error.h"
#include "fovea/models/rnn_attention.h"

namespace fovea {
namespace {

constexpr const char* attention_hint =
    "one of none, global, hard, window:W, local-p:W, expanded:W,M, hybrid:W or hybrid:W,SHARE, "
    "with W and M from 1: --attention window:4";

struct NamedView {
    const char* name;
    SourceView view;
    std::size_t least, most;  // numbers behind the colon
};
constexpr NamedView views[] = {
    {"none", SourceView::none, 0, 0},       {"global", SourceView::global, 0, 0},
    {"hard", SourceView::hard, 0, 0},       {"window", SourceView::window, 1, 1},
    {"local-p", SourceView::local_p, 1, 1}, {"expanded", SourceView::expanded, 2, 2},
    {"hybrid", SourceView::hybrid, 1, 2}};

constexpr const char* score_names[] = {"dot", "scaled", "general", "additive", "two-term"};

std::vector<std::string> numbers_behind(const std::string& text, std::size_t colon) {
    std::vector<std::string> out;
    for (std::size_t from = colon; from < text.size();) {
        const std::size_t comma = std::min(text.find(',', from + 1), text.size());
        out.push_back(text.substr(from + 1, comma - from - 1));
        from = comma;
    }
    return out;
}

int whole_number(const std::string& text, const std::string& attention, const char* what,
                 int most) {
    int n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || end != text.data() + text.size() || n < 1 || n > most)
        fail_with(ErrorKind::usage, attention_hint, "--attention ", attention, ": ", what, " is \"",
                  text, "\" but must be a number from 1 to ", most);
    return n;
}

float share_of(const std::string& text, const std::string& attention) {
    std::size_t read = 0;
    float x = -1;
    try {
        x = std::stof(text, &read);
    } catch (const std::exception&) {  // told below
    }
    if (read != text.size() || !(x >= 0 && x <= 1))
        fail_with(ErrorKind::usage, attention_hint, "--attention ", attention,
                  ": the share of the global part is \"", text, "\" but must be from 0 to 1");
    return x;
}

}  // namespace

RnnAttentionChoice RnnAttentionChoice::parse(const std::string& attention,
                                             const std::string& score) {
    const std::size_t colon = std::min(attention.find(':'), attention.size());
    const std::string name = attention.substr(0, colon);
    const std::vector<std::string> numbers = numbers_behind(attention, colon);
    const NamedView* found = nullptr;
    for (const NamedView& v : views)
        if (name == v.name) found = &v;
    if (!found)
        fail_with(ErrorKind::usage, attention_hint, "--attention ", attention,
                  ": there is no mechanism \"", name, "\"");
    if (numbers.size() < found->least || numbers.size() > found->most)
        fail_with(ErrorKind::usage, attention_hint, "--attention ", attention, ": ", name,
                  found->most == 0 ? " takes no numbers" : " takes its numbers behind a colon");
    RnnAttentionChoice c;
    c.view = found->view;
    if (!numbers.empty()) c.window = whole_number(numbers[0], attention, "the window", 1 << 20);
    if (c.view == SourceView::expanded)
        c.summaries = whole_number(numbers[1], attention, "the number of means", 40);
    if (c.view == SourceView::hybrid && numbers.size() > 1)
        c.global_weight = share_of(numbers[1], attention);
    bool known = false;
    for (std::size_t i = 0; i < std::size(score_names); ++i)
        if (score == score_names[i]) c.score = static_cast<SourceScore>(i), known = true;
    if (!known)
        fail_with(ErrorKind::usage, "one of dot, scaled, general, additive, two-term",
                  "--score: there is no score \"", score, "\"");
    if (c.view == SourceView::local_p && c.score == SourceScore::additive)
        fail_with(ErrorKind::usage, "choose --score dot, scaled, general or two-term",
                  "--attention ", attention,
                  " weighs products by a Gaussian: --score additive has none");
    return c;
}

std::string RnnAttentionChoice::attention_name() const {
    std::string name;
    for (const NamedView& v : views)
        if (v.view == view) name = v.name;
    if (window > 0) name += ":" + std::to_string(window);
    if (summaries > 0) name += "," + std::to_string(summaries);
    if (global_weight) name += text_of(",", *global_weight);
    return name;
}

std::string RnnAttentionChoice::score_name() const {
    return score_names[static_cast<std::size_t>(score)];
}

}  // namespace fovea
