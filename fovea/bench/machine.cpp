#include "fovea/bench/machine.h"

#include <fmt/core.h>
#include <gnu/libc-version.h>
#include <hwy/highway.h>
#include <simdjson.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>
#include <utf8proc.h>
#include <xxhash.h>
#include <zlib.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "fovea/base/threads.h"
#include "fovea/bench/kernels.h"
#include "fovea/kernels/gemm/gemm.h"
#include "fovea/kernels/isa.h"
#include "fovea/tensor/memory.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace fovea::bench {
namespace {

// The text after the colon on the first line that begins with `key`.
std::string field(const char* path, const std::string& key, char separator) {
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);) {
        if (!line.starts_with(key)) continue;
        const std::size_t at = line.find(separator);
        if (at == std::string::npos) continue;
        std::string value = line.substr(at + 1);
        value.erase(0, value.find_first_not_of(" \t\""));
        value.erase(value.find_last_not_of(" \t\"") + 1);
        return value;
    }
    return "unknown";
}

std::vector<std::pair<std::string, std::string>> library_versions() {
    const unsigned xxh = XXH_versionNumber();
    return {
        {"fmt",
         fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
            {"highway", fmt::format("{}.{}.{}", HWY_MAJOR, HWY_MINOR, HWY_PATCH)},
            {"nlohmann-json",
             fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                         NLOHMANN_JSON_VERSION_PATCH)},
            {"pcre2", fmt::format("{}.{}", PCRE2_MAJOR, PCRE2_MINOR)},
            {"simdjson", SIMDJSON_STRINGIFY(SIMDJSON_VERSION)}, {"utf8proc", utf8proc_version()},
            {"xxhash", fmt::format("{}.{}.{}", xxh / 10000, xxh / 100 % 100, xxh % 100)},
            {"zlib", zlibVersion()}, {"glibc", gnu_get_libc_version()},
#if defined(__clang__)
            {"compiler",
             fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__)},
#else
            {"compiler",
             fmt::format("gcc {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__)},
#endif
    };
}

}  // namespace

Machine look_at_machine() {
    Machine m;
    m.cpu = field("/proc/cpuinfo", "model name", ':');
    m.system = field("/etc/os-release", "PRETTY_NAME", '=');
    utsname names{};
    if (uname(&names) == 0) m.kernel = fmt::format("{} {}", names.release, names.machine);

    for (int i = 0; i <= static_cast<int>(kernels::best_isa()); ++i)
        m.isa_found.emplace_back(name_of(static_cast<kernels::Isa>(i)));
    m.isa_used = name_of(kernels::active_isa());
    m.isa_note = kernels::isa_report();
    m.bf16_way = kernels::active_isa() == kernels::Isa::amx
                     ? "AMX tiles"
                     : std::string(kernels::has_avx512_bf16() ? "AVX512-BF16 dot products"
                                                              : "f32 multiply-adds") +
                           " in AMX's own order (same bits); no AMX: " + kernels::why_not_amx();

    m.cores_online = static_cast<int>(std::thread::hardware_concurrency());
    m.cores_allowed = available_cores();
    m.threads = thread_count();
    struct sysinfo info {};
    if (sysinfo(&info) == 0)
        m.memory_total = static_cast<double>(info.totalram) * static_cast<double>(info.mem_unit);
    m.memory_allowed = static_cast<double>(memory_limit());
    m.memory_free =
        std::strtod(field("/proc/meminfo", "MemAvailable", ':').c_str(), nullptr) * 1024;
    m.versions = library_versions();
    return m;
}

std::vector<GemmFigure> gemm_figures(double seconds) {
    constexpr std::int64_t rows = 1024, inner = 512, columns = 2048;
    constexpr double work = 2.0 * rows * inner * columns;
    const Tensor x = random_tensor(rows, inner, 1), w = random_tensor(columns, inner, 2);
    Tensor y({rows, columns});
    std::vector<Contestant> contestants;
    std::vector<GemmFigure> figures;
    std::vector<std::shared_ptr<kernels::PackedMatrix>> packed;
    for (const auto format : {Format::f32, Format::bf16}) {
        const std::string precision = name_of(format);
        packed.push_back(
            std::make_shared<kernels::PackedMatrix>(kernels::pack(w, Trans::yes, format)));
        contestants.push_back(timed(precision, work, [&x, &y, p = packed.back()] {
            kernels::gemm_packed(x, *p, y.view());
        }));
        contestants.push_back(KernelBench::arithmetic_limit(precision));
        figures.push_back({precision});
    }
    const std::vector<Figure> measured = measure_in_turns(contestants, {.seconds = seconds});
    for (std::size_t i = 0; i < figures.size(); ++i) {
        figures[i].gflops = measured[2 * i].best / 1e9;
        if (measured[2 * i + 1].best > 0)
            figures[i].share = measured[2 * i].best / measured[2 * i + 1].best;
    }
    return figures;
}

}  // namespace fovea::bench
