#include "fovea/models/pointer.h"

#include <cmath>

#include "fovea/base/error.h"
#include "fovea/ops/softmax.h"

namespace fovea {

CopyMode copy_mode_of(const std::string& name) {
    for (const CopyMode mode : {CopyMode::none, CopyMode::mixed, CopyMode::only})
        if (name == name_of(mode)) return mode;
    fail_with(ErrorKind::usage, "one of none, mixed, only", "--copy: there is no way \"", name,
              "\" to copy");
}

const char* name_of(CopyMode mode) {
    return mode == CopyMode::none ? "none" : mode == CopyMode::mixed ? "mixed" : "only";
}

CopySources CopySources::all(const Segments& targets, const Segments& segments, const Ids& tokens) {
    CopySources from{targets, {}, segments, tokens};
    for (std::int64_t i = 0; i < targets.count(); ++i) from.sources.push_back(i);
    return from;
}

PointerHead::PointerHead(CopyMode how, int width, const Params& p)
    : mode(how),
      name(p.path()),
      q_proj(width, width, p / "q_proj"),
      k_proj(width, width, p / "k_proj"),
      gate(width, 1, p / "gate"),
      score_vector(
          p.exact("score_vector", {width}, uniform(1.0f / std::sqrt(static_cast<float>(width))))) {}

CopyChoice PointerHead::operator()(const Tensor& rows, const Tensor& keys, const CopySources& from,
                                   const Tensor& written) const {
    std::vector<KeyList> lists;
    CopyChoice choice;
    for (std::int64_t i = 0; i < from.rows.count(); ++i) {
        const std::int64_t s = from.sources[static_cast<std::size_t>(i)];
        lists.push_back({{from.segments.begin(s), from.segments.length(s)}});
        for (std::int64_t r = 0; r < from.rows.length(i); ++r)
            choice.tokens.insert(choice.tokens.end(), from.tokens.begin() + from.segments.begin(s),
                                 from.tokens.begin() + from.segments.end(s));
    }
    choice.scores =
        pointer_scores(q_proj(rows), keys, everything(from.rows, lists, from.segments.total()),
                       {.score = Additive{score_vector}, .name = name});
    if (mode == CopyMode::mixed) {
        choice.written = log_softmax(written);
        choice.gate = gate(rows);
    }
    return choice;
}

}  // namespace fovea
