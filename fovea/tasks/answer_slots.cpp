#include "fovea/tasks/answer_slots.h"

#include <algorithm>

#include "fovea/base/error.h"
#include "fovea/base/files.h"

namespace fovea {
namespace {

bool overlap(const TextAnswer& a, const TextAnswer& b) {
    return a.start < b.end && b.start < a.end;
}

// The more probable first, each that does not overlap one before it; then in the text's order.
std::vector<AskedSlot> without_overlaps(std::vector<AskedSlot> found) {
    std::stable_sort(found.begin(), found.end(), [](const AskedSlot& a, const AskedSlot& b) {
        return a.answer.probability > b.answer.probability;
    });
    std::vector<AskedSlot> kept;
    for (AskedSlot& s : found)
        if (std::none_of(kept.begin(), kept.end(),
                         [&](const AskedSlot& k) { return overlap(k.answer, s.answer); }))
            kept.push_back(std::move(s));
    std::sort(kept.begin(), kept.end(), [](const AskedSlot& a, const AskedSlot& b) {
        return a.answer.start < b.answer.start;
    });
    return kept;
}

}  // namespace

std::vector<SlotQuestion> read_slot_questions(const std::string& path) {
    constexpr const char* hint =
        "a slot and its question a line, a tab between: genre<tab>What kind?";
    std::vector<SlotQuestion> all;
    LineReader lines(path);
    for (std::string line; lines.next(line);) {
        if (line.empty()) continue;
        const std::size_t tab = line.find('\t');
        if (tab == std::string::npos || tab == 0 ||
            line.find_first_not_of(" \t", tab) == std::string::npos)
            fail_with(ErrorKind::bad_input, hint, path, ":", lines.line_number(),
                      ": has no slot or no question");
        all.push_back({line.substr(0, tab), line.substr(tab + 1)});
    }
    if (all.empty()) fail_with(ErrorKind::bad_input, hint, path, ": holds no question");
    return all;
}

std::vector<std::vector<AskedSlot>> ask_slots(const AnswerModel& model,
                                              std::span<const std::string> texts,
                                              std::span<const SlotQuestion> questions,
                                              const SlotAsking& asking,
                                              const PredictControl& control) {
    std::vector<AskedQuestion> asked;
    for (const std::string& text : texts)
        for (const SlotQuestion& q : questions) asked.push_back({q.question, text});
    const std::vector<AnsweredQuestion> answers = answer(model, asked, asking.answering, control);
    std::vector<std::vector<AskedSlot>> out;
    for (std::size_t t = 0; t < texts.size(); ++t) {
        std::vector<AskedSlot> found;
        for (std::size_t q = 0; q < questions.size(); ++q) {
            const AnsweredQuestion& a = answers[t * questions.size() + q];
            if (!a.none && !a.best.empty() && a.best[0].probability >= asking.least)
                found.push_back({questions[q].slot, a.best[0]});
        }
        out.push_back(without_overlaps(std::move(found)));
    }
    return out;
}

}  // namespace fovea
