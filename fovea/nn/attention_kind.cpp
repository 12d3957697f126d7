#include "fovea/nn/attention_kind.h"

#include <algorithm>
#include <charconv>

#include "fovea/base/error.h"

namespace fovea {
namespace {

constexpr const char* kinds_hint =
    "one of global, window:W, expanded:W,M, hybrid:W, hybrid:W,G and hard, with numbers from 1, "
    "for "
    "all layers or one a layer: window:64,window:64,global";

struct NamedKind {
    const char* name;
    LayerView view;
    std::size_t least, most;  // numbers behind the colon
};
constexpr NamedKind named_kinds[] = {{"global", LayerView::global, 0, 0},
                                     {"window", LayerView::window, 1, 1},
                                     {"expanded", LayerView::expanded, 2, 2},
                                     {"hybrid", LayerView::hybrid, 1, 2},
                                     {"hard", LayerView::hard, 0, 0}};

std::vector<std::string> split_at(const std::string& text, char mark) {
    std::vector<std::string> parts;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t end = std::min(text.find(mark, from), text.size());
        parts.push_back(text.substr(from, end - from));
        from = end + 1;
    }
    return parts;
}

int number_from_one(const std::string& text, const std::string& where, int most) {
    int n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || end != text.data() + text.size() || n < 1 || n > most)
        fail_with(ErrorKind::usage, kinds_hint, where, ": \"", text,
                  "\" is not a whole number from 1 to ", most);
    return n;
}

// "window:4", or "expanded:4,2": commas before numbers belong to the word.
AttentionKind kind_of(const std::string& word, const std::string& flag) {
    const std::string where = flag + " " + word;
    const std::size_t colon = std::min(word.find(':'), word.size());
    const std::string name = word.substr(0, colon);
    std::vector<std::string> numbers;
    if (colon < word.size()) numbers = split_at(word.substr(colon + 1), ',');
    const auto* found = std::find_if(std::begin(named_kinds), std::end(named_kinds),
                                     [&](const NamedKind& k) { return name == k.name; });
    if (found == std::end(named_kinds))
        fail_with(ErrorKind::usage, kinds_hint, where, ": a Transformer has no mechanism \"", name,
                  "\"");
    if (numbers.size() < found->least || numbers.size() > found->most)
        fail_with(ErrorKind::usage, kinds_hint, where, ": ", name,
                  found->most == 0 ? " takes no numbers" : " takes its numbers behind a colon");
    AttentionKind k;
    k.view = found->view;
    if (!numbers.empty()) k.window = number_from_one(numbers[0], where, 1 << 20);
    if (k.view == LayerView::expanded) k.summaries = number_from_one(numbers[1], where, 40);
    if (k.view == LayerView::hybrid)
        k.tokens = numbers.size() > 1 ? number_from_one(numbers[1], where, 1 << 20) : 1;
    return k;
}

bool begins_with_digit(const std::string& s) { return !s.empty() && s[0] >= '0' && s[0] <= '9'; }

// What each row sees at most, cut to its last w keys and itself, and the first `also`.
Visibility narrowed(const Visibility& past, std::int64_t w, std::int64_t also) {
    const VisibilityView view = past.view();
    VisibilityBuilder builder(view.keys);
    for (const VisibleGroup& g : view.groups) {
        const auto runs = view.runs_of(g);
        builder.group({.keys = {runs.begin(), runs.end()}, .position = g.position});
        for (std::int64_t i = g.q_begin; i < g.q_end; ++i) {
            const auto row = view.of_row(i);
            expect(row.size() == 1 && row[0].begin == 0, "past_sight: row ", i,
                   " does not see all of its past");
            const std::int64_t end = row[0].end;
            builder.row({{std::max<std::int64_t>(0, end - 1 - w), end}, {0, std::min(also, end)}});
        }
    }
    return builder.build();
}

std::vector<std::int64_t> first_rows_of(int n) {
    std::vector<std::int64_t> rows;
    for (std::int64_t i = 0; i < n; ++i) rows.push_back(i);
    return rows;
}

