#include "fovea/infer/constraints.h"

#include <algorithm>

namespace fovea {

bool ConstraintState::all_met() const {
    return std::all_of(met_.begin(), met_.end(), [](bool m) { return m; });
}

int ConstraintState::progress() const {
    std::size_t n = open_ >= 0 ? at_ : 0;
    for (std::size_t i = 0; i < met_.size(); ++i)
        if (met_[i]) n += (*phrases_)[i].size();
    return static_cast<int>(n);
}

std::vector<std::int32_t> ConstraintState::wanted() const {
    std::vector<std::int32_t> tokens;
    if (empty()) return tokens;
    if (open_ >= 0) tokens.push_back((*phrases_)[static_cast<std::size_t>(open_)][at_]);
    for (std::size_t i = 0; i < met_.size(); ++i)
        if (!met_[i] && static_cast<int>(i) != open_ && !(*phrases_)[i].empty())
            tokens.push_back((*phrases_)[i][0]);
    return tokens;
}

ConstraintState ConstraintState::after(std::int32_t token) const {
    ConstraintState s = *this;
    if (empty()) return s;
    const auto advance = [&](std::size_t phrase, std::size_t at) {
        s.open_ = static_cast<int>(phrase);
        s.at_ = at;
        if (at == (*phrases_)[phrase].size()) {
            s.met_[phrase] = true;
            s.open_ = -1;
            s.at_ = 0;
        }
    };
    if (open_ >= 0 && (*phrases_)[static_cast<std::size_t>(open_)][at_] == token) {
        advance(static_cast<std::size_t>(open_), at_ + 1);
        return s;
    }
    s.open_ = -1;  // left half-way: that phrase starts anew
    s.at_ = 0;
    for (std::size_t i = 0; i < met_.size(); ++i)
        if (!met_[i] && !(*phrases_)[i].empty() && (*phrases_)[i][0] == token) {
            advance(i, 1);
            break;
        }
    return s;
}

}  // namespace fovea
