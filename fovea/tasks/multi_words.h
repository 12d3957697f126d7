#pragma once
// A task beside others that tells a class for each word of sentences, on the rows of the shared
// encoder. What the classes are is up to the class on top.
// Not thread-safe: it belongs to one run.
#include <optional>

#include "fovea/data/conll.h"
#include "fovea/nn/linear.h"
#include "fovea/tasks/multi.h"
#include "fovea/tasks/tag_words.h"
#include "fovea/tasks/training_data.h"

namespace fovea {

class WordPart : public Trainer {
public:
    std::vector<std::string> metrics() const override { return {"accuracy"}; }
    void check(Settings&, const RunSettings&) override {}
    void prepare(RunSettings& run, const Say& say) override;
    TrainSummary summary() const override;
    TrainTask task() override;

protected:
    virtual const char* name() const = 0;
    // Sentences whose tags are the classes.
    virtual std::vector<TaggedWords> read(const TaggedFiles& files) const = 0;

private:
    struct Sentences {
        std::vector<EncodedWords> words;
        std::vector<Ids> classes;  // a class that training never saw does not count
    };
    Sentences encoded(const std::vector<TaggedWords>& all) const;
    Tensor logits(const Sentences& s, std::span<const std::int64_t> chosen) const;
    Evaluation evaluate() const;

    std::shared_ptr<const TrainedEncoder> body_;
    ParameterStore store_;
    std::vector<std::string> classes_;
    std::optional<Linear> head_;
    Sentences train_, dev_;
    std::string hash_;
    std::optional<EpochBatches> batches_;
};

}  // namespace fovea
