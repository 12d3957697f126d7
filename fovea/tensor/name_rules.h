#pragma once
// What a checkpoint's names and layouts must undergo to become a model's parameters, and back.
// A model declares its rules at the bottom of its file; loading applies them in order, saving
// undoes them in reverse order. Rules also apply to tensors without data (Tensor::shape_only), by
// which names and shapes are checked before a file is read.
//
//   {.on_disk = "transformer.**", .in_model = {"**"}}                          another prefix
//   {.on_disk = "**.LayerNorm.gamma", .in_model = {"**.LayerNorm.weight"}, .load_only = true}
//   {.on_disk = "h.*.attn.bias", .in_model = {}}                               a buffer: ignored
//   {.on_disk = "h.*.attn.c_attn.weight", .in_model = {"h.*.q.weight", "h.*.k.weight",
//    "h.*.v.weight"}, .transpose = true}                                       fused, [in, 3·out]
//   {.on_disk = "*.q", .in_model = {"*.q"}, .columns_like = "*.bias"}          [in, heads, width]
//
// `*` matches within one part of a dotted name, `**` anything; in_model has the same wild cards in
// the same order.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fovea/tensor/tensor.h"

namespace fovea {

struct NameRule {
    std::string on_disk;
    std::vector<std::string> in_model = {};  // none: ignored; several: split evenly by rows
    bool transpose = false;                  // on disk as [in, out]
    // On disk as [in, heads, width], in the model a matrix [in, heads·width]: so that formats of
    // matrices apply to it. Names the parameter that is [heads, width], which saving asks.
    std::string columns_like = {};
    bool load_only = false;  // an old spelling: read, never written
};

// Does the name fit the pattern? Fills in what each wild card matched.
bool matches_pattern(std::string_view pattern, std::string_view name,
                     std::vector<std::string>& captures);

struct NamedTensor {
    std::string name;
    Tensor tensor;
};

// One tensor of a file as the model's parameters; none where it is ignored.
std::vector<NamedTensor> apply_rules(std::span<const NameRule> rules, NamedTensor on_disk);
// A model's parameters as a file's tensors.
std::vector<NamedTensor> undo_rules(std::span<const NameRule> rules,
                                    std::vector<NamedTensor> in_model);

}  // namespace fovea
