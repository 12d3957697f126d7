#pragma once
// A task beside others that learns from plain texts: those of the first task, or the lines of its
// own files. What it asks of the rows is up to the class on top.
// Not thread-safe: it belongs to one run.
#include <optional>

#include "fovea/tasks/multi.h"
#include "fovea/tasks/training_data.h"

namespace fovea {

class TextPart : public Trainer {
public:
    std::vector<std::string> metrics() const override { return {}; }
    bool needs_files() const override { return false; }
    void check(Settings&, const RunSettings&) override {}
    void prepare(RunSettings& run, const Say& say) override;
    TrainSummary summary() const override;
    TrainTask task() override;

protected:
    virtual const char* name() const = 0;
    // Its own parameters, in store_; what does not go with the encoder is a usage error.
    virtual void make_head(const RunSettings& run) = 0;
    virtual Tensor loss(std::span<const std::int64_t> chosen) const = 0;  // of a batch
    virtual double guessing_loss() const = 0;

    std::shared_ptr<const TrainedEncoder> body_;
    ParameterStore store_;
    std::vector<Ids> sequences_;        // tokens of the texts, cut to what the encoder takes
    std::vector<std::uint64_t> names_;  // of random draws: by the text, not by its place
    std::int64_t epoch_ = 0;

private:
    void read_texts(const RunSettings& run);

    std::vector<std::string> contents_;
    std::vector<std::int64_t> lengths_;
    std::optional<EpochBatches> batches_;
};

}  // namespace fovea
