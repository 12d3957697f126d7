#include "fovea/nn/positions.h"

#include <algorithm>

namespace fovea {
namespace {

constexpr PositionCode codes[] = {
    PositionCode::none,   PositionCode::sinusoidal, PositionCode::halves,   PositionCode::unit,
    PositionCode::linear, PositionCode::learned,    PositionCode::relative, PositionCode::rotary};

}  // namespace

const char* name_of(PositionCode code) {
    switch (code) {
        case PositionCode::none:
            return "none";
        case PositionCode::sinusoidal:
            return "sinusoidal";
        case PositionCode::halves:
            return "sinusoidal_halves";
        case PositionCode::unit:
            return "unit";
        case PositionCode::linear:
            return "linear";
        case PositionCode::learned:
            return "learned";
        case PositionCode::relative:
            return "relative";
        case PositionCode::rotary:
            return "rotary";
    }
    return "?";
}

PositionCode position_code_of(const std::string& name) {
    for (const PositionCode c : codes)
        if (name == name_of(c)) return c;
    throw Error("positions: unknown code \"" + name + "\"", ErrorKind::bad_input,
                "one of none, sinusoidal, sinusoidal_halves, unit, linear, learned, relative, "
                "rotary");
}

Tensor position_code(const Segments& segments, int width, PositionCode code, const Positions& at,
                     std::span<const std::int64_t> lengths) {
    expect(width > 0, "positions: width is ", width);
    if (code == PositionCode::sinusoidal) return sinusoid(segments, width, SinusoidForm::paper, at);
    if (code == PositionCode::halves) return sinusoid(segments, width, SinusoidForm::halves, at);
    expect(code == PositionCode::unit || code == PositionCode::linear, "positions: ", name_of(code),
           " is no code of numbers");
    expect(lengths.empty() || static_cast<std::int64_t>(lengths.size()) == segments.count(),
           "positions: ", lengths.size(), " lengths for ", segments.count(), " sequences");
    const Ids positions = position_ids(segments, at);
    Tensor y({segments.total(), width});
    float* out = y.write();
    for (std::int64_t s = 0; s < segments.count(); ++s) {
        const std::int64_t n =
            lengths.empty() ? segments.length(s) : lengths[static_cast<std::size_t>(s)];
        const float unit = n > 1 ? 1.0f / static_cast<float>(n - 1) : 0.0f;
        for (std::int64_t r = segments.begin(s); r < segments.end(s); ++r)
            std::fill_n(out + r * width, width,
                        static_cast<float>(positions[static_cast<std::size_t>(r)]) *
                            (code == PositionCode::unit ? unit : 1.0f));
    }
    y.set_row_names(segments);
    return y;
}

Init sines(SinusoidForm form) {
    return [form](Tensor& t, Rng&) {
        const Tensor values = sinusoid(Segments::uniform(1, t.rows()), t.cols(), form);
        std::copy_n(values.data(), t.size(), t.write());
    };
}

}  // namespace fovea
