#pragma once
// Autograd is a scope: while a Tape is alive on a thread, ops are recorded and dropout is on; no
// tape means inference. Creation order is topological order, so backward walks a vector from its
// end. A thread_local pointer leads to the innermost tape: one of the three scopes that ops look at
// (with Probe and PrecisionScope).
//
// A tape belongs to the thread that made it. gradients() consumes it: each node and intermediate
// gradient is freed as the walk passes; parameters and watched tensors remain.
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "fovea/autograd/gradients.h"
#include "fovea/base/rng.h"
#include "fovea/tensor/tensor.h"

namespace fovea {

class Tape {
public:
    using Backward = std::function<void(const Tensor& dy, Gradients& d)>;

    Tape();                       // gradients without dropout (analysis, gradient checks)
    explicit Tape(Rng& dropout);  // training: draws one key from the stream
    ~Tape();
    Tape(const Tape&) = delete;
    Tape& operator=(const Tape&) = delete;

    // Keep the gradient of x, which is no parameter (pixels, embeddings to be explained).
    Tensor watch(Tensor x);

    // d loss / d everything; loss has one element.
    Gradients gradients(const Tensor& loss);
    // The same from a given gradient of y.
    Gradients gradients(const Tensor& y, const Tensor& dy);

    bool has_dropout() const { return dropout_.on; }
    std::uint64_t dropout_key() const { return dropout_.key; }
    std::uint32_t next_dropout_site() { return dropout_.site++; }
    std::uint64_t serial() const { return serial_; }
    std::size_t recorded() const { return nodes_.size(); }

    // For record() alone.
    void push(Tensor& y, Backward backward);

    // For recompute() alone: a second run of the same ops drops the same values, and a first run
    // whose nodes nobody wants records none.
    struct Dropout {
        bool on = false;
        std::uint64_t key = 0;
        std::uint32_t site = 0;
    };
    enum class Mode { record, forget };
    explicit Tape(const Dropout& dropout, Mode mode = Mode::record);
    const Dropout& dropout() const { return dropout_; }
    void set_dropout(const Dropout& dropout) { dropout_ = dropout; }
    bool records() const { return mode_ == Mode::record; }
    // gradients(y, dy), added to what `d` holds in the order the outer walk would have had: the
    // same bits as without recomputation.
    void gradients_into(Gradients& d, const Tensor& y, const Tensor& dy);
    // Tensors with this tape's serial must not be met: their gradient would be lost.
    void forbid(std::uint64_t serial) { forbidden_ = serial; }
    std::uint64_t forbidden() const { return forbidden_; }

private:
    struct Node {
        std::uint64_t y;
        Shape shape;  // a reader may have used y under another one
        Backward backward;
    };
    std::vector<Node> nodes_;
    Tape* outer_;
    std::uint64_t serial_;
    Dropout dropout_;
    Mode mode_ = Mode::record;
    std::uint64_t forbidden_ = 0;
};

// The innermost tape of this thread, or null.
Tape* current_tape();

// No tape inside this scope, whatever is alive outside (evaluation within training).
class Suspend {
public:
    Suspend();
    ~Suspend();
    Suspend(const Suspend&) = delete;
    Suspend& operator=(const Suspend&) = delete;

private:
    Tape* saved_;
};

// Is any of these part of what the current tape differentiates?
bool is_tracked(const Tensor& x);

// The end of every op: hands y back, remembering on the current tape how its gradient flows to the
// inputs. `backward` accumulates (d.into, d.add) and asks d.wants(x) first. Lambdas capture only
// what they read, and GradTarget(x) of an input whose data they do not. Row names travel from the
// first input that has them and as many rows as y.
Tensor record(Tensor y, std::initializer_list<Tensor> inputs, Tape::Backward backward);
Tensor record(Tensor y, std::span<const Tensor> inputs, Tape::Backward backward);

}  // namespace fovea
