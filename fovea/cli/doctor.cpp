#include "fovea/cli/doctor.h"

#include <fmt/core.h>

#include <memory>

#include "fovea/base/json.h"
#include "fovea/bench/machine.h"
#include "fovea/cli/help.h"
#include "fovea/cli/options.h"

namespace fovea {
namespace {

std::string gigabytes(double bytes) { return fmt::format("{:.1f} GiB", bytes / 1073741824.0); }

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

std::string gemm_text(const bench::GemmFigure& g) {
    return fmt::format("{:.1f} GFLOP/s, {:.0f} % of the limit sampled with it", g.gflops,
                       g.share * 100);
}

// A table that can be pasted into a bug report.
std::string markdown(const bench::Machine& m, const std::vector<bench::GemmFigure>& gemm) {
    std::string out = "| what | found |\n|---|---|\n";
    const auto row = [&](const std::string& what, const std::string& found) {
        out += fmt::format("| {} | {} |\n", what, found);
    };
    row("fovea", FOVEA_VERSION);
    row("system", fmt::format("{}, kernel {}", m.system, m.kernel));
    row("CPU", m.cpu);
    row("instruction sets", m.isa_note);
    row("bf16 products", m.bf16_way);
    row("cores", fmt::format("{} online, {} allowed here, {} threads used", m.cores_online,
                             m.cores_allowed, m.threads));
    row("memory",
        fmt::format("{} in the machine, {} allowed here, {} free", gigabytes(m.memory_total),
                    gigabytes(m.memory_allowed), gigabytes(m.memory_free)));
    for (const bench::GemmFigure& g : gemm)
        row(fmt::format("{} matrix product 1024x512x2048", g.precision), gemm_text(g));
    std::string versions;
    for (const auto& [name, version] : m.versions) versions += name + " " + version + ", ";
    row("libraries", versions + "CLI11 " CLI11_VERSION);
    return out;
}

Json json_of(const bench::Machine& m, const std::vector<bench::GemmFigure>& gemm) {
    Json versions = Json::object(), products = Json::array();
    for (const auto& [name, version] : m.versions) versions[name] = version;
    versions["CLI11"] = CLI11_VERSION;
    for (const bench::GemmFigure& g : gemm)
        products.push_back({{"precision", g.precision}, {"gflops", g.gflops}, {"share", g.share}});
    return Json{
        {"schema", "fovea.doctor"},
        {"version", 1},
        {"fovea", FOVEA_VERSION},
        {"system", m.system},
        {"kernel", m.kernel},
        {"cpu", m.cpu},
        {"isa", {{"found", m.isa_found}, {"used", m.isa_used}, {"note", m.isa_note}}},
        {"bf16", m.bf16_way},
        {"cores", {{"online", m.cores_online}, {"allowed", m.cores_allowed}}},
        {"threads", m.threads},
        {"memory",
         {{"total", m.memory_total}, {"allowed", m.memory_allowed}, {"free", m.memory_free}}},
        {"gemm", products},
        {"libraries", versions}};
}

}  // namespace

std::string machine_in_short() {
    const bench::Machine m = bench::look_at_machine();
    return fmt::format("{}\n{} of {} cores, {} of memory allowed\ninstructions: {} (found: {})\n",
                       m.cpu, m.threads, m.cores_online, gigabytes(m.memory_allowed), m.isa_used,
                       joined(m.isa_found));
}

void add_doctor_command(CLI::App& app) {
    struct Choice {
        std::string format;
        bool fast = false;
    };
    auto choice = std::make_shared<Choice>();
    CLI::App* doctor =
        app.add_subcommand("doctor", "What this machine offers and what Fovea uses of it.");
    doctor->group(more_group);
    set_examples(*doctor, {"fovea doctor", "fovea doctor --json", "FOVEA_ISA=avx2 fovea doctor"});
    doctor->add_flag("--no-timing", choice->fast, "leave out the two seconds of matrix products");
    add_format_options(*doctor, choice->format, {"text", "json"});
    doctor->callback([choice] {
        const bench::Machine machine = bench::look_at_machine();
        const std::vector<bench::GemmFigure> gemm =
            choice->fast ? std::vector<bench::GemmFigure>{} : bench::gemm_figures();
        if (choice->format == "json")
            fmt::print("{}\n", to_text(json_of(machine, gemm), 1));
        else
            fmt::print("{}", markdown(machine, gemm));
    });
}

}  // namespace fovea
