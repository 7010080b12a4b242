#!/usr/bin/env bash
# Runs a fuzz target: run_target.sh PROGRAM [SECONDS [libFuzzer options]]
#
# A run starts from what earlier runs found (PROGRAM_corpus, which this script keeps), from the
# seeds that seed_corpora made, and from TARGET_corpus and TARGET.dict next to this script if they
# exist. An input that fails is kept next to the program as PROGRAM-crash-...; PROGRAM FILE runs it
# again.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
program=$1
seconds=${2:-${EPSLEDGER_FUZZ_TARGET_SECONDS:-10}}
shift $(( $# < 2 ? $# : 2 ))
name=$(basename "$program")

mkdir -p "${program}_corpus"
arguments=("${program}_corpus")
for folder in "$(dirname "$program")/seeds/$name" "$here/${name}_corpus"; do
  if [[ -d $folder ]]; then arguments+=("$folder"); fi
done
if [[ -f $here/$name.dict ]]; then arguments+=("-dict=$here/$name.dict"); fi

# CI uses the same inputs each time.
if [[ -n ${CI:-} ]]; then arguments+=(-seed=1); fi
# A single input that takes longer than -timeout is a finding. The outer limit ends a run that hangs and that
# libFuzzer does not end: out of memory, it may stop at its own report.
log=$program.log
if timeout --signal=KILL $(( seconds + 400 )) "$program" \
  "-max_total_time=$seconds" -timeout=300 -rss_limit_mb=4096 -print_final_stats=1 \
  "-artifact_prefix=$program-" "$@" "${arguments[@]}" >"$log" 2>&1; then
  tail -n 20 "$log"
else
  status=$?
  # The finding is at the end, with its input in base64; before it is libFuzzer's progress.
  echo "$name ended with status $status; the end of $log:"
  tail -n 70 "$log" | cut -c 1-2000
  exit "$status"
fi
