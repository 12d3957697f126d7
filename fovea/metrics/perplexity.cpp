#include "fovea/metrics/perplexity.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"
#include "fovea/metrics/counting.h"
#include "fovea/metrics/signature.h"

namespace fovea {

MetricScore perplexity_score(const ForetoldText& t) {
    expect_input(t.scored > 0, "perplexity: the text has ", t.tokens,
                 " tokens, but at least 2 are needed");
    Perplexity perplexity;
    perplexity.add(t.nats, t.scored);
    const double mean = perplexity.mean_loss();
    MetricScore s;
    s.name = "perplexity";
    s.value = perplexity.value();
    s.higher_is_better = false;
    s.signature =
        text_of("context:", t.context, "|stride:", t.stride, "|of:tokens|", signature_version);
    const double tokens_per_byte =
        static_cast<double>(t.tokens) / static_cast<double>(std::max<std::int64_t>(1, t.bytes));
    s.figures = {{"perplexity", s.value},
                 {"bits_per_byte", mean / std::log(2.0) * tokens_per_byte},
                 {"loss", mean}};
    return s;
}

}  // namespace fovea