Sight of_one_place(const Visibility& sees) {
    Sight s(sees);
    s.one_place = true;
    return s;
}

}  // namespace

std::string AttentionKind::name() const {
    std::string text;
    for (const NamedKind& k : named_kinds)
        if (k.view == view) text = k.name;
    if (window > 0) text += ":" + std::to_string(window);
    if (summaries > 0) text += "," + std::to_string(summaries);
    if (tokens > 1) text += "," + std::to_string(tokens);
    return text;
}

LayerKinds parse_attention(const std::string& text, const std::string& flag) {
    std::vector<std::string> words;
    for (const std::string& part : split_at(text, ',')) {
        if (!words.empty() && begins_with_digit(part))
            words.back() += "," + part;
        else
            words.push_back(part);
    }
    LayerKinds kinds;
    for (const std::string& word : words) kinds.push_back(kind_of(word, flag));
    return kinds;
}

LayerKinds for_layers(const LayerKinds& kinds, int layers, const std::string& flag) {
    const auto n = static_cast<std::size_t>(layers);
    if (kinds.size() <= 1) return LayerKinds(n, kinds.empty() ? AttentionKind{} : kinds[0]);
    if (kinds.size() != n)
        fail_with(ErrorKind::usage, "give one word for all layers, or one for each", flag, " ",
                  name_of(kinds), ": ", kinds.size(), " words for ", layers, " layers");
    return kinds;
}

std::string name_of(const LayerKinds& kinds) {
    std::string text;
    for (const AttentionKind& k : kinds) text += (text.empty() ? "" : ",") + k.name();
    return text.empty() ? "global" : text;
}

bool all_global(const LayerKinds& kinds) {
    return std::all_of(kinds.begin(), kinds.end(),
                       [](const AttentionKind& k) { return k == AttentionKind{}; });
}

bool any_is(const LayerKinds& kinds, LayerView view) {
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](const AttentionKind& k) { return k.view == view; });
}

SharedMeans means_of(const AttentionKind& kind, const Segments& segments) {
    if (kind.view != LayerView::expanded) return nullptr;
    return std::make_shared<const ExpandedWindow>(segments, kind.window, kind.summaries);
}

Sight own_sight(const AttentionKind& kind, const Segments& s) {
    switch (kind.view) {
        case LayerView::global:
            break;
        case LayerView::window:
            return window(s, kind.window, kind.window);
        case LayerView::expanded: {
            const SharedMeans means = means_of(kind, s);
            return {expanded_self(*means, s), means};
        }
        case LayerView::hybrid: {
            const std::vector<std::int64_t> first = first_rows_of(kind.tokens);
            return unite(unite(window(s, kind.window, kind.window), columns(s, first)),
                         global_rows(s, first));
        }
        case LayerView::hard:
            return of_one_place(everything(s, s));
    }
    return everything(s, s);
}

Sight past_sight(const AttentionKind& kind, const Visibility& past) {
    expect(kind.view != LayerView::expanded,
           "past_sight: the means of an expanded window look ahead");
    if (kind.view == LayerView::hard) return of_one_place(past);
    return kind.view == LayerView::global ? past : narrowed(past, kind.window, kind.tokens);
}

Sight source_sight(const AttentionKind& kind, const AskingRows& at, const Segments& source,
                   const SharedMeans& means, const SourceReading& reading) {
    switch (kind.view) {
        case LayerView::global:
            break;
        case LayerView::window:
        case LayerView::hybrid:
            return window_of(at, source, kind.window, kind.tokens, reading);
        case LayerView::expanded:
            expect(means != nullptr && reading.wait == 0,
                   "source_sight: an expanded window needs its means, of a source read whole");
            return {expanded_of(at, source, *means), means};
        case LayerView::hard:
            return of_one_place(all_of(at, source, reading));
    }
    return all_of(at, source, reading);
}

}  // namespace fovea
