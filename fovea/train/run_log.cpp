#include "fovea/train/run_log.h"

#include <cmath>

#include "fovea/base/files.h"

namespace fovea {
namespace {

Json finite_or_null(double v) { return std::isfinite(v) ? Json(v) : Json(nullptr); }

}  // namespace

RunLog::RunLog(const std::string& run, const TrainState& state)
    : metrics_(join_path(run, "metrics.jsonl"), state.step, state.evaluated_step),
      board_(join_path(run, "events")) {}

void RunLog::add(const StepReport& r) {
    metrics_.add({{"step", r.step},
                  {"epoch", r.epoch},
                  {"loss", finite_or_null(r.loss)},
                  {"lr", r.rate},
                  {"grad_norm", finite_or_null(r.gradient_norm)},
                  {"tokens", r.tokens}});
    if (r.step % 10 != 0) return;
    board_.scalar("train/loss", r.loss, r.step);
    board_.scalar("train/lr", r.rate, r.step);
    board_.scalar("train/grad_norm", r.gradient_norm, r.step);
    board_.scalar("train/tokens_per_second", r.tokens_per_second, r.step);
}

void RunLog::add(const EvaluationReport& r) {
    const Evaluation& e = r.evaluation;
    Json line{{"step", r.step},
              {"epoch", r.epoch},
              {"eval", e.name},
              {"value", finite_or_null(e.value)},
              {"dev_loss", finite_or_null(e.loss)},
              {"best", r.best}};
    line.update(e.extra);
    metrics_.add(line);
    board_.scalar("eval/" + e.name, e.value, r.step);
    board_.scalar("eval/loss", e.loss, r.step);
}

}  // namespace fovea
