#!/usr/bin/env bash
# reference_tables.sh SOURCE_DIR EPSCTL
# Compares `EPSCTL compute` with the reference tables in SOURCE_DIR/../shared. Ends with 77 if there
# are none.
set -euo pipefail

compare=$1/../shared/check/compare.py
epsctl=$2
if [[ ! -f $compare ]]; then
  echo "skipped: the reference tables are not here (no $compare)"
  exit 77
fi
if [[ ! -x $epsctl ]]; then
  echo "there is no $epsctl: build the target epsctl first" >&2
  exit 1
fi
exec python3 "$compare" --epsctl "$epsctl" --verbose
