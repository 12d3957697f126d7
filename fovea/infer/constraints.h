#pragma once
// Lexical constraints: phrases that must appear in the target (Hokamp & Liu 2017; banks of equal
// progress as in Post & Vilar 2018). A hypothesis knows which constraints are met and how far the
// one it is inside of has come; leaving a phrase half-way starts it anew.
// Thread-safety: plain values; reading one from several threads is safe, changing it is not.
#include <cstdint>
#include <vector>

#include "fovea/tensor/segments.h"

namespace fovea {

class ConstraintState {
public:
    ConstraintState() = default;
    // The phrases outlive all states. One without tokens is met from the start.
    explicit ConstraintState(const std::vector<Ids>* phrases) : phrases_(phrases) {
        for (const Ids& phrase : *phrases) met_.push_back(phrase.empty());
    }

    bool empty() const { return !phrases_ || phrases_->empty(); }
    bool all_met() const;
    // Tokens of constraints produced so far: the bank a hypothesis competes in.
    int progress() const;
    // Tokens that would advance a constraint: the next of the open phrase, or any phrase's first.
    std::vector<std::int32_t> wanted() const;
    ConstraintState after(std::int32_t token) const;

private:
    const std::vector<Ids>* phrases_ = nullptr;
    std::vector<bool> met_;
    int open_ = -1;       // the phrase being produced
    std::size_t at_ = 0;  // tokens of it produced
};

}  // namespace fovea
