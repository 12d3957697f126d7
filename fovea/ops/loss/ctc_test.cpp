#include "fovea/ops/loss/ctc.h"

#include "fovea/base/files.h"
#include "fovea/base/json.h"
#include "fovea/ops/op_check.h"

namespace fovea {
namespace {

// What a path over classes becomes: repeats once, then no blanks.
Ids collapsed(const std::vector<int>& path, int blank) {
    Ids out;
    for (std::size_t t = 0; t < path.size(); ++t)
        if (path[t] != blank && (t == 0 || path[t] != path[t - 1])) out.push_back(path[t]);
    return out;
}

// All paths one by one; 0 where none becomes the labels (the rule for infeasible lengths).
double brute_force(const double* x, std::int64_t frames, int classes, const Ids& labels,
                   int blank) {
    std::vector<int> path(static_cast<std::size_t>(frames), 0);
    double sum = 0;
    for (;;) {
        if (collapsed(path, blank) == labels) {
            double p = 1;
            for (std::int64_t t = 0; t < frames; ++t) {
                double all = 0;
                for (int k = 0; k < classes; ++k) all += std::exp(x[t * classes + k]);
                p *= std::exp(x[t * classes + path[static_cast<std::size_t>(t)]]) / all;
            }
            sum += p;
        }
        std::size_t t = 0;
        while (t < path.size() && ++path[t] == classes) path[t++] = 0;
        if (t == path.size()) break;
    }
    return sum > 0 ? -std::log(sum) : 0;
}

struct Sequences {
    Segments frames, targets;
    Ids labels;
};
// A repeat, an empty target, one that fits exactly, two that do not fit, no frames at all.
const Sequences mixed{Segments::of_lengths({5, 3, 4, 2, 2, 0, 0, 1}),
                      Segments::of_lengths({2, 0, 3, 2, 3, 0, 1, 1}),
                      {1, 1, 2, 1, 2, 2, 2, 1, 2, 1, 1, 2}};

OpCase ctc_case(const Sequences& s, const CtcOptions& options) {
    constexpr int classes = 3;
    Rng rng(17);
    OpCase c;
    c.inputs = {random_tensor({s.frames.total(), classes}, rng, 1.5)};
    c.op = [=](const std::vector<Tensor>& x) {
        return ctc_loss(x[0], s.frames, s.labels, s.targets, options);
    };
    c.reference = [=](const std::vector<Doubles>& x) {
        Doubles losses;
        double sum = 0, mean = 0;
        for (std::int64_t i = 0; i < s.frames.count(); ++i) {
            const Ids labels(s.labels.begin() + s.targets.begin(i),
                             s.labels.begin() + s.targets.end(i));
            losses.push_back(brute_force(x[0].data() + s.frames.begin(i) * classes,
                                         s.frames.length(i), classes, labels, options.blank));
            sum += losses.back();
            mean += losses.back() / static_cast<double>(std::max<std::size_t>(1, labels.size())) /
                    static_cast<double>(s.frames.count());
        }
        if (options.reduction == Reduction::none) return losses;
        return Doubles{options.reduction == Reduction::mean ? mean : sum};
    };
    return c;
}

TEST(CtcLoss, IsThatOfAllPathsOneByOne) {
    for (const Reduction r : {Reduction::none, Reduction::mean, Reduction::sum})
        check_op(ctc_case(mixed, {.reduction = r}));
    Sequences last = mixed;  // blank 2, labels 0 and 1
    for (auto& l : last.labels) l -= 1;
    check_op(ctc_case(last, {.blank = 2, .reduction = Reduction::none}));
}

TEST(CtcLoss, IsThatOfPyTorch) {
    const Json all = read_json(std::string(FOVEA_SOURCE_DIR) + "/tests/goldens/speech.json");
    for (const Json& g : all.at("ctc")) {
        const std::vector<std::int64_t> frames = g.at("frames"), targets = g.at("targets");
        const std::vector<float> logits = g.at("logits");
        Tape tape;
        const Tensor x =
            tape.watch(Tensor::of({Segments::of_lengths(frames).total(), g.at("classes")}, logits));
        const Tensor y = ctc_loss(x, Segments::of_lengths(frames), g.at("labels"),
                                  Segments::of_lengths(targets));
        EXPECT_NEAR(y.item(), g.at("loss").get<double>(), 1e-5);
        const Tensor dx = tape.gradients(y)[x];
        const std::vector<double> wanted = g.at("gradient");
        for (std::size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(dx.data()[i], wanted[i], 1e-6);
    }
}

TEST(CtcLoss, NeighboursAndThreadsChangeNoBit) {
    Rng rng(3);
    const Segments frames = Segments::of_lengths({40, 7, 60}),
                   targets = Segments::of_lengths({9, 3, 20});
    Ids labels;
    for (int i = 0; i < 32; ++i) labels.push_back(static_cast<std::int32_t>(1 + rng.below(28)));
    const Tensor x = random_tensor({107, 29}, rng, 3);
    const auto run = [&](const Tensor& logits, const Segments& f, const Ids& l, const Segments& t) {
        Tape tape;
        const Tensor in = tape.watch(logits);
        const Tensor y = ctc_loss(in, f, l, t, {.reduction = Reduction::none});
        const Gradients g = tape.gradients(y, Tensor::full(y.shape(), 1.0f));
        return std::pair(y, g[in]);
    };
    const auto [y, dx] = run(x, frames, labels, targets);
    for (std::int64_t s = 0; s < 3; ++s) {
        const auto first = static_cast<std::size_t>(frames.begin(s) * 29);
        const Tensor part =
            Tensor::of({frames.length(s), 29},
                       x.span().subspan(first, static_cast<std::size_t>(frames.length(s) * 29)));
        const Ids own(labels.begin() + targets.begin(s), labels.begin() + targets.end(s));
        const auto [y1, dx1] = run(part, Segments::of_lengths({frames.length(s)}), own,
                                   Segments::of_lengths({targets.length(s)}));
        EXPECT_EQ(y1.data()[0], y.data()[s]);
        EXPECT_EQ(
            std::memcmp(dx1.data(), dx.data() + first, static_cast<std::size_t>(dx1.size()) * 4),
            0);
    }
    for (const int n : {1, 3}) {
        set_thread_count(n);
        const SplitPieces pieces(n);
        EXPECT_TRUE(same_bits(run(x, frames, labels, targets).second, dx));
    }
    set_thread_count(0);
}

TEST(CtcLoss, BearsLongSequencesAndFarScores) {
    Rng rng(4);
    const Tensor x = random_tensor({3000, 5}, rng, 100);
    Tape tape;
    const Tensor in = tape.watch(x);
    const Tensor y =
        ctc_loss(in, Segments::of_lengths({3000}), Ids(100, 3), Segments::of_lengths({100}));
    EXPECT_TRUE(std::isfinite(y.item()));
    for (const float g : tape.gradients(y)[in].values()) EXPECT_TRUE(std::isfinite(g));
}

TEST(CtcFramesNeeded, CountsBlanksBetweenRepeats) {
    EXPECT_EQ(ctc_frames_needed(Ids{}), 0);
    EXPECT_EQ(ctc_frames_needed(Ids{1, 2, 1}), 3);
    EXPECT_EQ(ctc_frames_needed(Ids{1, 1, 1}), 5);
}

}  // namespace
}  // namespace fovea
