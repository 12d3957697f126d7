#include "fovea/text/unicode/decomposition.h"

#include <algorithm>

#include "fovea/base/utf8.h"
#include "fovea/text/unicode/unicode.h"

namespace fovea::text {

namespace {

unsigned may_change(NormalForm form) {
    switch (form) {
        case NormalForm::nfc:
            return nfc_may_change;
        case NormalForm::nfd:
            return nfd_may_change;
        case NormalForm::nfkc:
            return nfkc_may_change;
        default:
            return nfkd_may_change;
    }
}

// Marks in the order of their classes (stable), between one starter and the next. The change of a
// mark travels with it.
void sort_marks(std::vector<Change>& out, std::vector<int>& classes, std::size_t begin) {
    const std::size_t n = out.size() - begin;
    if (n < 2) return;
    bool sorted = true;
    for (std::size_t i = begin + 1; i < out.size(); ++i) sorted &= classes[i - 1] <= classes[i];
    if (sorted) return;
    std::vector<std::pair<int, Change>> run;
    run.reserve(n);
    for (std::size_t i = begin; i < out.size(); ++i) run.push_back({classes[i], out[i]});
    std::stable_sort(run.begin(), run.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < n; ++i) {
        classes[begin + i] = run[i].first;
        out[begin + i] = run[i].second;
    }
}

void decompose_all(std::string_view text, bool compatible, std::vector<Change>& out,
                   std::vector<int>& classes) {
    out.clear();
    classes.clear();
    out.reserve(text.size());
    classes.reserve(text.size());
    std::size_t pending = 0;  // first of the characters whose order is still open
    char32_t parts[max_decomposition];
    for (std::size_t i = 0; i < text.size();) {
        const Utf8Char c = read_char(text.data() + i);
        i += static_cast<std::size_t>(c.size);
        const int n = decompose(c.code, compatible, parts);
        for (int k = 0; k < n; ++k) {
            const int cls = combining_class(parts[k]);
            if (cls == 0) {
                sort_marks(out, classes, pending);
                pending = out.size();
            }
            out.push_back({parts[k], k > 0});
            classes.push_back(cls);
        }
    }
    sort_marks(out, classes, pending);
}

// UAX #15, D117: a mark joins the last starter unless one of the same or a higher class stands
// between. Rewrites `out` in place: writing never overtakes reading.
void compose_all(std::vector<Change>& out, const std::vector<int>& classes) {
    constexpr std::size_t none = static_cast<std::size_t>(-1);
    std::size_t starter = none, to = 0;
    int last = -1;  // class of the last character kept after the starter, -1: none was
    for (std::size_t i = 0; i < out.size(); ++i) {
        const Change c = out[i];
        const int cls = classes[i];
        if (starter != none && (last < 0 || last < cls)) {
            if (const char32_t joined = compose(out[starter].code, c.code)) {
                out[starter] = {joined, out[starter].change + c.change - 1};
                continue;
            }
        }
        if (cls == 0) {
            starter = to;
            last = -1;
        } else {
            last = cls;
        }
        out[to++] = c;
    }
    out.resize(to);
}

}  // namespace

bool is_normal(std::string_view text, NormalForm form) {
    const unsigned flags = may_change(form);
    for (std::size_t i = 0; i < text.size();) {
        if (static_cast<unsigned char>(text[i]) < 0x80) {
            ++i;
            continue;
        }
        const Utf8Char c = read_char(text.data() + i);
        if (has(c.code, flags)) return false;
        i += static_cast<std::size_t>(c.size);
    }
    return true;
}

void normalize(std::string_view text, NormalForm form, std::vector<Change>& out) {
    std::vector<int> classes;
    decompose_all(text, form == NormalForm::nfkc || form == NormalForm::nfkd, out, classes);
    if (form == NormalForm::nfc || form == NormalForm::nfkc) compose_all(out, classes);
}

}  // namespace fovea::text
