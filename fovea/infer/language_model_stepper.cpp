#include "fovea/infer/language_model_stepper.h"

#include <utility>

#include "fovea/base/error.h"
#include "fovea/ops/rows/gather.h"

namespace fovea {

LanguageModelStepper::LanguageModelStepper(const TextEncoder& model, Options options)
    : model_(model), options_(std::move(options)), caches_(static_cast<std::size_t>(model.layers)) {
    expect(model.step && model.words,
           "decode: the model does not read from left to right, or has no head over words");
}

Tensor LanguageModelStepper::start(std::span<const Ids> prompts) {
    Ids tokens;
    for (const Ids& prompt : prompts) {
        if (prompt.size() > static_cast<std::size_t>(model_.max_length))
            fail_with(ErrorKind::bad_input, "shorten it, or take a model with a longer context",
                      "a prompt has ", prompt.size(), " tokens, but the model takes ",
                      model_.max_length);
        tokens.insert(tokens.end(), prompt.begin(), prompt.end());
    }
    return run(tokens, history_.start(prompts));
}

Tensor LanguageModelStepper::step(const Ids& tokens, std::span<const std::int64_t> parents) {
    expect(tokens.size() == parents.size(), "decode: ", tokens.size(), " tokens for ",
           parents.size(), " hypotheses");
    const Visibility sees = history_.advance(parents);
    for (const std::int64_t at : history_.positions().first)
        expect(at < model_.max_length, "decode: position ", at, " of a context of ",
               model_.max_length);
    return run(tokens, sees);
}

Tensor LanguageModelStepper::run(const Ids& tokens, const Visibility& sees) {
    const PrecisionScope scope(precision_);
    const Segments& fresh = history_.fresh();
    for (KvCache& cache : caches_) history_.prepare(cache, model_.width, model_.width);
    Tensor rows = model_.step({tokens, fresh, history_.positions(), sees}, caches_);
    if (fresh.total() > fresh.count()) {  // after prompts: only what follows them is asked for
        Ids last;
        for (std::int64_t i = 0; i < fresh.count(); ++i)
            last.push_back(static_cast<std::int32_t>(fresh.end(i) - 1));
        rows = gather_rows(rows, last);
    }
    return model_.words(rows);
}

}  // namespace fovea
