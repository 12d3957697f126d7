#include <algorithm>

#include "fovea/text/steps/pre_tokenizers.h"

namespace fovea::text {

namespace {

struct Part {
    ByteRange range;
    bool match;
};

// Walks the text as alternating parts, matches and what lies between them. Empty matches are
// parts too: they keep the neighbours of other matches apart.
template <class Visit>
void for_each_part(const std::vector<ByteRange>& matches, ByteRange within, bool invert,
                   Visit visit) {
    std::uint32_t at = within.begin;
    for (const ByteRange& m : matches) {
        if (at != m.begin) visit(Part{{at, m.begin}, invert});
        visit(Part{m, !invert});
        at = m.end;
    }
    if (at != within.end) visit(Part{{at, within.end}, invert});
}

}  // namespace

void split_at(const std::vector<ByteRange>& matches, ByteRange within, SplitBehavior behavior,
              bool invert, std::vector<ByteRange>& out) {
    if (within.begin == within.end) return;
    const std::size_t first = out.size();
    bool previous = false;
    switch (behavior) {
        case SplitBehavior::removed:
            for_each_part(matches, within, invert, [&](Part p) {
                if (!p.match) out.push_back(p.range);
            });
            break;
        case SplitBehavior::isolated:
            for_each_part(matches, within, invert, [&](Part p) { out.push_back(p.range); });
            break;
        case SplitBehavior::contiguous:
            for_each_part(matches, within, invert, [&](Part p) {
                if (p.match == previous && out.size() > first)
                    out.back().end = p.range.end;
                else
                    out.push_back(p.range);
                previous = p.match;
            });
            break;
        case SplitBehavior::merged_with_previous:
            for_each_part(matches, within, invert, [&](Part p) {
                if (p.match && !previous && out.size() > first)
                    out.back().end = p.range.end;
                else
                    out.push_back(p.range);
                previous = p.match;
            });
            break;
        case SplitBehavior::merged_with_next: {
            // From the right, a match joins the part after it unless that is a match as well; so,
            // from the left, every match opens a piece, and the last one of several in a row
            // takes what follows along.
            bool open = false;
            for_each_part(matches, within, invert, [&](Part p) {
                if (!p.match && open && out.size() > first)
                    out.back().end = p.range.end;
                else
                    out.push_back(p.range);
                open = p.match;
            });
            break;
        }
    }
    out.erase(std::remove_if(out.begin() + static_cast<std::ptrdiff_t>(first), out.end(),
                             [](const ByteRange& r) { return r.begin == r.end; }),
              out.end());
}

}  // namespace fovea::text
