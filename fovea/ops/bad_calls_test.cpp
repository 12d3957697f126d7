// Every op called wrongly: one fovea::Error that names the op and says what was handed in.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <set>
#include <sstream>

#include "fovea/autograd/tape.h"
#include "fovea/ops/activation.h"
#include "fovea/ops/arithmetic.h"
#include "fovea/ops/attention/attention.h"
#include "fovea/ops/batch_norm.h"
#include "fovea/ops/conv.h"
#include "fovea/ops/conv2d.h"
#include "fovea/ops/crf.h"
#include "fovea/ops/depthwise_conv.h"
#include "fovea/ops/drop_path.h"
#include "fovea/ops/dropout.h"
#include "fovea/ops/linear.h"
#include "fovea/ops/loss/copy.h"
#include "fovea/ops/loss/coverage.h"
#include "fovea/ops/loss/ctc.h"
#include "fovea/ops/loss/linear_cross_entropy.h"
#include "fovea/ops/loss/loss.h"
#include "fovea/ops/loss/picture_loss.h"
#include "fovea/ops/loss/segment_cross_entropy.h"
#include "fovea/ops/max_pool2d.h"
#include "fovea/ops/norm.h"
#include "fovea/ops/optimizer.h"
#include "fovea/ops/recompute.h"
#include "fovea/ops/recurrent.h"
#include "fovea/ops/resize.h"
#include "fovea/ops/rows/concat.h"
#include "fovea/ops/rows/gather.h"
#include "fovea/ops/rows/pooling.h"
#include "fovea/ops/rows/positions.h"
#include "fovea/ops/softmax.h"
#include "fovea/ops/spectrum.h"

