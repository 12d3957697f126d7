#include "fovea/data/language_frame.h"

namespace fovea {
namespace {

// Tokens of one language, from a position on.
struct LanguageRun {
    TokenBatch& to;
    std::int32_t language, position = 0;

    void put(std::span<const TokenId> tokens) {
        to.tokens.insert(to.tokens.end(), tokens.begin(), tokens.end());
        to.types.insert(to.types.end(), tokens.size(), language);
        for (std::size_t i = 0; i < tokens.size(); ++i) to.positions.push_back(position++);
    }
};

}  // namespace

LanguageFrame::Rows LanguageFrame::put(std::span<const TokenId> first,
                                       std::span<const TokenId> second, TokenBatch& to) const {
    const bool both = !first.empty() && !second.empty();
    const SequenceFrame& frame = both ? two_ : one_;
    Rows rows;
    const auto here = [&] { return static_cast<std::int64_t>(to.tokens.size()); };
    LanguageRun run{to, first.empty() ? 1 : 0};
    run.put(frame.front.ids);
    rows.first = rows.second = here();
    run.put(first);
    if (both) {
        run.put(frame.middle.ids);
        rows.second = here();
        run.language = 1;
        run.position = static_cast<std::int32_t>(frame.front.ids.size());
    }
    run.put(second);
    run.put(frame.back.ids);
    return rows;
}

}  // namespace fovea
