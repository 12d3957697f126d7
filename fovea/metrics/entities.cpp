#include "fovea/metrics/entities.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fovea/base/error.h"
#include "fovea/base/utf8.h"
#include "fovea/metrics/signature.h"

namespace fovea {
namespace {

// "B-person" is part B of a person; a type of nothing is called "_".
struct TagParts {
    char part = 'O';
    std::string type = "_";
};

std::string behind_first_letter(const std::string& tag) {
    return tag.substr(
        std::min<std::size_t>(tag.size(), static_cast<std::size_t>(utf8_size(tag[0]))));
}

TagParts lenient_parts(const std::string& tag) {
    TagParts p;
    if (tag.empty()) return p;
    p.part = tag[0];
    const std::string rest = behind_first_letter(tag);
    const std::size_t dash = rest.find('-');
    p.type = dash == std::string::npos ? rest : rest.substr(dash + 1);
    if (p.type.empty()) p.type = "_";
    return p;
}

TagParts strict_parts(const std::string& tag) {
    if (tag.empty() || std::string_view("BIO").find(tag[0]) == std::string_view::npos)
        fail_with(ErrorKind::bad_input, "read leniently, or write tags as B-TYPE, I-TYPE and O",
                  "entities: the tag \"", tag, "\" is not one of B-, I- and O");
    TagParts p{tag[0], tag.substr(1)};
    const std::size_t from = p.type.find_first_not_of('-');
    p.type = from == std::string::npos
                 ? "_"
                 : p.type.substr(from, p.type.find_last_not_of('-') + 1 - from);
    return p;
}

bool one_of(char c, std::string_view set) { return set.find(c) != std::string_view::npos; }

// Between two words: does an entity end, and does one begin? (Tjong Kim Sang's conlleval.)
bool ends_between(const TagParts& before, const TagParts& after) {
    if (one_of(before.part, "ES")) return true;
    if (one_of(before.part, "BI") && one_of(after.part, "BSO")) return true;
    return !one_of(before.part, "O.") && before.type != after.type;
}

bool begins_between(const TagParts& before, const TagParts& after) {
    if (one_of(after.part, "BS")) return true;
    if (one_of(before.part, "ESO") && one_of(after.part, "EI")) return true;
    return !one_of(after.part, "O.") && before.type != after.type;
}

std::vector<TagEntity> lenient_entities(std::span<const std::string> tags) {
    std::vector<TagEntity> found;
    TagParts before{'O', ""};
    std::int64_t first = 0;
    for (std::size_t i = 0; i <= tags.size(); ++i) {
        const TagParts now = i < tags.size() ? lenient_parts(tags[i]) : TagParts{};
        const auto at = static_cast<std::int64_t>(i);
        if (ends_between(before, now)) found.push_back({before.type, first, at - 1});
        if (begins_between(before, now)) first = at;
        before = now;
    }
    return found;
}

std::vector<TagEntity> strict_entities(std::span<const std::string> tags) {
    std::vector<TagEntity> found;
    bool open = false;  // the last one may go on
    for (std::size_t i = 0; i < tags.size(); ++i) {
        const TagParts now = strict_parts(tags[i]);
        const auto at = static_cast<std::int64_t>(i);
        if (now.part == 'B')
            found.push_back({now.type, at, at});
        else if (open && now.part == 'I' && found.back().type == now.type)
            found.back().last = at;
        open = now.part == 'B' || (open && now.part == 'I' && found.back().last == at);
    }
    return found;
}

double share_of(std::int64_t part, std::int64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// F1 from the two shares and in this order, so that its last digit is seqeval's too.
void fill_shares(EntityTypeScore& s) {
    s.precision = share_of(s.right, s.predicted);
    s.recall = share_of(s.right, s.wanted);
    const double sum = s.precision + s.recall;
    s.f1 = sum == 0 ? 0 : 2.0 * s.precision * s.recall / sum;
}

// In the order of numpy's pairwise summation: means have the same last digit.
double pairwise_sum(std::span<const double> x) {
    const std::size_t n = x.size();
    if (n > 128) {
        const std::size_t half = n / 2 - n / 2 % 8;
        return pairwise_sum(x.first(half)) + pairwise_sum(x.subspan(half));
    }
    std::size_t i = 0;
    double sum = n < 8 ? -0.0 : 0;
    if (n >= 8) {
        double r[8];
        std::copy_n(x.begin(), 8, r);
        for (i = 8; i + 8 <= n; i += 8)
            for (std::size_t k = 0; k < 8; ++k) r[k] += x[i + k];
        sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    }
    for (; i < n; ++i) sum += x[i];
    return sum;
}

// Over types: every one counts the same, or as often as it is wanted.
EntityTypeScore mean_over(const std::map<std::string, EntityTypeScore>& types, bool weighted) {
    EntityTypeScore mean;
    double weights = 0;
    for (const auto& [name, s] : types) {
        mean.wanted += s.wanted, mean.predicted += s.predicted, mean.right += s.right;
        weights += weighted ? static_cast<double>(s.wanted) : 1.0;
    }
    if (weights == 0) return mean;
    for (double EntityTypeScore::*share :
         {&EntityTypeScore::precision, &EntityTypeScore::recall, &EntityTypeScore::f1}) {
        std::vector<double> terms;
        for (const auto& [name, s] : types)
            terms.push_back(weighted ? s.*share * static_cast<double>(s.wanted) : s.*share);
        mean.*share = pairwise_sum(terms) / weights;
    }
    return mean;
}

Json percent_of_entities(const EntityTypeScore& s) {
    return {{"precision", 100 * s.precision},
            {"recall", 100 * s.recall},
            {"f1", 100 * s.f1},
            {"support", s.wanted},
            {"predicted", s.predicted}};
}

}  // namespace

std::vector<TagEntity> entities_of(std::span<const std::string> tags, EntityReading reading) {
    return reading == EntityReading::strict ? strict_entities(tags) : lenient_entities(tags);
}

EntityScore entity_score(std::span<const TagSequence> predicted,
                         std::span<const TagSequence> wanted, EntityReading reading) {
    expect_input(predicted.size() == wanted.size(), "entities: ", predicted.size(),
                 " predicted sentences but ", wanted.size(), " wanted");
    EntityScore s;
    s.sentences = static_cast<std::int64_t>(wanted.size());
    std::int64_t right_words = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        expect_input(predicted[i].size() == wanted[i].size(), "entities: sentence ", i + 1, " has ",
                     predicted[i].size(), " predicted tags but ", wanted[i].size(), " wanted");
        for (std::size_t k = 0; k < wanted[i].size(); ++k)
            right_words += predicted[i][k] == wanted[i][k];
        s.words += static_cast<std::int64_t>(wanted[i].size());
        const auto found = entities_of(predicted[i], reading),
                   there = entities_of(wanted[i], reading);
        const std::set<TagEntity> known(there.begin(), there.end());
        for (const TagEntity& e : there) ++s.types[e.type].wanted;
        for (const TagEntity& e : found) {
            ++s.types[e.type].predicted;
            s.types[e.type].right += known.count(e) > 0;
        }
    }
    for (auto& [type, t] : s.types) {
        fill_shares(t);
        s.micro.wanted += t.wanted, s.micro.predicted += t.predicted, s.micro.right += t.right;
    }
    fill_shares(s.micro);
    s.macro = mean_over(s.types, false);
    s.weighted = mean_over(s.types, true);
    s.accuracy = share_of(right_words, s.words);
    return s;
}

MetricScore EntityScore::score(EntityReading reading) const {
    MetricScore out{.name = "F1",
                    .value = 100 * micro.f1,
                    .higher_is_better = true,
                    .signature = fmt::format(
                        "entities:{}|{}", reading == EntityReading::strict ? "strict" : "lenient",
                        signature_version),
                    .figures = {{"f1", 100 * micro.f1},
                                {"precision", 100 * micro.precision},
                                {"recall", 100 * micro.recall},
                                {"macro_f1", 100 * macro.f1},
                                {"accuracy", 100 * accuracy}}};
    for (const auto& [type, t] : types) out.figures["types"][type] = percent_of_entities(t);
    return out;
}

}  // namespace fovea
