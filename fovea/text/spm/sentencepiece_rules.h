#pragma once
// Character maps for the models we train, made from Unicode's own data.
#include <string>

namespace fovea {

// The blob of a map that folds text to NFKC, drops control characters, makes every kind of space a
// plain one (what SentencePiece calls nmt_nfkc) and, where asked, folds case (nmt_nfkc_cf).
// Single code points, and a letter followed by one combining mark; longer runs stay as they are.
std::string nfkc_charsmap(bool fold_case = false);

}  // namespace fovea
