#!/bin/sh
# Builds the fuzz targets with clang (address and undefined-behaviour sanitizers) into build/fuzz
# and runs each for FUZZ_SECONDS (60) on its stored corpus; new inputs go to build/fuzz/corpus, and
# what breaks a target stays in build/fuzz/crash-*.
#   FUZZ_SECONDS=600 tests/fuzz/run.sh scanners      only some targets
#   FUZZ_MERGE=1 tests/fuzz/run.sh                   afterwards, store up to 40 small new inputs each
set -eu
cd "$(dirname "$0")/../.."
seconds=${FUZZ_SECONDS:-60}
all="tokenizer_json vocab_files sentencepiece_model scanners stream_decoder
    safetensors saved_state data_files questions metric_texts model_config weight_index word_vectors tokenizer_config
    png jpeg wav flac voc coco"
targets=${*:-$all}

cmake -S . -B build/fuzz -G Ninja -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_C_COMPILER="${CC:-clang}" -DCMAKE_CXX_COMPILER="${CXX:-clang++}" \
    -DCMAKE_CXX_FLAGS_DEBUG="-O2 -g1 -fsanitize=fuzzer-no-link" \
    -DFOVEA_FUZZ=ON -DFOVEA_SANITIZE=address,undefined >build/fuzz-configure.log 2>&1 ||
    { cat build/fuzz-configure.log; exit 1; }
# shellcheck disable=SC2086
ninja -C build/fuzz $(for t in $targets; do echo "fuzz_$t"; done)

# Depth is runs: short stacks for every allocation and a small store of freed memory leave more of a
# second to the target. (To look into a finding, run its input without them.)
export ASAN_OPTIONS="${ASAN_OPTIONS:-malloc_context_size=4:quarantine_size_mb=16}"
# Longest input: what a target's own structure needs, and no room for long texts in it.
longest() {
    case $1 in
        metric_texts) echo 512 ;;  # ROUGE is quadratic in the words
        data_files | questions | scanners | stream_decoder | model_config | weight_index) echo 1024 ;;
        vocab_files) echo 2048 ;;
        *) echo 6144 ;;
    esac
}

bad=0
for t in $targets; do
    new=build/fuzz/corpus/$t
    stored=tests/corpus/$t
    mkdir -p "$new" "$stored"
    dictionary=
    [ -f "tests/fuzz/$t.dict" ] && dictionary="-dict=tests/fuzz/$t.dict"
    echo "$t: $seconds s"
    # shellcheck disable=SC2086
    if build/fuzz/bin/fuzz_"$t" -max_total_time="$seconds" -timeout=5 -rss_limit_mb=1024 \
        -malloc_limit_mb=512 -max_len="$(longest "$t")" -print_final_stats=1 $dictionary \
        -artifact_prefix="build/fuzz/crash-$t-" "$new" "$stored" >"build/fuzz/$t.log" 2>&1; then
        grep -E 'stat::(number_of_executed_units|peak_rss_mb)' "build/fuzz/$t.log" || true
    else
        tail -40 "build/fuzz/$t.log"
        echo "$t: FAILED; the input is build/fuzz/crash-$t-*: store it in $stored once it is mended"
        bad=1
    fi
    if [ "${FUZZ_MERGE:-0}" = 1 ] && [ $bad = 0 ]; then
        kept=build/fuzz/merged/$t
        rm -rf "$kept"
        mkdir -p "$kept"
        build/fuzz/bin/fuzz_"$t" -merge=1 "$kept" "$stored" "$new" >/dev/null 2>&1
        find "$kept" -type f -size -1024c -print0 | sort -z | head -z -n 40 |
            xargs -0 -I{} cp {} "$stored/"
    fi
done
exit $bad