namespace fovea {
namespace {

struct BadCall {
    const char* says;  // the whole message, or its beginning
    std::function<void()> call;
};

TEST(BadCalls, EachIsOneClearError) {
    const Tensor empty, x = Tensor::zeros({2, 5}), y = Tensor::zeros({3, 4}),
                        v5 = Tensor::zeros({5}), v4 = Tensor::zeros({4});
    const Tensor w = Tensor::zeros({11, 16}), stored = x.to(Format::bf16);
    const Segments two = Segments::of_lengths({1, 1}), three = Segments::of_lengths({3});
    Tensor m = Tensor::zeros({2, 5}), p = Tensor::zeros({2, 5}), bad = Tensor::zeros({4});
    const Tensor images = Tensor::zeros({1, 3, 8, 8});
    const BatchNormState state{v5, v5};

    const BadCall calls[] = {
        {"linear: x is [2, 5] but W is [11, 16]", [&] { linear(x, w); }},
        {"linear: b is [4] but W is [3, 5]",
         [&] {
             linear(x, Tensor::zeros({3, 5}), v4);
         }},
        {"linear: x is an empty tensor", [&] { linear(empty, w); }},
        {"linear: W is an empty tensor", [&] { linear(x, empty); }},
        {"linear: x [2, 5] is stored as bf16 but must be f32", [&] { linear(stored, x); }},
        {"linear: W is [0, 5], which holds nothing",
         [&] {
             linear(x, Tensor::zeros({0, 5}));
         }},
        {"feed_forward: x is [2, 5] but W is [11, 16]",
         [&] {
             feed_forward(x, {w, {}}, {w, {}}, Act::gelu);
         }},
        {"feed_forward: x is [2, 3] but W is [11, 16]",
         [&] {
             feed_forward(x, {Tensor::zeros({3, 5}), {}}, {w, {}}, Act::gelu);
         }},
        {"matmul: a is [2, 5] but b is [3, 4]", [&] { matmul(x, y); }},
        {"matmul: a is [2, 5] transposed but b is [3, 4]", [&] { matmul(x, y, Trans::yes); }},
        {"matmul: a is an empty tensor", [&] { matmul(empty, y); }},
        {"gather_rows: id 2 of row 1 is outside of the table [2, 5]",
         [&] {
             gather_rows(x, {0, 2});
         }},
        {"gather_rows: the table is an empty tensor", [&] { gather_rows(empty, {0}); }},
        {"+: a is [2, 5] but b is [3, 4]", [&] { x + y; }},
        {"+: b is an empty tensor", [&] { x + empty; }},
        {"-: a is [2, 5] but b is [5]", [&] { x - v5; }},
        {"mul: a is [2, 5] but b is [3, 4]", [&] { mul(x, y); }},
        {"*: x [2, 5] is stored as bf16", [&] { 2.0f * stored; }},
        {"gelu: x is an empty tensor", [&] { gelu(empty); }},
        {"sigmoid: x is an empty tensor", [&] { sigmoid(empty); }},
        {"dropout: dropout is 1.5 but must be in [0, 1)", [&] { dropout(x, 1.5f); }},
        {"add_dropout: x is [2, 5] but branch is [3, 4]", [&] { add_dropout(x, y, 0.1f); }},
        {"layer_norm: x is [2, 5] but gamma is [4]", [&] { layer_norm(x, v4, v5); }},
        {"layer_norm: beta [2, 5] is stored as bf16", [&] { layer_norm(x, v5, stored); }},
        {"residual_layer_norm: x is [2, 5] but branch is [3, 4]",
         [&] { residual_layer_norm(x, y, v5, v5); }},
        {"rms_norm: x is [2, 0], which has no columns",
         [&] {
             rms_norm(Tensor::zeros({2, 0}), v5);
         }},
        {"batch_norm: x is [2, 5] but gamma is [4]", [&] { batch_norm(x, v4, v5, state); }},
        {"softmax: x is [2, 0], which has no columns",
         [&] {
             softmax(Tensor::zeros({2, 0}));
         }},
        {"log_sum_exp: x is an empty tensor", [&] { log_sum_exp(empty); }},
        {"cross_entropy: 2 rows of logits but 1 labels", [&] { cross_entropy(x, {0}); }},
        {"cross_entropy: label 5 of row 1 is outside of the 5 classes",
         [&] {
             cross_entropy(x, {0, 5});
         }},
        {"cross_entropy: smoothing is 1 but must be in [0, 1)",
         [&] {
             cross_entropy(x, {0, 0}, {.smoothing = 1});
         }},
        {"linear_cross_entropy: h is [2, 5] but W is [11, 16]",
         [&] {
             linear_cross_entropy(x, w, {}, {0, 0});
         }},
        {"ragged_softmax: 10 scores but their rows have 3",
         [&] {
             ragged_softmax({x, three});
         }},
        {"coverage_loss: 2 rows of scores but targets of 3",
         [&] {
             coverage_loss({Tensor::zeros({4}), Segments::of_lengths({2, 2})}, three);
         }},
        {"ctc_loss: logits are [2, 5] but the segments have 3 frames",
         [&] { ctc_loss(x, three, {1}, Segments::of_lengths({1})); }},
        {"ctc_loss: label 0 at 1 is the blank or none of the 5 classes",
         [&] {
             ctc_loss(x, two, {1, 0}, two);
         }},
        {"ctc_loss: 2 sequences of frames but 1 of labels",
         [&] { ctc_loss(x, two, {1}, Segments::of_lengths({1})); }},
        {"power_spectrum: frames are [2, 5] but their length must be a multiple of 4",
         [&] { power_spectrum(x); }},
        {"crf_loss: there are 5 tags but pairs are [3, 4]",
         [&] {
             crf_loss(x, two, {0, 0}, {y, v5, v5});
         }},
        {"crf_loss: tag 5 of row 1 is outside of the 5 tags",
         [&] {
             crf_loss(x, two, {0, 5}, {Tensor::zeros({5, 5}), v5, v5});
         }},
        {"crf_marginals: emissions are [2, 5] but the segments have 3 rows",
         [&] {
             crf_marginals(x, three, {Tensor::zeros({5, 5}), v5, v5});
         }},
        {"copy_loss: 3 scores but 1 tokens",
         [&] {
             copy_loss({{}, {}, {Tensor::zeros({3}), three}, {0}}, {0});
         }},
        {"copy_log_probs: token 9 but 5 columns",
         [&] {
             copy_log_probs({{}, {}, {Tensor::zeros({3}), three}, {0, 9, 0}}, 5);
         }},
        {"gru: W is [3, 4] but must be [3 h, h]",
         [&] {
             gru(x, two, {y, {}});
         }},
        {"gru: x is [2, 5] but W is [12, 4]",
         [&] {
             gru(x, two, {Tensor::zeros({12, 4}), {}});
         }},
        {"lstm: x is [2, 4] but the segments have 3 rows",
         [&] {
             lstm(Tensor::zeros({2, 4}), three, {Tensor::zeros({4, 1}), {}});
         }},
        {"lstm: start is [2, 5] but there are 2 sequences with states of 2",
         [&] {
             lstm(Tensor::zeros({2, 4}), two, {Tensor::zeros({4, 1}), {}}, {.start = x});
         }},
        {"mean_squared_error: x is [2, 5] but target is [3, 4]", [&] { mean_squared_error(x, y); }},
        {"binary_cross_entropy_with_logits: target is an empty tensor",
         [&] { binary_cross_entropy_with_logits(x, empty); }},
        {"weighted_binary_cross_entropy: x is [2, 5], target [3, 4] and weights [2, 5]",
         [&] { weighted_binary_cross_entropy(x, y, x); }},
        {"log_energy: energies is an empty tensor", [&] { log_energy(empty); }},
        {"max_pool2d: x is [2, 5] but the grid is",
         [&] {
             max_pool2d(x, {1, 3, 1}, {});
         }},
        {"concat_rows: parts are [2, 5] and [3, 4]",
         [&] {
             concat_rows({x, y});
         }},
        {"concat_cols: there is nothing to put together", [&] { concat_cols({}); }},
        {"slice_rows: [1, 3) is not within x, which is [2, 5]", [&] { slice_rows(x, 1, 3); }},
        {"slice_cols: [3, 2) is not within x, which is [2, 5]", [&] { slice_cols(x, 3, 2); }},
        {"segment_mean: x is [2, 5] but the segments have 3 rows", [&] { segment_mean(x, three); }},
        {"segment_sum: x is [2, 5] but there are 3 weights",
         [&] {
             segment_sum(x, {1, 1, 1}, Segments::of_lengths({2}));
         }},
        {"segment_last: x is an empty tensor", [&] { segment_last(empty, three); }},
        {"conv1d: x is [2, 5] but W is [3, 4, 3] ([out, in, k] wanted)",
         [&] {
             conv1d(x, two, Tensor::zeros({3, 4, 3}), {});
         }},
        {"conv1d: kernel 3, stride 0 and padding 0 do not make a convolution",
         [&] {
             conv1d(x, two, Tensor::zeros({3, 5, 3}), {}, {.stride = 0});
         }},
        {"depthwise_conv1d: x is [2, 5] but W is [5, 1, 4] ([d, 1, k] with an odd k)",
         [&] {
             depthwise_conv1d(x, two, Tensor::zeros({5, 1, 4}), {});
         }},
        {"segment_cross_entropy: label 1 of segment 1, which has 1 rows",
         [&] {
             segment_cross_entropy(y, Segments::of_lengths({2, 1}), {0, 0, 0, 0, 1, 0, 0, 0});
         }},
        {"segment_cross_entropy: 1 labels for 2 segments and 5 columns",
         [&] { segment_cross_entropy(x, two, {0}); }},
        {"conv2d: images are [2, 5] but [n, channels, height, width] is wanted",
         [&] { conv2d(x, images, {}); }},
        {"conv2d: x is [2, 5] but the grid is 1 x 3 x 1",
         [&] {
             conv2d(x, Grid{1, 3, 1}, images, {});
         }},
        {"conv2d: x is [2, 5] but W is [1, 3, 8, 8] ([out, in, h, w] wanted)",
         [&] {
             conv2d(x, Grid{1, 2, 1}, images, {});
         }},
        {"depthwise_conv2d: x is [2, 5] but W is [1, 3, 8, 8] ([d, 1, k, k] with an odd k)",
         [&] {
             depthwise_conv2d(x, {1, 2, 1}, images, {});
         }},
        {"resize_bilinear: 2 x 1 cannot be made 0 x 3",
         [&] {
             resize_bilinear(x, {1, 2, 1}, 0, 3);
         }},
        {"box_loss: x is [2, 5] but boxes are [n, 4]", [&] { box_loss(x, x); }},
        {"focal_loss: x is [2, 5] but target is [3, 4]", [&] { focal_loss(x, y); }},
        {"dice_loss: the divisor is 0 but must be positive", [&] { dice_loss(x, x, 0); }},
        {"drop_path: dropout is 1.5 but must be in [0, 1)", [&] { drop_path(x, 1.5f); }},
        {"sinusoid: d is -1 but must be positive", [&] { sinusoid(two, -1); }},
        {"positions: sequence 0 of 3 rows needs position 2 but the table has 2",
         [&] { learned_positions(x, three); }},
        {"relu: x is an empty tensor", [&] { relu(empty); }},
        {"gelu_tanh: x is an empty tensor", [&] { gelu_tanh(empty); }},
        {"tanh: x is an empty tensor", [&] { tanh(empty); }},
        {"swish: x is an empty tensor", [&] { swish(empty); }},
        {"tanh: x [2, 5] is stored as bf16", [&] { activate(stored, Act::tanh); }},
        {"batch_norm: x is [2, 5] but gamma is [4]", [&] { batch_norm_fixed(x, v4, v5, state); }},
        {"log_softmax: x is [2, 0], which has no columns",
         [&] {
             log_softmax(Tensor::zeros({2, 0}));
         }},
        {"segment_max: x is [2, 5] but the segments have 3 rows", [&] { segment_max(x, three); }},
        {"segment_first: x is an empty tensor", [&] { segment_first(empty, three); }},
        {"rotary: x is [2, 5]", [&] { rotary(x, 2, two); }},
        {"attention: q is [2, 5] but k is [3, 4]", [&] { attention(x, y, y, 1, past(two)); }},
        {"attention_hard: v is an empty tensor",
         [&] { attention_hard(x, x, empty, 1, past(two)); }},
        {"pointer_scores: q is [2, 5] but the visibility has 3 query rows",
         [&] { pointer_scores(x, x, past(three)); }},
        {"adamw: the parameter is [2, 5] but its gradient is [3, 4]",
         [&] { adamw_update(p, y, m, m, {}); }},
        {"sgd: the parameter is [2, 5] but b is [4]", [&] { sgd_update(p, x, bad, {}); }},
        {"clip: the largest norm is 0 but must be positive", [&] { clip_scale(1, 0); }},
    };
    for (const BadCall& bad_call : calls) {
        try {
            bad_call.call();
            ADD_FAILURE() << "no error: " << bad_call.says;
        } catch (const Error& e) {
            EXPECT_EQ(std::string(e.what()).rfind(bad_call.says, 0), 0u)
                << "expected: " << bad_call.says << "\n  got:    " << e.what();
        }
    }
}

// The list above is whole: every function of a header of ops that gives a Tensor is called in it.
TEST(BadCalls, EveryOpIsAmongThem) {
    const std::filesystem::path ops = std::filesystem::path(FOVEA_SOURCE_DIR) / "fovea/ops";
    const auto text_of_file = [](const std::filesystem::path& path) {
        std::ifstream in(path);
        return std::string(std::istreambuf_iterator<char>(in), {});
    };
    const std::string here = text_of_file(ops / "bad_calls_test.cpp");
    // The name in a line such as "Tensor linear(const Tensor& x, …"; empty where it is none.
    const auto declared = [](std::string_view line) -> std::string {
        if (line.starts_with("inline ")) line.remove_prefix(7);
        if (!line.starts_with("Tensor ") && !line.starts_with("Ragged ")) return "";
        line.remove_prefix(7);
        const std::size_t open = line.find('(');
        const std::string_view name = line.substr(0, open);
        const bool plain =
            open != std::string_view::npos && std::all_of(name.begin(), name.end(), [](char c) {
                return c == '_' || std::isalnum(static_cast<unsigned char>(c));
            });
        return plain ? std::string(name) : "";
    };
    // Parts of the harness and of other ops, not ops; recompute only hands on.
    const std::set<std::string> others{"random_tensor", "reduced", "recompute", "position_code"};
    int found = 0;
    for (const auto& file : std::filesystem::recursive_directory_iterator(ops)) {
        if (file.path().extension() != ".h") continue;
        std::istringstream lines(text_of_file(file.path()));
        for (std::string line; std::getline(lines, line);) {
            const std::string op = declared(line);
            if (op.empty() || others.count(op)) continue;
            ++found;
            EXPECT_NE(here.find(" " + op + "("), std::string::npos)
                << op << " of " << file.path().filename() << " is never called wrongly here";
        }
    }
    EXPECT_GT(found, 30);
}

TEST(BadCalls, WeightsForInferenceAreNotTrained) {
    Rng rng(1);
    Tape tape;
    const Tensor x = tape.watch(Tensor::zeros({2, 5}));
    const Tensor w = Tensor::zeros({3, 5}).to(Format::int8);
    try {
        linear(x, w);
        ADD_FAILURE() << "no error";
    } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find("stored as int8, which is for inference"),
                  std::string::npos);
        EXPECT_FALSE(e.hint().empty());
    }
}

}  // namespace
}  // namespace fovea
