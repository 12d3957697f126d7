// oneDNN behind a pipe: a program of its own, so that whatever oneDNN does (2.6.3 dies with SIGILL on
// machines whose hypervisor hides CPUID leaf 0x1D), `fovea bench` lives on. Built where Debian's
// libdnnl-dev is installed; see fovea/bench/onednn.h for the other end.
//
// A line in, a line out:
//   version                          -> 2.6.3 AVX2
//   probe PRECISION                  -> ok              a small product, checked
//   gemm KIND PRECISION M K N        -> ok | no WHY     KIND: fwd dX dW; C [M, N] = A [M, K] B [K, N]
//   layer_norm ROWS COLUMNS          -> ok | no WHY
//   gelu N                           -> ok | no WHY
//   run TIMES                        -> seconds         of the work opened last
//
// oneDNN is shown at its best: weights reordered beforehand to the layout it likes, the faster of its
// matmul and inner-product primitives, bf16 and int8 operands converted outside the clock (our own
// kernels convert inside).
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <oneapi/dnnl/dnnl.hpp>
#include <random>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

using dnnl::memory;
using Dims = memory::dims;
using Type = memory::data_type;

dnnl::engine& cpu() {
    static dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return engine;
}

dnnl::stream& queue() {
    static dnnl::stream stream(cpu());
    return stream;
}

void reorder(memory& from, memory& to) {
    dnnl::reorder(from, to).execute(queue(), from, to);
    queue().wait();
}

// Values of about unit size (small whole numbers for int8), the same in every run.
memory filled(const memory::desc& plain_f32, float scale) {
    memory m(plain_f32, cpu());
    auto* data = static_cast<float*>(m.get_data_handle());
    std::minstd_rand random(7);
    std::uniform_real_distribution<float> values(-scale, scale);
    const std::size_t n = plain_f32.get_size() / sizeof(float);
    for (std::size_t i = 0; i < n; ++i) data[i] = values(random);
    return m;
}

// The same values in another type or layout.
memory as(memory& m, const memory::desc& wanted) {
    if (m.get_desc() == wanted) return m;
    memory out(wanted, cpu());
    reorder(m, out);
    return out;
}

struct Work {
    dnnl::primitive primitive;
    std::unordered_map<int, memory> arguments;

    double run(int times) {
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < times; ++i) primitive.execute(queue(), arguments);
        queue().wait();
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
};

Type type_of(const std::string& precision, bool activation) {
    if (precision == "f32") return Type::f32;
    if (precision == "bf16") return Type::bf16;
    return activation ? Type::u8 : Type::s8;
}

struct Product {
    std::string kind, precision;
    memory::dim m, k, n;
};

// C = A B as a matmul. fwd: B is a weight stored [N, K]; dX: B is a weight stored [K, N]; both in
// oneDNN's own layout. dW: A is stored [K, M], and both operands are activations.
Work matmul_work(const Product& p) {
    const bool weight = p.kind != "dW";
    const Type a_type = type_of(p.precision, true), b_type = type_of(p.precision, false);
    const Dims a_dims{p.m, p.k}, b_dims{p.k, p.n}, c_dims{p.m, p.n};
    const Dims a_strides = p.kind == "dW" ? Dims{1, p.m} : Dims{p.k, 1};
    const Dims b_strides = p.kind == "fwd" ? Dims{1, p.k} : Dims{p.n, 1};
    const memory::desc a(a_dims, a_type, a_strides);
    const memory::desc b = weight ? memory::desc(b_dims, b_type, memory::format_tag::any)
                                  : memory::desc(b_dims, b_type, b_strides);
    const memory::desc c(c_dims, Type::f32, Dims{p.n, 1});
    dnnl::primitive_attr attributes;
    if (p.precision == "int8")
        attributes.set_output_scales(1 << 1, std::vector<float>(static_cast<std::size_t>(p.n), 0.01f));
    const dnnl::matmul::primitive_desc pd(dnnl::matmul::desc(a, b, c), attributes, cpu());

    const float scale = p.precision == "int8" ? 100.0f : 1.0f;
    memory a_plain = filled(memory::desc(a_dims, Type::f32, a_strides), scale);
    memory b_plain = filled(memory::desc(b_dims, Type::f32, b_strides), scale);
    Work work;
    work.primitive = dnnl::matmul(pd);
    work.arguments = {{DNNL_ARG_SRC, as(a_plain, pd.src_desc())},
                      {DNNL_ARG_WEIGHTS, as(b_plain, pd.weights_desc())},
                      {DNNL_ARG_DST, memory(pd.dst_desc(), cpu())}};
    return work;
}

