// fovea demo: the machine, then a small network that learns to tell the arms of a spiral apart, in
// about twenty seconds, through the same ops that train everything else.
#include "fovea/cli/demo.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "fovea/autograd/tape.h"
#include "fovea/base/clock.h"
#include "fovea/base/json.h"
#include "fovea/cli/doctor.h"
#include "fovea/cli/help.h"
#include "fovea/cli/interrupt.h"
#include "fovea/cli/options.h"
#include "fovea/cli/progress.h"
#include "fovea/nn/layer_norm.h"
#include "fovea/nn/linear.h"
#include "fovea/ops/cross_entropy.h"
#include "fovea/train/adamw.h"

namespace fovea {
namespace {

constexpr int arms = 5;
constexpr int width = 256;
constexpr std::int64_t batch_rows = 512;
constexpr std::int64_t held_out_rows = 4000;

struct Points {
    Tensor xy;  // [n, 2]
    Ids labels;
};

// n points on `arms` spiral arms of one and a half turns, with noise across the arm.
Points spiral(std::int64_t n, Rng& rng) {
    Points p{Tensor({n, 2}), Ids(static_cast<std::size_t>(n))};
    float* out = p.xy.write();
    for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t arm = rng.below(arms);
        const double r = std::sqrt(rng.uniform());  // even over the disc
        const double angle = 2 * 3.141592653589793 * (1.5 * r + static_cast<double>(arm) / arms) +
                             0.25 * rng.normal();
        out[2 * i] = static_cast<float>(r * std::cos(angle));
        out[2 * i + 1] = static_cast<float>(r * std::sin(angle));
        p.labels[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(arm);
    }
    return p;
}

struct Network {
    explicit Network(const Params& p)
        : fc1(2, width, p / "fc1"),
          norm1(width, p / "norm1"),
          fc2(width, width, p / "fc2"),
          norm2(width, p / "norm2"),
          out(width, arms, p / "out") {}

    Tensor operator()(const Tensor& xy) const {
        return out(norm2(fc2(norm1(fc1(xy, Act::gelu)), Act::gelu)));
    }

    Linear fc1;
    LayerNorm norm1;
    Linear fc2;
    LayerNorm norm2;
    Linear out;
};

double accuracy(const Network& network, const Points& points) {
    const Tensor logits = network(points.xy);
    std::int64_t right = 0;
    for (std::int64_t i = 0; i < logits.rows(); ++i) {
        const float* row = logits.data() + i * logits.cols();
        const auto best = std::max_element(row, row + logits.cols()) - row;
        right += best == points.labels[static_cast<std::size_t>(i)];
    }
    return static_cast<double>(right) / static_cast<double>(logits.rows());
}

struct Result {
    std::int64_t steps = 0;
    double loss = 0, accuracy = 0, seconds = 0;
    std::int64_t parameters = 0;
};

// `steps` 0: as many as fit into `seconds` here, by the speed of the first ones.
Result train(std::int64_t steps, double seconds) {
    const std::uint64_t seed = global_options().seed;
    Rng init(seed, 1), data(seed, 2), fresh(seed, 3), dropout(seed, 4);
    ParameterStore store;
    const Network network(Params(store, init));
    AdamW adam(store, {.beta2 = 0.99f, .eps = 1e-8f, .weight_decay = 0.01f});

    const InterruptScope finish_the_step;
    const Stopwatch clock;
    Result result{.parameters = store.count()};
    // A constant rate for the first half, then a straight line down to zero.
    const auto one_step = [&](double share_done) {
        const Points batch = spiral(batch_rows, data);
        Tape tape(dropout);
        const Tensor loss = cross_entropy(network(batch.xy), batch.labels);
        const Gradients gradients = tape.gradients(loss);
        const double norm = adam.gradient_norm(gradients);
        const double rate = 3e-3 * std::min(1.0, 2 * (1 - share_done));
        adam.step(gradients, rate, norm > 1 ? static_cast<float>(1 / norm) : 1.0f);
        result.loss = result.steps == 0 ? loss.item() : 0.95 * result.loss + 0.05 * loss.item();
        ++result.steps;
    };
    if (steps == 0) {
        constexpr std::int64_t trial = 10;
        while (result.steps < trial && clock.seconds() < seconds / 2) one_step(0);
        const double each = clock.seconds() / static_cast<double>(result.steps);
        steps = std::clamp(static_cast<std::int64_t>(seconds / each), result.steps,
                           std::int64_t{50'000});
    }
    Progress progress("train", steps, "steps", {.quiet = global_options().quiet});
    while (result.steps < steps && !interrupted()) {
        one_step(static_cast<double>(result.steps) / static_cast<double>(steps));
        progress.update(result.steps, fmt::format("loss {:.3f}", result.loss));
    }
    progress.finish();
    result.seconds = clock.seconds();
    result.accuracy = accuracy(network, spiral(held_out_rows, fresh));
    return result;
}

}  // namespace

void add_demo_command(CLI::App& app) {
    struct Choice {
        std::int64_t steps = 0;
        double seconds = 20;
        std::string format;
    };
    auto choice = std::make_shared<Choice>();
    CLI::App* demo = app.add_subcommand(
        "demo", "Shows the machine and trains a small network on it for twenty seconds.");
    set_examples(*demo, {"fovea demo", "fovea demo --seconds 5", "fovea demo --steps 1000 --json"});
    demo->add_option("--seconds", choice->seconds, "about how long to train")
        ->check(CLI::Range(0.1, 3600.0))
        ->type_name("S");
    demo->add_option("--steps", choice->steps,
                     "exactly so many steps; the result is then the same everywhere")
        ->check(CLI::Range(0, 1'000'000))
        ->type_name("N");
    add_format_options(*demo, choice->format, {"text", "json"});
    demo->callback([choice] {
        const bool text = choice->format == "text";
        if (text) {
            fmt::print("{}\n", machine_in_short());
            fmt::print(
                "A network of two hidden layers learns which of {} spiral arms a point lies on.\n",
                arms);
            std::fflush(stdout);
        }
        const Result r = train(choice->steps, choice->seconds);
        if (text)
            fmt::print(
                "{} parameters, {} steps of {} points in {:.1f} s\n"
                "held-out accuracy {:.1f} % on {} points it never saw (guessing: {:.0f} %)\n",
                r.parameters, r.steps, batch_rows, r.seconds, 100 * r.accuracy, held_out_rows,
                100.0 / arms);
        else
            fmt::print("{}\n", to_text(Json{{"schema", "fovea.demo"},
                                            {"version", 1},
                                            {"parameters", r.parameters},
                                            {"steps", r.steps},
                                            {"loss", r.loss},
                                            {"accuracy", r.accuracy},
                                            {"seconds", r.seconds}}));
        throw_if_interrupted();
        if (text) fmt::print("try: fovea bench kernels --quick | fovea doctor | fovea help\n");
    });
}

}  // namespace fovea
