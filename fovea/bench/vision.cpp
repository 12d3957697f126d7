#include "fovea/bench/vision.h"

#include "fovea/base/clock.h"
#include "fovea/base/files.h"
#include "fovea/base/rng.h"
#include "fovea/base/threads.h"
#include "fovea/bench/duel.h"
#include "fovea/bench/scratch_folder.h"
#include "fovea/bench/vision_models.h"
#include "fovea/io/picture.h"
#include "fovea/io/resize.h"
#include "fovea/nn/log_mel.h"

namespace fovea::bench {
namespace {

// What stands in a row: our way of doing `count` pieces, the peer's question for them, and how much
// work a piece is.
struct VisionCase {
    std::string name, unit;
    double work = 1;
    const char* library;                          // of the peer; "": it has none
    Json open, question;                          // "times" is added
    std::function<std::function<void()>()> ours;  // makes what does one piece
};

Json shape_of(const VitShape& s) {
    return {{"model", "vit"},   {"size", s.size},     {"patch", s.patch}, {"channels", s.channels},
            {"width", s.width}, {"layers", s.layers}, {"heads", s.heads}, {"ffn", s.ffn}};
}

Json segformer_shape(int size) { return {{"model", "segformer"}, {"size", size}}; }

VisionCase model_case(const std::string& name, Json open, int pictures, bool training,
                      std::function<std::function<void()>()> ours) {
    open["do"] = training ? "open_training" : "open_model";
    return {
        .name = text_of(name, training ? " train " : " ", pictures, "x", open["size"].get<int>()),
        .unit = "pictures/s",
        .work = static_cast<double>(pictures),
        .library = "torch_vision",
        .open = open,
        .question = {{"do", training ? "train" : "run"}, {"pictures", pictures}},
        .ours = std::move(ours)};
}

VisionCase vit_reading(const VitShape& shape, int pictures) {
    return model_case(shape.name, shape_of(shape), pictures, false, [=] {
        auto model = std::make_shared<RandomVit>(shape, pictures);
        return [model] { model->read(); };
    });
}

VisionCase vit_training(const VitShape& shape, int pictures) {
    return model_case(shape.name, shape_of(shape), pictures, true, [=] {
        auto model = std::make_shared<RandomVit>(shape, pictures);
        return [model] { model->update(); };
    });
}

VisionCase segformer_case(int size, int pictures, bool training) {
    return model_case("segformer-b0", segformer_shape(size), pictures, training, [=] {
        auto model = std::make_shared<RandomSegformer>(size, pictures);
        return [model, training] { training ? model->update() : model->read(); };
    });
}

// Forward, with the gradients of pictures and weights (three products), or the product alone.
enum class ConvWork { read, train, product };

VisionCase conv_case(const ConvShape& s, ConvWork work) {
    const int pictures = 4;
    const bool training = work == ConvWork::train;
    return {.name = text_of(work == ConvWork::product ? "product of " : "conv ", s.text(),
                            training ? " train" : ""),
            .unit = "GFLOP/s",
            .work = s.flops(pictures) * (training ? 3 : 1) / 1e9,
            .library = work == ConvWork::product ? "" : "torch_vision",
            .open = {{"do", "open_conv"},
                     {"in", s.in},
                     {"out", s.out},
                     {"kernel", s.kernel},
                     {"stride", s.stride},
                     {"size", s.size},
                     {"pictures", pictures}},
            .question = {{"do", "conv"}, {"training", training}},
            .ours = [s, work, pictures] {
                auto conv = std::make_shared<RandomConvolution>(s, pictures);
                return [conv, work] {
                    if (work == ConvWork::read) conv->read();
                    if (work == ConvWork::train) conv->differentiate();
                    if (work == ConvWork::product) conv->product();
                };
            }};
}

// The peer draws the file: we write no JPEG. Pictures are shared among our threads, as tasks read
// them; Pillow has one.
VisionCase jpeg_case(const std::string& path) {
    constexpr int pictures = 8;
    return {.name = "jpeg 640x480 to 224x224",
            .unit = "pictures/s",
            .work = pictures,
            .library = "pillow",
            .open = {{"do", "make_jpeg"}, {"path", path}},
            .question = {{"do", "jpeg"}, {"path", path}, {"pictures", pictures}},
            .ours = [path] {
                return [path] {
                    parallel_for(pictures, 1, [&](std::int64_t from, std::int64_t to) {
                        for (; from < to; ++from)
                            resize(read_picture(path), 224, 224, Resample::bilinear);
                    });
                };
            }};
}

VisionCase log_mel_case(int seconds) {
    return {.name = text_of("log-mel ", seconds, " s"),
            .unit = "s of sound/s",
            .work = static_cast<double>(seconds),
            .library = "transformers",
            .open = {{"do", "open_log_mel"}},
            .question = {{"do", "log_mel"}, {"seconds", seconds}},
            .ours = [seconds] {
                Rng rng(1, 0x736f756e);
                std::vector<float> sound(static_cast<std::size_t>(seconds) * 16000);
                for (float& v : sound) v = 0.1f * static_cast<float>(rng.normal());
                return [sound = std::move(sound), mel = std::make_shared<LogMel>(LogMelConfig{})] {
                    (*mel)(sound);
                };
            }};
}

class VisionBench {
public:
    explicit VisionBench(const ModelBenchOptions& options) : options_(options) {}

    std::vector<Row> run() {
        std::vector<VisionCase> cases{vit_reading(vit_base, 1),
                                      vit_reading(vit_base, 8),
                                      vit_training(vit_tiny, 8),
                                      vit_training(vit_fashion, 64),
                                      segformer_case(512, 1, false),
                                      segformer_case(256, 4, true),
                                      log_mel_case(10)};
        for (const ConvShape& s : conv_shapes)
            for (const ConvWork work : {ConvWork::read, ConvWork::train, ConvWork::product})
                cases.push_back(conv_case(s, work));
        if (options_.peers) cases.push_back(jpeg_case(folder_ / "picture.jpg"));
        for (const VisionCase& c : cases)
            if (options_.wants("vision " + c.name + " f32") && !options_.stop()) measure(c);
        return std::move(rows_);
    }

private:
    void measure(const VisionCase& c) {
        if (options_.on_case) options_.on_case("vision " + c.name);
        std::optional<TextPeer> peer;
        if (options_.peers && *c.library) peer.emplace(options_, c.library, "", c.open);
        if (c.library == std::string("pillow") && !peer->alive())  // which would draw the file
            return options_.note("no " + peer->name() + " beside us: " + peer->trouble());
        const std::function<void()> piece = c.ours();
        const auto row = run_duel(
            options_,
            {.row = {.bench = "vision", .name = c.name, .precision = "f32", .unit = c.unit},
             .ours =
                 [&](std::int64_t, int count) {
                     const Stopwatch clock;
                     for (int i = 0; i < count; ++i) piece();
                     return std::optional(clock.seconds());
                 },
             .asks =
                 [&](std::int64_t, int count) {
                     Json question = c.question;
                     question["times"] = count;
                     return question;
                 },
             .work = [&](std::int64_t, int n) { return c.work * n; },
             .seconds = 40,
             .quick_seconds = 8},
            peer ? &*peer : nullptr);
        if (row) rows_.push_back(*row);
    }

    const ModelBenchOptions& options_;
    const ScratchFolder folder_;
    std::vector<Row> rows_;
};

}  // namespace

std::vector<Row> bench_vision(const ModelBenchOptions& options) {
    return VisionBench(options).run();
}

}  // namespace fovea::bench
