#include "fovea/autograd/tape.h"

#include <atomic>

namespace fovea {
namespace {

thread_local Tape* current = nullptr;
std::atomic<std::uint64_t> next_serial{1};
std::atomic<int> tapes_alive{0};
thread_local int own_tapes = 0;

}  // namespace

Tape::Tape() : outer_(current), serial_(next_serial.fetch_add(1)) {
    current = this;
    ++tapes_alive;
    ++own_tapes;
}

Tape::Tape(Rng& dropout) : Tape() { dropout_ = {.on = true, .key = dropout.bits()}; }

Tape::Tape(const Dropout& dropout, Mode mode) : Tape() {
    dropout_ = dropout;
    mode_ = mode;
}

Tape::~Tape() {
    if (current == this) current = outer_;
    --tapes_alive;
    --own_tapes;
}

Tensor Tape::watch(Tensor x) {
    x.set_tape(serial_);
    return x;
}

void Tape::push(Tensor& y, Backward backward) {
    y.set_tape(serial_);
    nodes_.push_back({y.id(), y.shape(), std::move(backward)});
}

Gradients Tape::gradients(const Tensor& loss) {
    expect(loss.size() == 1, "gradients: the loss is ", loss.shape(), " but must have one element");
    return gradients(loss, Tensor::full(loss.shape(), 1.0f));
}

Gradients Tape::gradients(const Tensor& y, const Tensor& dy) {
    Gradients d;
    gradients_into(d, y, dy);
    return d;
}

void Tape::gradients_into(Gradients& d, const Tensor& y, const Tensor& dy) {
    expect(current == this, "gradients: not the innermost tape of this thread");
    expect(y.tape() == serial_ || y.trainable(),
           "gradients: this tape did not record the tensor of ", y.shape(),
           " (made without a tape, or the tape was used already)");
    const std::uint64_t before = d.set_tape(serial_);
    d.add(y, dy);
    const Suspend suspend;  // backward kernels are not recorded themselves
    while (!nodes_.empty()) {
        const Node node = std::move(nodes_.back());
        nodes_.pop_back();
        if (const Tensor dnode = d.take(node.y); !dnode.empty())
            node.backward(dnode.reshaped(node.shape), d);
    }
    d.set_tape(before);
    serial_ = next_serial.fetch_add(1);  // consumed: what it recorded is no longer tracked
}

Tape* current_tape() { return current; }

Suspend::Suspend() : saved_(current) { current = nullptr; }
Suspend::~Suspend() { current = saved_; }

bool is_tracked(const Tensor& x) {
    return current && current->records() &&
           (x.trainable() || (x.tape() != 0 && x.tape() == current->serial()));
}

Tensor record(Tensor y, std::initializer_list<Tensor> inputs, Tape::Backward backward) {
    return record(std::move(y), std::span(inputs.begin(), inputs.size()), std::move(backward));
}

Tensor record(Tensor y, std::span<const Tensor> inputs, Tape::Backward backward) {
    if (!current) {
#ifndef NDEBUG
        for (const Tensor& x : inputs)
            expect(!x.trainable() || own_tapes > 0 || tapes_alive == 0,
                   "record: a trainable tensor of ", x.shape(),
                   " is used on a thread without a tape while a tape is alive on another");
#endif
        return y;
    }
    bool tracked = false;
    for (const Tensor& x : inputs) {
        if (x.empty()) continue;
        expect(x.tape() == 0 || x.tape() != current->forbidden(),
               "recompute: the function uses a tensor of ", x.shape(),
               " that was computed outside of it but is not among its inputs");
        tracked = tracked || is_tracked(x);
        if (!y.row_names() && x.row_names() && x.row_names()->total() == y.rows())
            y.set_row_names(*x.row_names());
    }
    if (tracked) current->push(y, std::move(backward));
    return y;
}

}  // namespace fovea
