#include "fovea/ops/attention/probe.h"

#include <algorithm>
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

std::vector<std::string> Probe::names() const {
    std::vector<std::string> all;
    for (const Call& c : calls_)
        if (std::find(all.begin(), all.end(), c.name) == all.end()) all.push_back(c.name);
    return all;
}

std::vector<std::size_t> Probe::calls_of(std::string_view name) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < calls_.size(); ++i)
        if (calls_[i].name == name) found.push_back(i);
    return found;
}

std::size_t Probe::find(std::string_view name) const {
    const std::vector<std::size_t> found = calls_of(name);
    std::string seen;
    if (found.size() != 1)
        for (const std::string& other : names()) seen += (seen.empty() ? "" : ", ") + other;
    expect(found.size() == 1, "probe: ", found.size(), " calls of \"", name, "\" among: ", seen);
    return found.front();
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

Ragged Probe::scores(std::size_t call, int head) const {
    const Visibility& sees = visibility(call, head);
    const Segments seen = sees.visible_counts();
    std::vector<float> visible(static_cast<std::size_t>(seen.total()));
    plan(call).scores(head, visible.data());
    const VisibilityView view = sees.view();
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(sees.queries()));
    for (const VisibleGroup& g : view.groups)
        std::fill(lengths.begin() + g.q_begin, lengths.begin() + g.q_end, g.keys);
    const Segments rows = Segments::of_lengths(lengths);
    Tensor values = Tensor::full({rows.total()}, -std::numeric_limits<float>::infinity());
    float* to = values.write();
    for (std::int64_t i = 0; i < sees.queries(); ++i) {
        const float* from = visible.data() + seen.begin(i);
        for (const KeyInterval& x : view.of_row(i))
            for (std::int64_t j = x.begin; j < x.end; ++j) to[rows.begin(i) + j] = *from++;
    }
    return {values, rows};
}

bool probe_is_alive() { return current != nullptr; }

void report_to_probe(const std::shared_ptr<const AttentionPlan>& plan) {
    if (current) current->calls_.push_back({plan->options.name, plan});
}

}  // namespace fovea
