#pragma once
// What may be asked of a prediction is a struct with describe(Settings&). A call brings values of
// its own as JSON (a request's "options"); those it does not name stay as they are.
// Thread-safety: a pure function.
#include "fovea/base/json.h"
#include "fovea/base/settings.h"

namespace fovea {

template <class Options>
Options with_given(Options options, const Json& given) {
    if (given.empty()) return options;
    Settings settings;
    options.describe(settings);
    settings.set_all(given, "options");
    return options;
}

}  // namespace fovea
