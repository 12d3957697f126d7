#pragma once
// Several tasks learned at once on one encoder (Caruana 1997). Each is a TrainTask like any other;
// their networks hold the same tensors where they share them (TrainedEncoder), so that gradients
// add up by themselves. An update takes a batch of the first task and, with it, as many of each
// other one as its share says:
//
//   loss = Σ_t weight_t · mean loss of t's batches
//
// Which batches meet is a function of the seed and the epoch alone: a run that is resumed, or runs
// on other threads, gives the same bits. Not thread-safe: it belongs to one run.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fovea/tasks/task.h"
#include "fovea/train/loop.h"

namespace fovea {

// What the parameters of tasks beside the first one are called in checkpoints: tasks.NAME.….
inline constexpr std::string_view beside_prefix = "tasks.";

struct TaskShare {
    std::string name;  // of its parameters, its figures and its folder
    TrainTask task;
    double weight = 1;  // of its loss
    double share = 1;   // batches for each batch of the first task
    double rate = 1;    // of what is its own (its head), times the run's learning rate
};

class TaskMix {
public:
    // Names must differ; the first task has weight and share like the others, its share being 1.
    explicit TaskMix(std::vector<TaskShare> parts);

    // All of them as one. `metric` "mean" keeps the model with the best mean of the tasks' metrics,
    // anything else the first task's best. save_model(RUN/model) writes the first task's folder,
    // and RUN/models/NAME for each other task that has one. Lives no longer than the mix.
    TrainTask task(const std::string& metric = "auto");

    const ParameterStore& store() const { return store_; }  // of all tasks

private:
    struct Pass {  // of a task over its data
        std::int64_t number = 0, batches = 0;
    };
    struct Part : TaskShare {
        std::vector<Pass> passes;  // of this epoch
        std::int64_t begun = -1;   // the pass that its task has begun last
    };
    std::int64_t begin(std::int64_t epoch);
    Tensor loss(std::int64_t step);
    Tensor loss_of(Part& part, std::int64_t batch);  // counted over the epoch's passes
    Evaluation evaluate(bool mean);
    void save(const std::string& path) const;
    ParameterRule rule_of(const std::string& name) const;
    void collect_parameters();

    std::vector<Part> parts_;
    ParameterStore store_;
    struct Owner {
        std::size_t part = 0;
        std::string name;     // in its own store
        bool shared = false;  // by several tasks
    };
    std::unordered_map<std::string, Owner> owners_;
};

// Tasks that only stand beside others, and have no models of their own: rows as in tasks().
struct AuxiliaryTask {
    const char* name;
    const char* sentence;
    std::unique_ptr<Trainer> (*trainer)();
};
std::span<const AuxiliaryTask> auxiliary_tasks();

// Hidden words of the first task's texts (or of files) are told from the others; models that read
// from the left tell the next one.
std::unique_ptr<Trainer> make_language_model_part();
// How far two positions of a text stand apart.
std::unique_ptr<Trainer> make_distance_part();
// A tag for each word, on any encoder; `tag` has models of its own but wants a text encoder.
std::unique_ptr<Trainer> make_tags_part();
// Each word's head in a tree of dependencies (CoNLL-U), as the way to it: 1 is the next word.
std::unique_ptr<Trainer> make_heads_part();
// How many brackets of a tree open before each word, and close behind it.
std::unique_ptr<Trainer> make_brackets_part();

// `fovea train --config multi.toml`: a list of [[task]].
std::unique_ptr<Trainer> make_multi_trainer();

}  // namespace fovea
