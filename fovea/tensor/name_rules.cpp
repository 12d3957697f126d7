#include "fovea/tensor/name_rules.h"

#include <algorithm>
#include <optional>

#include "fovea/base/error.h"

namespace fovea {
namespace {

struct WildCard {
    std::size_t at, length;  // length 1: within a part, 2: anything
};

std::optional<WildCard> first_wild_card(std::string_view pattern) {
    const std::size_t at = pattern.find('*');
    if (at == std::string_view::npos) return {};
    return WildCard{at, pattern.substr(at, 2) == "**" ? std::size_t{2} : std::size_t{1}};
}

// The pattern with its wild cards replaced, in order.
std::string filled(std::string_view pattern, const std::vector<std::string>& captures) {
    std::string out;
    std::size_t used = 0;
    while (const auto wild = first_wild_card(pattern)) {
        expect(used < captures.size(), "name rule: ", pattern,
               " has more wild cards than its pair");
        out.append(pattern.substr(0, wild->at)).append(captures[used++]);
        pattern.remove_prefix(wild->at + wild->length);
    }
    return out.append(pattern);
}

Tensor transposed_matrix(const Tensor& t) {
    if (t.empty()) return Tensor::shape_only({t.cols(), t.rows()});
    Tensor out({t.cols(), t.rows()});
    float* to = out.write();
    const float* from = t.data();
    constexpr std::int64_t tile = 32;  // reads and writes stay within a few cache lines
    for (std::int64_t r0 = 0; r0 < t.rows(); r0 += tile)
        for (std::int64_t c0 = 0; c0 < t.cols(); c0 += tile)
            for (std::int64_t r = r0; r < std::min(r0 + tile, t.rows()); ++r)
                for (std::int64_t c = c0; c < std::min(c0 + tile, t.cols()); ++c)
                    to[c * t.rows() + r] = from[r * t.cols() + c];
    return out;
}

Tensor transposed(const Tensor& t, const std::string& name) {
    expect_input(t.shape().rank() == 2, name, ": is ", t.shape(),
                 " but must be a matrix to be transposed");
    return transposed_matrix(t);
}

// [in, heads, width] as [in, heads·width].
Tensor with_joined_columns(const Tensor& t, const std::string& name) {
    const Shape& s = t.shape();
    expect_input(s.rank() == 3, name, ": is ", s, " but [in, heads, width] is wanted");
    return t.reshaped({s[0], checked_mul(s[1], s[2])});
}

Tensor with_split_columns(const Tensor& t, const Shape& like, const std::string& name) {
    expect(like.rank() == 2 && t.cols() == like.size(), "name rule: ", name, " is ", t.shape(),
           ", whose columns do not split as ", like);
    return t.reshaped({t.rows(), like[0], like[1]});
}

// Rows [i·n/k, (i+1)·n/k) for each i; a vector's elements count as rows.
std::vector<Tensor> split_rows(const Tensor& t, std::size_t k, const std::string& name) {
    const auto parts = static_cast<std::int64_t>(k);
    const std::int64_t rows = t.shape()[0];
    expect_input(rows % parts == 0, name, ": is ", t.shape(), " and cannot be split into ", parts,
                 " equal parts");
    Shape shape;
    shape.push(rows / parts);
    for (int i = 1; i < t.shape().rank(); ++i) shape.push(t.shape()[i]);
    std::vector<Tensor> out;
    for (std::int64_t i = 0; i < parts; ++i) {
        if (t.empty()) {
            out.push_back(Tensor::shape_only(shape));
            continue;
        }
        Tensor part(shape);
        std::copy_n(t.data() + i * part.size(), part.size(), part.write());
        out.push_back(part);
    }
    return out;
}

Tensor joined_rows(const std::vector<Tensor>& parts) {
    Shape shape;
    shape.push(checked_mul(parts[0].shape()[0], static_cast<std::int64_t>(parts.size())));
    for (int i = 1; i < parts[0].shape().rank(); ++i) shape.push(parts[0].shape()[i]);
    Tensor out(shape);
    float* to = out.write();
    for (const Tensor& p : parts) to = std::copy_n(p.data(), p.size(), to);
    return out;
}

std::vector<NamedTensor> apply_one(const NameRule& rule, const NamedTensor& in) {
    std::vector<std::string> captures;
    if (!matches_pattern(rule.on_disk, in.name, captures)) return {in};
    if (rule.in_model.empty()) return {};
    Tensor t = in.tensor;
    if (!rule.columns_like.empty()) t = with_joined_columns(t, in.name);
    if (rule.transpose) t = transposed(t, in.name);
    if (rule.in_model.size() == 1) return {{filled(rule.in_model[0], captures), t}};
    std::vector<NamedTensor> out;
    const auto parts = split_rows(t, rule.in_model.size(), in.name);
    for (std::size_t i = 0; i < parts.size(); ++i)
        out.push_back({filled(rule.in_model[i], captures), parts[i]});
    return out;
}

std::vector<NamedTensor> undo_one(const NameRule& rule, const std::vector<NamedTensor>& in) {
    if (rule.in_model.empty() || rule.load_only) return in;
    std::vector<NamedTensor> out;
    const auto find = [&](const std::string& name) {
        const auto it = std::find_if(in.begin(), in.end(),
                                     [&](const NamedTensor& t) { return t.name == name; });
        expect(it != in.end(), "name rule: ", name, " is missing, so ", rule.on_disk,
               " cannot be written");
        return it->tensor;
    };
    for (const NamedTensor& t : in) {
        std::vector<std::string> captures;
        if (!matches_pattern(rule.in_model[0], t.name, captures)) {
            // a later part of a split: written with the first
            const bool part = std::any_of(
                rule.in_model.begin() + 1, rule.in_model.end(),
                [&](const std::string& p) { return matches_pattern(p, t.name, captures); });
            if (!part) out.push_back(t);
            continue;
        }
        Tensor whole = t.tensor;
        if (rule.in_model.size() > 1) {
            std::vector<Tensor> parts;
            for (const std::string& p : rule.in_model) parts.push_back(find(filled(p, captures)));
            whole = joined_rows(parts);
        }
        if (rule.transpose) whole = transposed(whole, t.name);
        if (!rule.columns_like.empty())
            whole = with_split_columns(whole, find(filled(rule.columns_like, captures)).shape(),
                                       t.name);
        out.push_back({filled(rule.on_disk, captures), whole});
    }
    return out;
}

}  // namespace

bool matches_pattern(std::string_view pattern, std::string_view name,
                     std::vector<std::string>& captures) {
    const auto wild = first_wild_card(pattern);
    if (!wild) return pattern == name;
    if (name.substr(0, wild->at) != pattern.substr(0, wild->at)) return false;
    name.remove_prefix(wild->at);
    pattern.remove_prefix(wild->at + wild->length);
    const std::size_t mark = captures.size();
    for (std::size_t n = 1; n <= name.size(); ++n) {  // the shortest that lets the rest fit
        if (wild->length == 1 && name[n - 1] == '.') break;
        captures.emplace_back(name.substr(0, n));
        if (matches_pattern(pattern, name.substr(n), captures)) return true;
        captures.resize(mark);
    }
    return false;
}

std::vector<NamedTensor> apply_rules(std::span<const NameRule> rules, NamedTensor on_disk) {
    std::vector<NamedTensor> now{std::move(on_disk)};
    for (const NameRule& rule : rules) {
        std::vector<NamedTensor> next;
        for (const NamedTensor& t : now)
            for (NamedTensor& part : apply_one(rule, t)) next.push_back(std::move(part));
        now = std::move(next);
    }
    return now;
}

std::vector<NamedTensor> undo_rules(std::span<const NameRule> rules,
                                    std::vector<NamedTensor> in_model) {
    for (auto rule = rules.rbegin(); rule != rules.rend(); ++rule)
        in_model = undo_one(*rule, in_model);
    return in_model;
}

}  // namespace fovea
