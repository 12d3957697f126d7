#include "fovea/infer/language_model_stepper.h"

#include <utility>

#include "fovea/base/error.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {

bool drop_oldest_half(Ids& text, std::int64_t context) {
    if (static_cast<std::int64_t>(text.size()) < context) return false;
    text.erase(text.begin(), text.end() - context / 2);
    return true;
}

void expect_prompt_fits(std::size_t tokens, std::int64_t context) {
    if (static_cast<std::int64_t>(tokens) > context)
        fail_with(ErrorKind::bad_input, "shorten it, or take a model with a longer context",
                  "a prompt has ", tokens, " tokens, but the model takes ", context);
}

LanguageModelStepper::LanguageModelStepper(const TextEncoder& model, Options options)
    : model_(model), options_(std::move(options)), caches_(static_cast<std::size_t>(model.layers)) {
    expect(model.step && model.words,
           "decode: the model does not read from left to right, or has no head over words");
}

Tensor LanguageModelStepper::start(std::span<const Ids> prompts) {
    Ids tokens;
    for (const Ids& prompt : prompts) {
        expect_prompt_fits(prompt.size(), model_.max_length);
        tokens.insert(tokens.end(), prompt.begin(), prompt.end());
    }
    texts_.assign(prompts.begin(), prompts.end());
    return run(tokens, history_.start(prompts));
}

Tensor LanguageModelStepper::step(const Ids& tokens, std::span<const std::int64_t> parents) {
    expect(tokens.size() == parents.size(), "decode: ", tokens.size(), " tokens for ",
           parents.size(), " hypotheses");
    std::vector<Ids> texts;
    std::vector<std::int64_t> anew(parents.size(), 0);  // tokens of a text that is read again
    Ids read;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        Ids& text = texts.emplace_back(texts_[static_cast<std::size_t>(parents[i])]);
        const bool slides = drop_oldest_half(text, model_.max_length);
        text.push_back(tokens[i]);
        if (slides) anew[i] = static_cast<std::int64_t>(text.size());
        read.insert(read.end(), slides ? text.begin() : text.end() - 1, text.end());
    }
    texts_ = std::move(texts);
    return run(read, history_.advance(parents, anew));
}

Tensor LanguageModelStepper::run(const Ids& tokens, const Visibility& sees) {
    const PrecisionScope scope(precision_);
    const Segments& fresh = history_.fresh();
    for (KvCache& cache : caches_) history_.prepare(cache, model_.width, model_.width);
    Tensor rows = model_.step({tokens, fresh, history_.positions(), sees}, caches_);
    if (fresh.total() > fresh.count()) {  // of what was read only what follows is asked for
        Ids last;
        for (std::int64_t i = 0; i < fresh.count(); ++i)
            last.push_back(static_cast<std::int32_t>(fresh.end(i) - 1));
        rows = gather_rows(rows, last);
    }
    return model_.words(rows);
}

}  // namespace fovea
