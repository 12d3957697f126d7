#include "fovea/tasks/seq2seq_settings.h"

#include <algorithm>
#include <cmath>

#include "fovea/base/error.h"

namespace fovea {
namespace {

template <class T>
void want_setting(bool ok, const char* flag, const T& value, const char* range) {
    if (!ok)
        fail_with(ErrorKind::usage, text_of(flag, " takes ", range), "train: ", flag, " is ",
                  value);
}

void check_sizes(const TransformerConfig& c) {
    const auto size = [](int n, const char* flag, int most) {
        if (n < 1 || n > most)
            fail_with(ErrorKind::usage, text_of(flag, " takes a number from 1 to ", most),
                      "train: ", flag, " is ", n);
    };
    size(c.d_model, "--d-model", 1 << 16);
    size(c.encoder_ffn_dim, "--ffn", 1 << 20);
    size(c.encoder_attention_heads, "--heads", 1 << 16);
    size(c.encoder_layers, "--encoder-layers", 512);
    size(c.decoder_layers, "--decoder-layers", 512);
    size(c.max_relative_position, "--max-relative", 1 << 16);
    const int heads = c.encoder_attention_heads;
    if (c.d_model % heads != 0)
        fail_with(ErrorKind::usage, "choose numbers that divide: --d-model 256 --heads 4",
                  "train: --heads ", heads, " does not divide --d-model ", c.d_model);
    if (c.positions == PositionCode::rotary && c.d_model / heads % 2 != 0)
        fail_with(ErrorKind::usage, "choose --d-model and --heads so that a head is even",
                  "train: --positions rotary turns pairs of columns, but a head has ",
                  c.d_model / heads);
}

}  // namespace

void Seq2SeqTraining::check() const {
    const auto share = [](float x, const char* flag) {
        want_setting(x >= 0 && x < 1, flag, x, "a number from 0, below 1");
    };
    share(config.dropout, "--dropout");
    share(config.attention_dropout, "--attention-dropout");
    share(config.activation_dropout, "--activation-dropout");
    share(smoothing, "--smoothing");
    want_setting(batches.max_tokens >= 1, "--max-tokens", batches.max_tokens,
                 "a number of tokens from 1");
    want_setting(batches.max_examples >= 0, "--max-pairs", batches.max_examples,
                 "a number of pairs from 0 (no bound)");
    want_setting(limits.source >= 2, "--max-source", limits.source, "a number of tokens from 2");
    want_setting(limits.target >= 2, "--max-target", limits.target, "a number of tokens from 2");
    want_setting(draw >= 0, "--limit", draw, "a number of pairs from 0 (all)");
    want_setting(dev_limit >= 0, "--dev-limit", dev_limit, "a number of pairs from 0 (all)");
    want_setting(train.skip_bad >= 0, "--skip-bad", train.skip_bad, "a number of lines from 0");
    want_setting(train.lead >= 0, "--lead", train.lead, "a number of words from 0 (off)");
    if (from.empty()) {
        check_sizes(config);
        want_setting(vocabulary.size >= 1, "--vocab-size", vocabulary.size,
                     "a number of tokens from 1");
    }
    if (run.patience > 0 && !measures())
        fail_with(ErrorKind::usage, "give a --dev file, or leave --patience out",
                  "train: --patience has no effect with --dev none");
    search.check();
    run.check();
}

Seq2SeqTraining seq2seq_defaults(const std::string& task, const std::string& preset) {
    Seq2SeqTraining t;
    t.task = task;
    t.config.apply_preset(preset);
    const bool documents = task == "summarise";
    if (documents) t.limits = {.source = 400, .target = 128, .cut_source = true};
    t.search.beam = documents ? 4 : 5;
    t.search.max_length = static_cast<int>(t.limits.target);
    if (documents) t.search.no_repeat_ngram = 3;
    return t;
}

RunDefaults seq2seq_run_defaults(int d_model) {
    const bool small = d_model <= 256;
    return {.rate = small ? 1e-3 : 7e-4,
            .warmup = small ? 1000 : 4000,
            .epochs = 10,
            .d_model = d_model};
}

void fit_rates(TrainOptions& run, int d_model) {
    const RunDefaults d = seq2seq_run_defaults(d_model);
    run.usual_warmup = d.warmup;
    run.schedule.d_model = d.d_model;
    if (run.schedule.peak == 0)
        run.schedule.peak = run.schedule.kind == ScheduleKind::noam ? 1.0 : d.rate;
}

}  // namespace fovea
