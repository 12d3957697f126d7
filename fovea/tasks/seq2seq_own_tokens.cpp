#include "fovea/tasks/seq2seq_own_tokens.h"

#include <algorithm>

#include "fovea/base/philox.h"
#include "fovea/ops/without_gradient.h"

namespace fovea {
namespace {

constexpr std::int32_t not_to_count = -100;  // CrossEntropyOptions::ignore
enum Purpose : std::uint32_t {
    place_of_own_tokens = 1,
    direction_of_target = 2,
    share_of_own_tokens = 3
};

std::size_t own_place(std::int64_t i) { return static_cast<std::size_t>(i); }

// The most probable token of a row; padding and the direction are never one.
std::int32_t best_token(const Tensor& logits, std::int64_t row, const Seq2SeqNetwork& n) {
    const float* first = logits.data() + row * logits.cols();
    std::int32_t best = -1;
    for (std::int32_t w = 0; w < logits.cols(); ++w) {
        if ((w == n.pad_token && w != n.end_token) || w == n.reverse_token) continue;
        if (best < 0 || first[w] > first[best]) best = w;
    }
    return best;
}

// What the model says by itself behind each prompt: at most limits[i] tokens, none behind an end.
std::vector<Ids> continued(const Seq2SeqNetwork& network, const Seq2SeqBatch& batch,
                           const std::vector<Ids>& prompts,
                           const std::vector<std::int64_t>& limits) {
    std::vector<Ids> own(prompts.size());
    TokenBatch sources;
    sources.tokens = batch.source;
    sources.segments = batch.source_segments;
    const auto stepper = network.stepper(sources, batch.copies);
    Tensor logits = stepper->start(prompts);
    std::vector<std::size_t> alive(prompts.size());  // the prompt of each row of the logits
    for (std::size_t i = 0; i < alive.size(); ++i) alive[i] = i;
    while (true) {
        Ids tokens;
        std::vector<std::int64_t> parents;
        std::vector<std::size_t> next;
        for (std::size_t row = 0; row < alive.size(); ++row) {
            Ids& said = own[alive[row]];
            if (static_cast<std::int64_t>(said.size()) >= limits[alive[row]]) continue;
            const std::int32_t token = best_token(logits, static_cast<std::int64_t>(row), network);
            if (token == network.end_token) continue;
            said.push_back(token);
            if (static_cast<std::int64_t>(said.size()) == limits[alive[row]]) continue;
            tokens.push_back(token);
            parents.push_back(static_cast<std::int64_t>(row));
            next.push_back(alive[row]);
        }
        if (tokens.empty()) return own;
        alive = std::move(next);
        logits = stepper->step(tokens, parents);
    }
}

Ids target_rows(const Ids& all, const Segments& s, std::int64_t i) {
    return Ids(all.begin() + s.begin(i), all.begin() + s.end(i));
}

// Turns the target of sequence i round, in place.
void reverse_target(Seq2SeqBatch& b, std::int64_t i, std::int32_t direction) {
    const std::int64_t begin = b.target_segments.begin(i), end = b.target_segments.end(i);
    std::reverse(b.labels.begin() + begin, b.labels.begin() + end - 1);  // the end stays
    std::reverse(b.input.begin() + begin + 1, b.input.begin() + end);
    b.input[own_place(begin)] = direction;
}

}  // namespace

double EpochDraws::draw(std::uint64_t sample, std::uint32_t purpose) const {
    const PhiloxBlock r =
        philox({static_cast<std::uint32_t>(sample), static_cast<std::uint32_t>(sample >> 32),
                static_cast<std::uint32_t>(epoch), purpose},
               seed);
    return static_cast<double>(r[0]) * 0x1p-32;
}

Seq2SeqBatch with_own_tokens(const Seq2SeqNetwork& network, const Seq2SeqBatch& truth,
                             const OwnTokens& how, const EpochDraws& draws) {
    const Segments& targets = truth.target_segments;
    std::vector<Ids> prompts;
    std::vector<std::int64_t> limits;
    std::vector<bool> plain;
    for (std::int64_t i = 0; i < targets.count(); ++i) {
        const std::int64_t n = targets.length(i);
        plain.push_back(draws.draw(targets.sample(i), share_of_own_tokens) >= how.share);
        const auto drawn = static_cast<std::int64_t>(
            draws.draw(targets.sample(i), place_of_own_tokens) * static_cast<double>(n));
        const std::int64_t c = plain.back() ? n - 1 : drawn;
        const Ids input = target_rows(truth.input, targets, i);
        prompts.emplace_back(input.begin(), input.begin() + c + 1);
        limits.push_back(std::min(how.lag, n - 1 - c));
    }
    std::vector<Ids> own;
    without_gradient([&] { own = continued(network, truth, prompts, limits); });

    Seq2SeqBatch b = truth;
    b.input.clear();
    b.labels.clear();
    std::vector<std::int64_t> lengths;
    std::vector<std::uint64_t> samples;
    for (std::int64_t i = 0; i < targets.count(); ++i) {
        const Ids& given = prompts[own_place(i)];
        b.input.insert(b.input.end(), given.begin(), given.end());
        for (const std::int32_t token :
             own[own_place(i)])  // words of the source are read as unknown
            b.input.push_back(token < network.target_vocabulary ? token : network.unknown_token);
        const auto length = static_cast<std::int64_t>(given.size() + own[own_place(i)].size());
        const Ids labels = target_rows(truth.labels, targets, i);
        const std::size_t first = plain[own_place(i)] ? 0 : given.size() - 1;  // that counts
        b.labels.insert(b.labels.end(), first, not_to_count);
        b.labels.insert(b.labels.end(), labels.begin() + static_cast<std::int64_t>(first),
                        labels.begin() + length);
        lengths.push_back(length);
        samples.push_back(targets.sample(i));
    }
    b.target_segments = Segments::of_lengths(lengths, samples);
    return b;
}

Seq2SeqBatch with_reversed(const Seq2SeqBatch& batch, std::int32_t direction, double share,
                           const EpochDraws& draws) {
    Seq2SeqBatch b = batch;
    for (std::int64_t i = 0; i < b.target_segments.count(); ++i)
        if (draws.draw(b.target_segments.sample(i), direction_of_target) < share)
            reverse_target(b, i, direction);
    return b;
}

Seq2SeqBatch without_sources(const Seq2SeqBatch& batch, std::int32_t end) {
    Seq2SeqBatch b = batch;
    const auto n = own_place(batch.source_segments.count());
    b.source.assign(n, end);
    if (!b.copies.empty()) b.copies.assign(n, end);
    std::vector<std::uint64_t> samples;
    for (std::int64_t i = 0; i < batch.source_segments.count(); ++i)
        samples.push_back(batch.source_segments.sample(i));
    b.source_segments = Segments::of_lengths(std::vector<std::int64_t>(n, 1), samples);
    return b;
}

Seq2SeqBatch all_reversed(const Seq2SeqBatch& batch, std::int32_t direction) {
    Seq2SeqBatch b = batch;
    for (std::int64_t i = 0; i < b.target_segments.count(); ++i) reverse_target(b, i, direction);
    return b;
}

}  // namespace fovea
