#pragma once
// Questions and contexts as a span model reads them: tokens, windows, batches. Each different
// context is kept once.
// Not thread-safe while texts are added; reading is safe from many threads afterwards.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fovea/data/word_forms.h"
#include "fovea/tasks/answer.h"

namespace fovea {

struct ReadText {
    Ids ids, forms;                 // forms: for models that look at words
    std::vector<TextSpan> offsets;  // bytes of the text
};

// A question and a stretch of its context.
struct ReadingWindow {
    std::size_t question = 0;
    std::int64_t from = 0, count = 0;  // tokens of the context
    std::int64_t tokens = 0;           // all of them
    std::int64_t none = 0, first = 0;  // rows of the scores: "no answer", the first of the context
    std::int64_t judged_from = 0, judged_to = 0;  // tokens whose beginning this window judges
};

class AnswerTexts {
public:
    explicit AnswerTexts(const AnswerModel& model);

    // Valid UTF-8. Adds the question's windows: none where the context has no token.
    void add(const std::string& question, const std::shared_ptr<const std::string>& context);

    std::size_t questions() const { return asked_.size(); }
    const std::vector<ReadingWindow>& windows() const { return windows_; }
    std::int64_t windows_of(std::size_t question) const;
    bool was_cut(std::size_t question) const { return asked_[question].cut; }
    const std::string& context(std::size_t question) const {
        return *contexts_[asked_[question].context].text;
    }
    const ReadText& context_tokens(std::size_t question) const {
        return contexts_[asked_[question].context].tokens;
    }
    const ReadText& question_tokens(std::size_t question) const { return asked_[question].tokens; }

    // windows()[indices[0]], …; a window's number names its dropout masks.
    ReadingBatch pack(std::span<const std::int64_t> indices) const;
    // The rows that a window should choose: beginning and end of the answer, or "none" twice where
    // the window does not hold it whole.
    std::pair<std::int32_t, std::int32_t> rows_of(const ReadingWindow& window,
                                                  const AnswerText* answer) const;

private:
    struct Asked {
        ReadText tokens;
        std::size_t context = 0;
        std::int64_t first_window = 0, windows = 0;
        bool cut = false;
    };
    struct Context {
        std::shared_ptr<const std::string> text;
        ReadText tokens;
    };
    ReadText tokens_of(const std::string& text);
    std::size_t context_number(const std::shared_ptr<const std::string>& text);
    void add_windows(std::size_t question);
    void append_encoder_window(const ReadingWindow& w, Ids& ids, Ids& types) const;
    void add_words(std::span<const std::int64_t> indices, ReadingBatch& batch) const;

    const AnswerModel* model_;
    WordForms forms_;
    std::int32_t no_word_ = 0;  // the form of the row that stands for "no answer"
    std::vector<Asked> asked_;
    std::vector<Context> contexts_;
    std::unordered_map<std::string_view, std::size_t> numbers_;
    std::vector<ReadingWindow> windows_;
};

}  // namespace fovea
