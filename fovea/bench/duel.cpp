#include "fovea/bench/duel.h"

#include "fovea/base/threads.h"

namespace fovea::bench {

std::optional<Row> run_duel(const ModelBenchOptions& options, const Duel& duel, TextPeer* peer) {
    std::vector<Racer> racers{{duel.row.precision, duel.ours}};
    if (peer && peer->alive())
        racers.push_back({peer->name(), [&](std::int64_t first, int count) {
                              return peer->seconds(duel.asks(first, count));
                          }});
    else if (peer)
        options.note("no " + peer->name() + " beside us: " + peer->trouble());
    const auto figures =
        race(racers, duel.work,
             {.seconds = options.seconds > 0 ? options.seconds
                         : options.quick     ? duel.quick_seconds
                                             : duel.seconds,
              .sample_seconds = options.quick ? duel.quick_sample_seconds : duel.sample_seconds,
              .least_rounds = options.quick ? 1 : 4},
             options.stop);
    if (options.stop()) return std::nullopt;
    Row row = duel.row;
    row.threads = thread_count();
    row.value = figures[0].best;
    row.median = figures[0].median;
    if (figures.size() > 1 && figures[1].samples > 0) {
        row.peer = peer->name();
        row.peer_value = figures[1].best;
        row.peer_median = figures[1].median;
    }
    if (options.on_row) options.on_row(row);
    return row;
}

}  // namespace fovea::bench
