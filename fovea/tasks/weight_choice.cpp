#include "fovea/tasks/weight_choice.h"

#include "fovea/base/error.h"

namespace fovea {

WeightChoice WeightChoice::named(const std::string& name) {
    if (name == "f32") return {Format::f32, Precision::f32};
    if (name == "bf16") return {Format::bf16, Precision::bf16};
    // int8 weights are multiplied with inputs rounded on the way; what is left is f32.
    if (name == "int8") return {Format::int8, Precision::f32};
    if (name == "int7") return {Format::int7, Precision::f32};
    fail_with(ErrorKind::usage, "one of f32, bf16, int8, int7", "there is no precision `", name,
              "`");
}

}  // namespace fovea
