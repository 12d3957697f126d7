#pragma once
// Written dates and their ISO form, made by rule: the data of `make demo`. "the 3rd of March, 1987"
// becomes 1987-03-03; five languages, many styles. A date is in the held-out set or not by its own
// number, so that no held-out date occurs in training in any style.
// Thread-safety: pure functions, safe from any thread.
#include <cstdint>
#include <vector>

#include "fovea/data/pairs.h"

namespace fovea {

struct DatesOptions {
    std::int64_t count = 8000;
    bool held_out = false;  // dates kept from training
    std::uint64_t seed = 1;
};

std::vector<TextPair> written_dates(const DatesOptions& options);

}  // namespace fovea
