#include "fovea/ops/recompute.h"

#include "fovea/autograd/tape.h"

namespace fovea {
namespace {

// For its life, the tensors that `d` wants belong to the inner tape; then to the outer one again.
class Borrowed {
public:
    Borrowed(std::vector<Tensor> inputs, const Gradients& d, const Tape& inner) {
        for (Tensor& x : inputs) {
            if (x.empty() || !d.wants(x)) continue;
            tensors_.push_back(x);
            marks_.push_back(x.tape());
        }
        for (Tensor& x : tensors_) x.set_tape(inner.serial());
    }
    ~Borrowed() {  // backwards, so that a tensor handed in twice gets its first mark
        for (std::size_t i = tensors_.size(); i-- > 0;) tensors_[i].set_tape(marks_[i]);
    }
    Borrowed(const Borrowed&) = delete;
    Borrowed& operator=(const Borrowed&) = delete;

private:
    std::vector<Tensor> tensors_;
    std::vector<std::uint64_t> marks_;
};

}  // namespace

//   y = f(x…)    dx… and the parameters' gradients: f run once more on a tape of its own
Tensor recompute(const std::function<Tensor(const std::vector<Tensor>&)>& function,
                 const std::vector<Tensor>& inputs) {
    Tape* outer = current_tape();
    if (!outer || !outer->records()) return function(inputs);

    const Tape::Dropout before = outer->dropout();
    Tensor y;
    {
        Tape first(before, Tape::Mode::forget);
        y = function(inputs);
        outer->set_dropout(first.dropout());
    }
    // A function that hands back a tensor it did not make: the node would be its own input.
    for (const Tensor& x : inputs)
        expect(x.empty() || y.id() != x.id(),
               "recompute: the function "
               "hands back its own input of ",
               x.shape());

    // Always recorded: the function may have parameters even where no input is tracked.
    outer->push(
        y, [function, inputs, before, serial = outer->serial()](const Tensor& dy, Gradients& d) {
            Tape inner(before);
            const Borrowed borrowed(inputs, d, inner);
            inner.forbid(serial);
            const Tensor again = function(inputs);
            if (again.tape() == inner.serial()) inner.gradients_into(d, again, dy);
        });
    return y;
}

}  // namespace fovea
