#include "fovea/tasks/vectors_text.h"

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

std::uint64_t mixed(std::uint64_t z) {  // splitmix64
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

}  // namespace

VectorsText::VectorsText(const WordCorpus& corpus, const WordWindowOptions& options)
    : corpus_(corpus), options_(options) {
    for (const std::int64_t count : corpus.counts) {
        const double share = static_cast<double>(count) / static_cast<double>(corpus.read);
        const double t = options.sample / share;
        keep_.push_back(options.sample > 0 ? static_cast<float>(std::sqrt(t) + t) : 1.0f);
    }
}

void VectorsText::draw_line(std::int64_t line, std::int64_t epoch) {
    words_.clear();
    widths_.clear();
    names_.clear();
    const std::uint64_t text = static_cast<std::uint64_t>(corpus_.tokens.size());
    for (std::int64_t i = corpus_.lines[static_cast<std::size_t>(line)];
         i < corpus_.lines[static_cast<std::size_t>(line) + 1]; ++i) {
        const std::int32_t word = corpus_.tokens[static_cast<std::size_t>(i)];
        const std::uint64_t name =
            static_cast<std::uint64_t>(epoch) * text + static_cast<std::uint64_t>(i);
        const std::uint64_t bits = mixed(mixed(options_.seed) ^ name);
        const float u = static_cast<float>(bits >> 40) * 0x1p-24f;
        if (u > keep_[static_cast<std::size_t>(word)]) continue;
        words_.push_back(word);
        widths_.push_back(
            1 + static_cast<std::int32_t>(
                    ((bits & 0xffffffffu) * static_cast<std::uint64_t>(options_.window)) >> 32));
        names_.push_back(name);
    }
}

// The windows of the line go to the step as far as it has room; each part takes the words along
// that its windows reach.
void VectorsText::add_line(float rate, NegativeSampling& sampling, NegativeSampling::Loss& loss) {
    const auto size = static_cast<std::int32_t>(words_.size());
    for (std::int32_t first = 0; first < size;) {
        const auto room = options_.step_windows - static_cast<std::int32_t>(step_windows_.size());
        const std::int32_t last = std::min(size, first + room);
        const std::int32_t from = std::max(0, first - options_.window),
                           to = std::min(size, last + options_.window);
        const std::int32_t shift = static_cast<std::int32_t>(step_words_.size()) - from;
        step_words_.insert(step_words_.end(), words_.begin() + from, words_.begin() + to);
        for (std::int32_t c = first; c < last; ++c) {
            const auto at = static_cast<std::size_t>(c);
            step_windows_.push_back({c + shift, std::max(0, c - widths_[at]) + shift,
                                     std::min(size, c + widths_[at] + 1) + shift, names_[at]});
        }
        first = last;
        if (static_cast<int>(step_windows_.size()) >= options_.step_windows)
            flush(rate, sampling, loss);
    }
}

void VectorsText::flush(float rate, NegativeSampling& sampling, NegativeSampling::Loss& loss) {
    const NegativeSampling::Loss step = sampling.step(step_words_, step_windows_, rate);
    loss.sum += step.sum;
    loss.pairs += step.pairs;
    step_words_.clear();
    step_windows_.clear();
}

NegativeSampling::Loss VectorsText::train(std::span<const std::int64_t> lines, std::int64_t epoch,
                                          float rate, NegativeSampling& sampling) {
    NegativeSampling::Loss loss;
    for (const std::int64_t line : lines) {
        draw_line(line, epoch);
        add_line(rate, sampling, loss);
    }
    flush(rate, sampling, loss);
    return loss;
}

}  // namespace fovea
