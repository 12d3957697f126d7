// Translations that are seen while they are made.
#include <string_view>
#include <utility>

#include "fovea/tasks/translate_search.h"

namespace fovea {
namespace {

// The text grows token by token: what is new of it and cannot change any more.
class GrowingText {
public:
    explicit GrowingText(std::function<void(const std::string& piece, bool last)> to)
        : to_(std::move(to)) {}

    void show(const std::string& text) {
        if (!text.starts_with(shown_)) return;  // a tokenizer that changes its mind: at the end
        const std::size_t whole = whole_characters(text);
        if (whole <= shown_.size()) return;
        to_(text.substr(shown_.size(), whole - shown_.size()), false);
        shown_ = text.substr(0, whole);
    }
    void end(const std::string& text) {
        to_(text.starts_with(shown_) ? text.substr(shown_.size()) : "", true);
    }

private:
    // Bytes of the text up to a character that is not complete: tokens may be parts of one.
    static std::size_t whole_characters(const std::string& text) {
        const std::string_view replacement = "\xEF\xBF\xBD";
        std::size_t n = text.size();
        while (std::string_view(text).substr(0, n).ends_with(replacement)) n -= replacement.size();
        return n;
    }

    std::function<void(const std::string&, bool)> to_;
    std::string shown_;
};

}  // namespace

std::vector<TranslatedText> translate_streamed(std::span<const Seq2SeqModel* const> models,
                                               std::span<const std::string> texts,
                                               const TranslateOptions& options) {
    std::vector<TranslatedText> out;
    const Seq2SeqModel& first = *models[0];
    for (std::size_t i = 0; i < texts.size(); ++i) {
        TranslateOptions one = options;
        one.on_text = {};
        one.progress = {};
        one.first_text = options.first_text + i;
        if (!options.prefixes.empty()) one.prefixes = {options.prefixes[i]};
        if (!options.constraints.empty()) one.constraints = {options.constraints[i]};
        GrowingText growing(
            [&](const std::string& piece, bool last) { options.on_text(i, piece, last); });
        const std::vector<TranslateSource> source = translate_sources(first, texts.subspan(i, 1));
        Ids tokens;
        SearchHooks hooks{.stop = options.stop};
        hooks.on_token = [&](const SearchEvent& e) {
            if (e.end) return true;
            tokens.push_back(e.token);
            growing.show(text_of_tokens(first, tokens, source[0]));
            return true;
        };
        out.push_back(translate_batches(models, texts.subspan(i, 1), one, hooks)[0]);
        growing.end(out.back().n_best.empty() ? "" : out.back().n_best[0].text);
        if (options.progress)
            options.progress(static_cast<std::int64_t>(i + 1),
                             static_cast<std::int64_t>(texts.size()));
    }
    return out;
}

}  // namespace fovea
