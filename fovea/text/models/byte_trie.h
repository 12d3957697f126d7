#pragma once
// A trie over byte strings in one double array (Aoe 1989, with the XOR form of Yata's darts-clone):
// the child of a node for byte c is the unit at base ^ c, and one 8-byte load says whether it is
// really that child, where its own children are, and which key ends there.
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace fovea::text {

class ByteTrie {
public:
    // A place in the trie: where the children of a node are.
    using Base = std::uint32_t;
    static constexpr std::int32_t no_value = -1;

    ByteTrie() : units_(256) {}
    // Keys need not be sorted; of equal keys the last one counts; empty keys are left out. Values
    // are 0 or more. At most 2^23 units (about as many bytes of keys, shared prefixes once).
    explicit ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> keys);

    Base root() const { return root_; }

    // Goes down by one byte: false where no key goes on like this. `value` is the key that ends
    // there, or no_value.
    bool step(Base& base, unsigned char c, std::int32_t& value) const {
        const Unit u = units_[base ^ c];
        if ((u.word & label_mask) != (used | c)) return false;
        base = u.word >> 9;
        value = u.value;
        return true;
    }

    // The place after a whole string; false where no key starts with it.
    bool find(std::string_view prefix, Base& base) const {
        base = root_;
        std::int32_t value = no_value;
        for (const char c : prefix)
            if (!step(base, static_cast<unsigned char>(c), value)) return false;
        return true;
    }

private:
    struct Unit {
        std::uint32_t word = 0;  // bits 0-7 label, bit 8 used, bits 9-31 base of the children
        std::int32_t value = no_value;
    };
    static constexpr std::uint32_t used = 1u << 8;
    static constexpr std::uint32_t label_mask = 0x1FFu;

    // Units 0-255 stay unused: nodes without children point there.
    std::vector<Unit> units_;
    Base root_ = 0;

    friend class ByteTrieBuilder;
};

}  // namespace fovea::text
