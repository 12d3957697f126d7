#include "fovea/ops/attention/probe.h"

#include <cmath>
#include <limits>

#include "fovea/base/threads.h"
#include "fovea/ops/attention/attention_plan.h"

namespace fovea {
namespace {

thread_local Probe* current = nullptr;

}  // namespace

Probe::Probe() : outer_(current) { current = this; }
Probe::~Probe() { current = outer_; }

const AttentionPlan& Probe::plan(std::size_t call) const {
    expect(call < calls_.size(), "probe: call ", call, " but ", calls_.size(), " were seen");
    return *calls_[call].plan;
}

const std::string& Probe::name(std::size_t call) const {
    plan(call);
    return calls_[call].name;
}

int Probe::heads(std::size_t call) const { return plan(call).heads; }

const Visibility& Probe::visibility(std::size_t call, int head) const {
    const AttentionPlan& p = plan(call);
    expect(head >= 0 && head < p.heads, "probe: head ", head, " of ", p.heads);
    return p.of_head(head);
}

Ragged Probe::map(std::size_t call, int head) const {
    const AttentionPlan& p = plan(call);
    const Visibility& sees = visibility(call, head);
    const Segments rows = sees.visible_counts();
    Tensor values({rows.total()});
    float* w = values.write();
    p.scores(head, w);
    const VisibilityView view = sees.view();
    parallel_for(rows.count(), 64, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            float* row = w + rows.begin(i);
            const std::int64_t n = rows.length(i);
            float max = -std::numeric_limits<float>::infinity();
            for (std::int64_t j = 0; j < n; ++j) max = std::max(max, row[j]);
            double sum = 0;
            for (std::int64_t j = 0; j < n; ++j) sum += std::exp(static_cast<double>(row[j]) - max);
            for (std::int64_t j = 0; j < n; ++j)
                row[j] = static_cast<float>(std::exp(static_cast<double>(row[j]) - max) / sum);
            if (!p.score().has_factor()) continue;
            std::int64_t at = 0;
            for (const KeyInterval& x : view.of_row(i))
                for (std::int64_t j = x.begin; j < x.end; ++j)
                    row[at++] *= p.score().factor(head, i, j);
        }
    });
    return {values, rows};
}

void report_to_probe(const std::shared_ptr<const AttentionPlan>& plan) {
    if (current) current->calls_.push_back({plan->options.name, plan});
}

}  // namespace fovea
