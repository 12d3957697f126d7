#pragma once
// XLNet as a Stepper. The next token is predicted by one row of the query stream that stands behind
// the text and sees all of it. As the text's own rows see each other both ways, every new token
// changes all of them:
//   memory off   the whole text is read anew for each token
//   memory on    the rows of all but the last two tokens stay as they were when computed; those two
//                are read anew (what Hugging Face's generate does with use_mems)
// Both are exact to the reference; the second is not an approximation of the first with the same
// bits, but another answer, which costs three rows a token instead of all.
#include <memory>
#include <optional>

#include "fovea/infer/stepper.h"
#include "fovea/models/xlnet.h"

namespace fovea {

struct XlnetStepperOptions {
    std::optional<bool> memory{};  // by the model's config (use_mems_eval) unless given
};

// `model` outlives the stepper. Computes in the precision that is current here.
std::unique_ptr<Stepper> make_xlnet_stepper(const XlnetLm& model,
                                            const XlnetStepperOptions& options = {});

}  // namespace fovea
