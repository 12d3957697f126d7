// at_isa LEVEL PROGRAM WORDS...: runs a test program at an instruction set below the machine's best
// (which the plain run uses). Where the machine's best is not above LEVEL it ends with 77, which
// ctest counts as skipped: the machine is asked when tests run, not when the build was configured.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "fovea/kernels/isa.h"

int main(int count, char** words) {
    using fovea::kernels::Isa;
    constexpr int skipped = 77;
    if (count < 3) {
        std::fprintf(stderr, "usage: at_isa LEVEL PROGRAM WORDS...\n");
        return 2;
    }
    const Isa best = fovea::kernels::best_isa();
    for (const Isa level : {Isa::scalar, Isa::avx2, Isa::avx512}) {
        if (std::strcmp(words[1], fovea::kernels::name_of(level)) != 0) continue;
        if (level >= best) {
            std::printf("skipped: the best of this machine is %s\n", fovea::kernels::name_of(best));
            return skipped;
        }
        ::setenv("FOVEA_ISA", words[1], 1);
        ::execv(words[2], words + 2);
        std::perror(words[2]);
        return 1;
    }
    std::fprintf(stderr, "at_isa: no level %s below another\n", words[1]);
    return 2;
}
