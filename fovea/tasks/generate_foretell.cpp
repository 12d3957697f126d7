// Perplexity of a stream of tokens by sliding windows: window w shows tokens [w·stride, w·stride +
// context) and foretells those that no window before it has reached. This is the recipe of Hugging
// Face's documentation for models of fixed context, with each token's loss counted exactly once.
#include <algorithm>
#include <numeric>

#include "fovea/base/error.h"
#include "fovea/ops/loss/cross_entropy.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/tasks/generate.h"
#include "fovea/tensor/token_batch.h"

namespace fovea {
namespace {

struct Window {
    std::size_t begin, end;  // tokens it shows
    std::size_t from;        // the first token it foretells
};

std::vector<Window> windows_of(std::size_t tokens, std::size_t context, std::size_t stride) {
    std::vector<Window> all;
    std::size_t reached = 0;
    for (std::size_t begin = 0; reached < tokens; begin += stride) {
        const std::size_t end = std::min(begin + context, tokens);
        all.push_back({begin, end, std::max(reached, begin + 1)});
        reached = end;
    }
    return all;
}

// Rows of scores over a large vocabulary are made in portions: they are the largest thing here.
// One sum over all of them in order, so that it does not change with the batch.
void add_nats(const TextEncoder& network, const Tensor& rows, const Ids& which, const Ids& labels,
              double& nats) {
    constexpr std::size_t portion = 128;
    for (std::size_t at = 0; at < which.size(); at += portion) {
        const std::size_t n = std::min(portion, which.size() - at);
        const auto part = [&](const Ids& ids) {
            return Ids(ids.begin() + static_cast<std::ptrdiff_t>(at),
                       ids.begin() + static_cast<std::ptrdiff_t>(at + n));
        };
        const Tensor losses = cross_entropy(network.words(gather_rows(rows, part(which))),
                                            part(labels), {.reduction = Reduction::none});
        for (const float loss : losses.span()) nats += loss;
    }
}

// Windows that are read together, and what they foretell.
struct Portion {
    std::vector<Ids> shown;
    Ids rows;                        // of the packed windows: each foretells the token behind it
    Ids labels;                      // those tokens
    Ids order;                       // of each window: from left to right
    std::vector<std::int64_t> told;  // of each window: how many tokens

    void add(const Ids& tokens, const Window& v) {
        const auto first_row = static_cast<std::int32_t>(order.size());
        shown.emplace_back(tokens.begin() + static_cast<std::ptrdiff_t>(v.begin),
                           tokens.begin() + static_cast<std::ptrdiff_t>(v.end));
        for (std::size_t t = v.from; t < v.end; ++t) {  // row t - 1 foretells token t
            rows.push_back(first_row + static_cast<std::int32_t>(t - 1 - v.begin));
            labels.push_back(tokens[t]);
        }
        for (std::size_t i = 0; i < v.end - v.begin; ++i)
            order.push_back(static_cast<std::int32_t>(i));
        told.push_back(static_cast<std::int64_t>(v.end - v.from));
    }

    // A model that tells tokens in any order has rows of its own for them, in this order.
    void add_nats_to(double& nats, const TextEncoder& network) const {
        if (network.step) return add_nats(network, network.rows(pack(shown)), rows, labels, nats);
        Ids all(labels.size());
        std::iota(all.begin(), all.end(), 0);
        add_nats(network, network.targets({pack(shown), order, told}), all, labels, nats);
    }
};

}  // namespace

ForetoldText foretell(const GenerateModel& model, const Ids& tokens, const WindowOptions& options,
                      const PredictControl& control) {
    const TextEncoder& network = *model.network;
    ForetoldText out;
    out.context = options.context > 0 ? options.context : network.max_length;
    out.stride = options.stride > 0 ? options.stride : std::max<std::int64_t>(1, out.context / 2);
    out.tokens = static_cast<std::int64_t>(tokens.size());
    if (out.context < 2 || out.context > network.max_length)
        fail_with(ErrorKind::usage, text_of("a number from 2 to ", network.max_length),
                  "--context is ", out.context, ", but the model takes ", network.max_length,
                  " tokens");
    if (out.stride > out.context)
        fail_with(ErrorKind::usage, text_of("a number from 1 to ", out.context), "--stride is ",
                  out.stride, ", which would jump over tokens: the context is ", out.context);
    const PrecisionScope scope(model.precision);
    const auto windows = windows_of(tokens.size(), static_cast<std::size_t>(out.context),
                                    static_cast<std::size_t>(out.stride));
    const auto together =
        static_cast<std::size_t>(std::max<std::int64_t>(1, options.batch_tokens / out.context));
    for (std::size_t w = 0; w < windows.size(); w += together) {
        if (control.stop && control.stop->load()) break;
        const std::size_t last = std::min(w + together, windows.size());
        Portion portion;
        for (std::size_t i = w; i < last; ++i) portion.add(tokens, windows[i]);
        portion.add_nats_to(out.nats, network);
        out.scored += static_cast<std::int64_t>(portion.labels.size());
        if (control.progress)
            control.progress(static_cast<std::int64_t>(last),
                             static_cast<std::int64_t>(windows.size()));
    }
    return out;
}

}  // namespace fovea
