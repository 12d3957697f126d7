#include "fovea/base/precision.h"

#include "fovea/base/error.h"

namespace fovea {
namespace {

thread_local Precision precision_of_thread = Precision::f32;

}  // namespace

const char* name_of(Precision precision) {
    for (const NamedPrecision& p : precisions)
        if (p.value == precision) return p.name;
    return "?";
}

Precision precision_of(std::string_view name) {
    for (const NamedPrecision& p : precisions)
        if (p.name == name) return p.value;
    fail_with(ErrorKind::usage, "f32 or bf16", "no precision \"", name, "\"");
}

Precision current_precision() { return precision_of_thread; }

PrecisionScope::PrecisionScope(Precision precision) : before_(precision_of_thread) {
    precision_of_thread = precision;
}
PrecisionScope::~PrecisionScope() { precision_of_thread = before_; }

}  // namespace fovea