// The same by the inner-product primitives: src [rows, in], weights [out, in], dst [rows, out].
Work inner_product_work(const Product& p) {
    const Type a_type = type_of(p.precision, true), b_type = type_of(p.precision, false);
    const auto any = memory::format_tag::any;
    const auto rows_first = memory::format_tag::ab;
    Work work;
    const float scale = p.precision == "int8" ? 100.0f : 1.0f;
    const auto make = [&](const memory::desc& wanted, const Dims& dims) {
        memory plain = filled(memory::desc(dims, Type::f32, rows_first), scale);
        return as(plain, wanted);
    };
    if (p.kind == "fwd") {
        const Dims s{p.m, p.k}, w{p.n, p.k}, d{p.m, p.n};
        dnnl::primitive_attr attributes;
        if (p.precision == "int8")
            attributes.set_output_scales(1 << 1,
                                         std::vector<float>(static_cast<std::size_t>(p.n), 0.01f));
        const dnnl::inner_product_forward::primitive_desc pd(
            {dnnl::prop_kind::forward_inference, memory::desc(s, a_type, rows_first),
             memory::desc(w, b_type, any), memory::desc(d, Type::f32, rows_first)},
            attributes, cpu());
        work.primitive = dnnl::inner_product_forward(pd);
        work.arguments = {{DNNL_ARG_SRC, make(pd.src_desc(), s)},
                          {DNNL_ARG_WEIGHTS, make(pd.weights_desc(), w)},
                          {DNNL_ARG_DST, memory(pd.dst_desc(), cpu())}};
    } else if (p.kind == "dX") {  // dX [m, n] = dY [m, k] W [k, n]
        const Dims s{p.m, p.n}, w{p.k, p.n}, d{p.m, p.k};
        const dnnl::inner_product_forward::primitive_desc hint(
            {dnnl::prop_kind::forward_training, memory::desc(s, a_type, rows_first),
             memory::desc(w, a_type, any), memory::desc(d, a_type, rows_first)},
            cpu());
        const dnnl::inner_product_backward_data::primitive_desc pd(
            {memory::desc(s, Type::f32, rows_first), memory::desc(w, a_type, any),
             memory::desc(d, a_type, rows_first)},
            cpu(), hint);
        work.primitive = dnnl::inner_product_backward_data(pd);
        work.arguments = {{DNNL_ARG_DIFF_DST, make(pd.diff_dst_desc(), d)},
                          {DNNL_ARG_WEIGHTS, make(pd.weights_desc(), w)},
                          {DNNL_ARG_DIFF_SRC, memory(pd.diff_src_desc(), cpu())}};
    } else {  // dW [m, n] = dYᵀ [m, k] X [k, n]
        const Dims s{p.k, p.n}, w{p.m, p.n}, d{p.k, p.m};
        const dnnl::inner_product_forward::primitive_desc hint(
            {dnnl::prop_kind::forward_training, memory::desc(s, a_type, rows_first),
             memory::desc(w, a_type, any), memory::desc(d, a_type, rows_first)},
            cpu());
        const dnnl::inner_product_backward_weights::primitive_desc pd(
            {memory::desc(s, a_type, rows_first), memory::desc(w, Type::f32, rows_first),
             memory::desc(d, a_type, rows_first)},
            cpu(), hint);
        work.primitive = dnnl::inner_product_backward_weights(pd);
        work.arguments = {{DNNL_ARG_SRC, make(pd.src_desc(), s)},
                          {DNNL_ARG_DIFF_DST, make(pd.diff_dst_desc(), d)},
                          {DNNL_ARG_DIFF_WEIGHTS, memory(pd.diff_weights_desc(), cpu())}};
    }
    return work;
}

// The faster of the two, by a short trial.
Work gemm_work(const Product& p) {
    std::vector<Work> candidates;
    std::string why;
    for (const auto make : {matmul_work, inner_product_work}) {
        try {
            candidates.push_back(make(p));
        } catch (const dnnl::error& e) {
            why = e.what();
        }
    }
    if (candidates.empty()) throw std::runtime_error(why);
    std::size_t best = 0;
    double best_seconds = 1e9;
    for (int round = 0; round < 3; ++round)
        for (std::size_t i = 0; i < candidates.size(); ++i) {
            candidates[i].run(1);
            if (const double s = candidates[i].run(1); s < best_seconds) {
                best_seconds = s;
                best = i;
            }
        }
    return candidates[best];
}

