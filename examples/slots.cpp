// What requests want, and with what:  example_slots run/model < requests.txt
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "fovea/tasks/slots.h"

int main(int argc, char** argv) try {
    if (argc != 2) return std::cerr << "usage: example_slots MODEL < requests.txt\n", 2;
    std::vector<std::string> texts;
    for (std::string line; std::getline(std::cin, line);) texts.push_back(line);

    const auto model = fovea::SlotModel::open(fovea::ModelFolder::open(argv[1]));
    for (const fovea::SlotAnswer& answer : fovea::fill_slots(model, texts)) {
        std::cout << answer.intent;
        for (const fovea::TextEntity& slot : answer.slots)
            std::cout << "  " << slot.label << "=" << slot.text;
        std::cout << "\n";
    }
} catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 1;
}
