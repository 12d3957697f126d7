#pragma once
// The precision of matrix products and attention: f32, or bf16 operands with f32 sums. It belongs
// to a model (how its weights are stored is another matter: Format); who runs a model opens a scope
// of its precision, and ops read the scope of the thread that calls them. Backward reads it too, so
// one scope stands over loss and gradients. Workers of parallel_for see their caller's scope.
//     const PrecisionScope scope(model.precision);
//     const Tensor hidden = model.network->encode(source, segments);
// Thread-safety: every thread has scopes of its own; a new thread begins with f32.
#include <string_view>

namespace fovea {

enum class Precision { f32, bf16 };

struct NamedPrecision {
    const char* name;
    Precision value;
};
inline constexpr NamedPrecision precisions[] = {{"f32", Precision::f32}, {"bf16", Precision::bf16}};

const char* name_of(Precision precision);
Precision precision_of(std::string_view name);  // an unknown name is a usage error

// That of the innermost scope on this thread; f32 where there is none.
Precision current_precision();

class PrecisionScope {
public:
    explicit PrecisionScope(Precision precision);
    ~PrecisionScope();
    PrecisionScope(const PrecisionScope&) = delete;
    PrecisionScope& operator=(const PrecisionScope&) = delete;

private:
    Precision before_;
};

}  // namespace fovea
