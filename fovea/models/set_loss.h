#pragma once
// The loss of a set (Carion et al. 2020, §3.1): each thing of a picture is matched with one
// prediction of its own, such that the sum of costs is least; matched predictions learn their
// thing's class and box, all others learn that they found nothing. No prediction needs suppressing
// afterwards: a second one for the same thing is an error like any other.
// Thread-safety: pure functions.
#include <span>
#include <vector>

#include "fovea/models/detection_model.h"
#include "fovea/tensor/segments.h"

namespace fovea {

struct SetPredictions {
    Tensor logits;  // [rows, classes + 1], the last one "nothing"; focal: [rows, classes]
    Tensor boxes;   // [rows, 4]: centre x, centre y, width, height as shares of the picture
};

enum class SetClassLoss {
    softmax,  // DETR: cross-entropy over the classes and "nothing"
    focal,    // Zhu et al. 2021: each class says yes or no by itself; nothing is no everywhere
};

// The defaults are DETR's (§A.4).
struct SetLossOptions {
    SetClassLoss kind = SetClassLoss::softmax;
    float class_cost = 1, box_cost = 5, giou_cost = 2;  // of a match
    float class_weight = 1, box = 5, giou = 2;          // in the loss
    float nothing = 0.1f;            // weight of rows without a thing (softmax alone)
    float alpha = 0.25f, gamma = 2;  // of the focal loss
};

// What prediction i costs thing j, [rows of the picture, things]:
//   class_cost · C + box_cost · |b_i − b_j|₁ − giou_cost · GIoU(b_i, b_j)
// C is −p_i(class of j), for focal its gain in loss: f(1) − f(0).
std::vector<double> match_costs(const SetPredictions& p, std::int64_t first_row,
                                std::int64_t past_row, std::span<const Thing> things,
                                const SetLossOptions& options = {});

// The thing each row is matched with, as its place in its picture's list, −1 for none. Where a
// picture has more things than rows, the dearest remain without.
std::vector<std::int64_t> matched_things(const SetPredictions& p, const Segments& pictures,
                                         std::span<const PictureThings> things,
                                         const SetLossOptions& options = {});

// Mean cross-entropy (softmax: rows weigh 1, or `nothing`), or the sum of focal losses over the
// number of things; plus box · L1 + giou · (1 − GIoU) of matched rows over the number of things
// (at least 1). A number.
Tensor set_loss(const SetPredictions& p, const Segments& pictures,
                std::span<const PictureThings> things, const SetLossOptions& options = {});

// The sum over the outputs of several decoder layers, each with a matching of its own (§3.2,
// auxiliary decoding losses).
Tensor set_loss(std::span<const SetPredictions> layers, const Segments& pictures,
                std::span<const PictureThings> things, const SetLossOptions& options = {});

}  // namespace fovea
