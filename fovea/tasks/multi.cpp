#include "fovea/tasks/multi.h"

#include <cmath>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/files.h"
#include "fovea/ops/arithmetic.h"

namespace fovea {
namespace {

// Passes beyond the first of an epoch get numbers that no epoch has.
constexpr std::int64_t further_pass = std::int64_t{1} << 20;

// How many batches of a task with this share have come before step `step` of the epoch.
std::int64_t batches_before(double share, std::int64_t step) {
    return static_cast<std::int64_t>(std::floor(share * static_cast<double>(step)));
}

constexpr AuxiliaryTask auxiliary[] = {
    {"language-model", "tells hidden words of the texts", make_language_model_part},
    {"distance", "tells how far positions stand apart", make_distance_part},
    {"tags", "tells a tag for each word", make_tags_part},
    {"brackets", "tells where constituents begin and end", make_brackets_part},
    {"heads", "tells each word's head in a tree of dependencies", make_heads_part},
};

}  // namespace

std::span<const AuxiliaryTask> auxiliary_tasks() { return auxiliary; }

TaskMix::TaskMix(std::vector<TaskShare> parts) {
    expect(!parts.empty(), "several at once: there is no task");
    std::set<std::string> names;
    for (TaskShare& p : parts) {
        expect(names.insert(p.name).second, "several at once: two tasks are called ", p.name);
        expect(p.weight >= 0 && p.share >= 0 && p.rate >= 0, "several at once: ", p.name,
               " has weight ", p.weight, ", share ", p.share, ", rate ", p.rate);
        Part part;
        static_cast<TaskShare&>(part) = std::move(p);
        parts_.push_back(std::move(part));
    }
    parts_[0].share = 1;
    collect_parameters();
}

void TaskMix::collect_parameters() {
    std::unordered_map<std::uint64_t, std::string> known;  // by tensor: its name here
    for (std::size_t i = 0; i < parts_.size(); ++i) {
        const ParameterStore& own = *parts_[i].task.store;
        for (const std::string& name : own.names()) {
            const Tensor& t = own.at(name);
            if (const auto at = known.find(t.id()); at != known.end()) {
                owners_.at(at->second).shared = true;
                continue;
            }
            const std::string here =
                i == 0 ? name : text_of(beside_prefix, parts_[i].name, ".", name);
            store_.put(here, t);
            known[t.id()] = here;
            owners_[here] = {i, name, false};
        }
    }
}

ParameterRule TaskMix::rule_of(const std::string& name) const {
    const Owner& owner = owners_.at(name);
    const Part& part = parts_[owner.part];
    ParameterRule rule;
    if (part.task.parameter_rules) rule = part.task.parameter_rules(owner.name);
    if (!owner.shared) rule.rate_factor *= part.rate;
    return rule;
}

std::int64_t TaskMix::begin(std::int64_t epoch) {
    std::int64_t steps = 0;
    for (Part& p : parts_) {
        p.passes.clear();
        const std::int64_t wanted = batches_before(p.share, steps);
        for (std::int64_t have = 0; p.passes.empty() || have < wanted;) {
            const auto k = static_cast<std::int64_t>(p.passes.size());
            p.begun = epoch + k * further_pass;
            p.passes.push_back({p.begun, p.task.begin_epoch(p.begun)});
            have += p.passes.back().batches;
            expect(p.passes.back().batches > 0, "several at once: ", p.name, " has no batch");
        }
        if (&p == &parts_[0]) steps = p.passes[0].batches;
    }
    return steps;
}

Tensor TaskMix::loss_of(Part& p, std::int64_t batch) {
    std::size_t k = 0;
    while (batch >= p.passes[k].batches) batch -= p.passes[k++].batches;
    if (p.begun != p.passes[k].number) {
        p.begun = p.passes[k].number;
        p.task.begin_epoch(p.begun);
    }
    return p.task.loss(batch);
}

Tensor TaskMix::loss(std::int64_t step) {
    Tensor sum;
    for (Part& p : parts_) {
        const std::int64_t first = batches_before(p.share, step),
                           last = batches_before(p.share, step + 1);
        if (p.weight == 0) continue;
        for (std::int64_t b = first; b < last; ++b) {
            const Tensor loss =
                static_cast<float>(p.weight / static_cast<double>(last - first)) * loss_of(p, b);
            sum = sum.id() == 0 ? loss : sum + loss;
        }
    }
    expect(sum.id() != 0, "several at once: no task counts in step ", step);
    return sum;
}

Evaluation TaskMix::evaluate(bool mean) {
    Evaluation e;
    double sum = 0;
    int counted = 0;
    for (Part& p : parts_) {
        if (!p.task.evaluate) continue;
        const Evaluation own = p.task.evaluate();
        if (e.name.empty()) e = own;
        e.extra[p.name] = {{"metric", own.name}, {"value", own.value}, {"loss", own.loss}};
        if (own.higher_is_better) sum += own.value, ++counted;
    }
    if (mean && counted > 0) {
        e.name = "mean";
        e.value = sum / counted;
        e.higher_is_better = true;
    }
    return e;
}

void TaskMix::save(const std::string& path) const {
    for (const Part& p : parts_) {
        if (!p.task.save_model) continue;
        const bool first = &p == &parts_[0];
        p.task.save_model(first ? path : join_path(join_path(parent_path(path), "models"), p.name));
    }
}

TrainTask TaskMix::task(const std::string& metric) {
    TrainTask t;
    t.store = &store_;
    t.fingerprint = Json::object();
    bool measured = false;
    for (Part& p : parts_) {
        t.fingerprint[p.name] = p.task.fingerprint;
        t.guessing_loss += p.weight * p.task.guessing_loss;
        measured = measured || p.task.evaluate;
    }
    t.begin_epoch = [this](std::int64_t epoch) { return begin(epoch); };
    t.unit = parts_[0].task.unit;
    t.batch_weight = [this](std::int64_t step) { return parts_[0].task.batch_weight(step); };
    t.loss = [this](std::int64_t step) { return loss(step); };
    if (measured) t.evaluate = [this, mean = metric == "mean"] { return evaluate(mean); };
    t.save_model = [this](const std::string& path) { save(path); };
    t.parameter_rules = [this](const std::string& name) { return rule_of(name); };
    return t;
}

}  // namespace fovea
