#pragma once
// Slots asked as questions: a model that answers questions fills the slots of requests, though it
// never saw a slot's label. What is asked for each slot is a small file, a slot and its question a
// line:
//
//   genre<tab>What kind of music?
//   artist<tab>Who made it?
//
// Thread-safety: as answer().
#include <span>
#include <string>
#include <vector>

#include "fovea/tasks/answer.h"

namespace fovea {

struct SlotQuestion {
    std::string slot, question;
};

// A slot may have several questions. Errors name the line: no tab, an empty side, no line at all.
std::vector<SlotQuestion> read_slot_questions(const std::string& path);

struct AskedSlot {
    std::string slot;
    TextAnswer answer;
};

struct SlotAsking {
    // An answer counts from this probability on, unless the model says that there is none.
    double least = 0.5;
    AnswerOptions answering{};
};

// Of each text its slots, in order; where two overlap, the more probable one.
std::vector<std::vector<AskedSlot>> ask_slots(const AnswerModel& model,
                                              std::span<const std::string> texts,
                                              std::span<const SlotQuestion> questions,
                                              const SlotAsking& asking = {},
                                              const PredictControl& control = {});

}  // namespace fovea
