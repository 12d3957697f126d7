#include "fovea/text/steps/word_splitter.h"

#include <mutex>
#include <vector>

#include "fovea/base/utf8.h"
#include "fovea/text/steps/pre_tokenizers.h"

namespace fovea {

struct WordSplitter::State {
    struct Buffers {
        text::NormalizedText text;
        text::PreTokenizerScratch scratch;
        std::vector<text::ByteRange> words;
    };
    explicit State(const TokenizerSpec& spec)
        : normalizer(spec.normalizer), pre_tokenizer(spec.pre_tokenizer) {}

    text::NormalizerChain normalizer;
    text::PreTokenizerChain pre_tokenizer;
    std::mutex mutex;
    std::vector<std::unique_ptr<Buffers>> idle;
};

WordSplitter::WordSplitter(const TokenizerSpec& spec) : state_(std::make_unique<State>(spec)) {}
WordSplitter::WordSplitter(WordSplitter&&) noexcept = default;
WordSplitter& WordSplitter::operator=(WordSplitter&&) noexcept = default;
WordSplitter::~WordSplitter() = default;

void WordSplitter::split(std::string_view text,
                         const std::function<void(std::string_view)>& word) const {
    std::unique_ptr<State::Buffers> b;
    {
        const std::lock_guard lock(state_->mutex);
        if (!state_->idle.empty()) {
            b = std::move(state_->idle.back());
            state_->idle.pop_back();
        }
    }
    if (!b) b = std::make_unique<State::Buffers>();
    const bool track = state_->pre_tokenizer.needs_origins();
    if (is_utf8(text))
        b->text.assign(text, 0, track);
    else
        b->text.assign(repair_utf8(text), 0, track);
    state_->normalizer.apply(b->text, b->scratch.normalizer);
    state_->pre_tokenizer.apply(b->text, b->words, b->scratch, false);
    const std::string_view all = b->text.text();
    for (const text::ByteRange& w : b->words) word(all.substr(w.begin, w.end - w.begin));
    const std::lock_guard lock(state_->mutex);
    state_->idle.push_back(std::move(b));
}

}  // namespace fovea