Work layer_norm_work(memory::dim rows, memory::dim columns) {
    const memory::desc data({rows, columns}, Type::f32, memory::format_tag::ab);
    const dnnl::layer_normalization_forward::primitive_desc pd(
        {dnnl::prop_kind::forward_training, data, 1e-5f,
         dnnl::normalization_flags::use_scale | dnnl::normalization_flags::use_shift},
        cpu());
    const memory::desc row({columns}, Type::f32, memory::format_tag::a);
    Work work;
    work.primitive = dnnl::layer_normalization_forward(pd);
    work.arguments = {{DNNL_ARG_SRC, filled(data, 1.0f)},
                      {DNNL_ARG_SCALE, filled(row, 1.0f)},
                      {DNNL_ARG_SHIFT, filled(row, 1.0f)},
                      {DNNL_ARG_MEAN, memory(pd.mean_desc(), cpu())},
                      {DNNL_ARG_VARIANCE, memory(pd.variance_desc(), cpu())},
                      {DNNL_ARG_DST, memory(data, cpu())}};
    return work;
}

Work gelu_work(memory::dim n) {
    const memory::desc data({n}, Type::f32, memory::format_tag::a);
    const dnnl::eltwise_forward::primitive_desc pd(
        {dnnl::prop_kind::forward_inference, dnnl::algorithm::eltwise_gelu_erf, data, 0.0f, 0.0f},
        cpu());
    Work work;
    work.primitive = dnnl::eltwise_forward(pd);
    work.arguments = {{DNNL_ARG_SRC, filled(data, 3.0f)}, {DNNL_ARG_DST, memory(data, cpu())}};
    return work;
}

// A product whose answer is known: an instruction the machine lacks shows here, not in the figures.
bool probe(const std::string& precision) {
    constexpr memory::dim m = 64, k = 128, n = 96;
    for (const char* kind : {"fwd", "dX", "dW"}) {
        if (precision == "int8" && std::strcmp(kind, "fwd") != 0) continue;
        Work work = matmul_work({kind, precision, m, k, n});
        work.run(2);
        // Sums of k products of values below 1 (or 100 · 100 · 0.01): finite and of that size.
        const memory& c = work.arguments.at(DNNL_ARG_DST);
        const auto* values = static_cast<const float*>(c.get_data_handle());
        double sum = 0;
        for (memory::dim i = 0; i < m * n; ++i) {
            if (!std::isfinite(values[i])) return false;
            sum += std::abs(values[i]);
        }
        if (!(sum > 0)) return false;
    }
    return true;
}

const char* isa_name() {
    switch (dnnl::get_effective_cpu_isa()) {
        case dnnl::cpu_isa::sse41: return "SSE4.1";
        case dnnl::cpu_isa::avx: return "AVX";
        case dnnl::cpu_isa::avx2: return "AVX2";
        case dnnl::cpu_isa::avx2_vnni: return "AVX2-VNNI";
        case dnnl::cpu_isa::avx512_core: return "AVX-512";
        case dnnl::cpu_isa::avx512_core_vnni: return "AVX-512 VNNI";
        case dnnl::cpu_isa::avx512_core_bf16: return "AVX-512 BF16";
        case dnnl::cpu_isa::avx512_core_amx: return "AMX";
        default: return "best";
    }
}

std::string answer(const std::string& line, std::unique_ptr<Work>& work) {
    std::istringstream in(line);
    std::string verb;
    in >> verb;
    std::ostringstream out;
    if (verb == "version") {
        const dnnl_version_t* v = dnnl_version();
        out << v->major << '.' << v->minor << '.' << v->patch << ' ' << isa_name();
    } else if (verb == "probe") {
        std::string precision;
        in >> precision;
        out << (probe(precision) ? "ok" : "no wrong result");
    } else if (verb == "gemm") {
        Product p;
        if (!(in >> p.kind >> p.precision >> p.m >> p.k >> p.n)) return "no cannot read the line";
        work.reset();
        work = std::make_unique<Work>(gemm_work(p));
        out << "ok";
    } else if (verb == "layer_norm") {
        memory::dim rows = 0, columns = 0;
        in >> rows >> columns;
        work.reset();
        work = std::make_unique<Work>(layer_norm_work(rows, columns));
        out << "ok";
    } else if (verb == "gelu") {
        memory::dim n = 0;
        in >> n;
        work.reset();
        work = std::make_unique<Work>(gelu_work(n));
        out << "ok";
    } else if (verb == "run") {
        int times = 0;
        in >> times;
        if (!work) return "no nothing is open";
        out.precision(9);
        out << work->run(times);
    } else {
        out << "no unknown word " << verb;
    }
    return out.str();
}

}  // namespace

int main() {
    std::unique_ptr<Work> work;
    for (std::string line; std::getline(std::cin, line);) {
        std::string reply;
        try {
            reply = answer(line, work);
        } catch (const std::exception& e) {
            reply = std::string("no ") + e.what();
        }
        std::cout << reply << std::endl;
    }
}
