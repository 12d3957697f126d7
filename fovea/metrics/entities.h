#pragma once
// Scores of entities that are written as tags (B-person I-person O …): an entity counts as found
// where its type and its first and last word are those wanted. As seqeval defines them, digit for
// digit: entities as conlleval.pl reads them (an I- without a B- begins one), or strictly IOB2.
// Thread-safety: pure functions and plain values, safe from any thread.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fovea/metrics/score.h"

namespace fovea {

using TagSequence = std::vector<std::string>;  // the tags of one sentence

enum class EntityReading {
    lenient,  // as conlleval.pl and seqeval's default mode; B, I, E and S are known
    strict,   // IOB2: what does not begin with B- is no entity
};

struct TagEntity {
    std::string type;
    std::int64_t first = 0, last = 0;  // words

    auto operator<=>(const TagEntity&) const = default;
};

std::vector<TagEntity> entities_of(std::span<const std::string> tags,
                                   EntityReading reading = EntityReading::lenient);

struct EntityTypeScore {  // shares are 0 … 1; a share of nothing is 0
    double precision = 0, recall = 0, f1 = 0;
    std::int64_t wanted = 0, predicted = 0, right = 0;
};

struct EntityScore {
    EntityTypeScore micro;     // over all entities
    EntityTypeScore macro;     // mean over types
    EntityTypeScore weighted;  // the same, weighted by how often a type is wanted
    std::map<std::string, EntityTypeScore> types;
    double accuracy = 0;  // of tags, word by word
    std::int64_t words = 0, sentences = 0;

    // As a task reports it, in percent: F1 first, the rest as figures.
    MetricScore score(EntityReading reading = EntityReading::lenient) const;
};

EntityScore entity_score(std::span<const TagSequence> predicted,
                         std::span<const TagSequence> wanted,
                         EntityReading reading = EntityReading::lenient);

}  // namespace fovea
