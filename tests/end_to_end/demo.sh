#!/usr/bin/env bash
# demo.sh --build-dir DIR [--twice] [--skip-without-data]
#
# Starts a server on loopback with a fresh data directory, creates a budget, and runs the ISTDP
# trainer against it until it converges or the ledger refuses. With --twice the script then kills
# the server with SIGKILL and restarts it. A second run on the same budget must be refused from its
# first step: the script checks this and ends with 1 if anything else happens.
#
# --skip-without-data: ends with 77 if EPSLEDGER_DATA_DIR (default: ../shared/data) has no a9a,
# instead of letting the trainer look for the data elsewhere.
set -euo pipefail
shopt -s inherit_errexit

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=
twice=0
skip_without_data=0
while (( $# )); do
  case $1 in
    --build-dir) build=${2:?--build-dir needs a folder}; shift ;;
    --twice) twice=1 ;;
    --skip-without-data) skip_without_data=1 ;;
    *) echo "demo.sh: does not know '$1'" >&2; exit 2 ;;
  esac
  shift
done
[[ -n $build ]] || { echo "demo.sh: --build-dir is missing" >&2; exit 2; }
build=$(cd "$build" && pwd)

epsledgerd=$build/server/epsledgerd
epsctl=$build/client/cli/epsctl
istdp=$build/client/trainers/istdp/epsledger-istdp

budget=adult
epsilon=1
delta=1e-5
start_limit_seconds=120
refused_exit_code=3    # epsledger-istdp: the ledger refused, and nothing was released after that

say() { printf '\n==> %s\n' "$*"; }
fail() { printf '\ndemo: %s\n' "$*" >&2; exit 1; }

for program in "$epsledgerd" "$epsctl" "$istdp"; do
  [[ -x $program ]] || fail "$program is not built; run ./dev build"
done
if [[ -z ${EPSLEDGER_DATA_DIR:-} && -d $root/../shared/data ]]; then
  EPSLEDGER_DATA_DIR=$(cd "$root/../shared/data" && pwd)
  export EPSLEDGER_DATA_DIR
fi
if (( skip_without_data )) && ! compgen -G "${EPSLEDGER_DATA_DIR:-/nonexistent}/a9a*" >/dev/null; then
  echo "skipped: no a9a in EPSLEDGER_DATA_DIR, and a test does not use the network"
  exit 77
fi

state=$(mktemp -d -t epsledger-demo.XXXXXX)
server_pid=

stop_server() {  # SIGNAL
  [[ -n $server_pid ]] || return 0
  kill -s "$1" "$server_pid" 2>/dev/null || true
  wait "$server_pid" 2>/dev/null || true
  server_pid=
}

finish() {
  local code=$?
  trap - EXIT INT TERM
  stop_server TERM
  if (( code == 0 )); then
    rm -rf -- "$state"
  else
    echo "demo: the server's data and log are kept in $state" >&2
  fi
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

server_is_gone() {
  tail -n 20 "$state/server.log" >&2
  fail "the server ended before it was ready; the end of its log stands above"
}

# Starts the server on the data directory. When the server is ready, sets $address to its address
# and $dashboard to that of its dashboard.
http_port=0
start_server() {
  local deadline=$(( SECONDS + start_limit_seconds ))
  rm -f "$state/address"
  "$epsledgerd" --data-dir "$state/ledger" --listen 127.0.0.1:0 --http-listen "127.0.0.1:$http_port" \
    --address-file "$state/address" >>"$state/server.log" 2>&1 &
  server_pid=$!
  while (( SECONDS < deadline )); do
    if [[ -s $state/address ]]; then
      address=$(head -n 1 "$state/address")
      dashboard=$(sed -n '/^http/{p;q}' "$state/address")/
      http_port=${dashboard##*:}
      http_port=${http_port%/}  # a restart uses the same port, for the page that is open
      if "$epsledgerd" healthcheck --server "$address" >/dev/null 2>&1; then return 0; fi
    fi
    kill -0 "$server_pid" 2>/dev/null || server_is_gone
    sleep 0.1
  done
  tail -n 20 "$state/server.log" >&2
  fail "the server did not serve within $start_limit_seconds s; the end of its log stands above"
}

# Prints what the ledger has charged to the budget: every field of it with the name spent.
spent() {
  "$epsctl" --server "$address" -o json budget get "$budget" | tr -d ' \n' |
    grep -o '"spent[A-Za-z]*":{\?[^,}]*' | sort
}

train() {
  "$istdp" --server "$address" --budget "$budget" --data a9a
}

mkdir "$state/ledger"
start_server
say "epsledgerd serves on $address, with its ledger in $state/ledger"
echo "dashboard: $dashboard"
"$epsctl" --server "$address" -o table budget create "$budget" \
  --epsilon "$epsilon" --delta "$delta" --relation add-or-remove-one --privacy-unit person

say "a first training run, charged to the budget '$budget' before each noisy step"
result=0
train || result=$?
if (( result != 0 && result != refused_exit_code )); then
  tail -n 20 "$state/server.log" >&2
  fail "the trainer ended with $result; the end of the server's log stands above"
fi
(( twice )) || exit 0

spent_before=$(spent) || fail "epsctl budget get shows no field named spent"

say "kill -9 of the server, and a restart on the same data directory"
stop_server KILL
start_server
spent_after=$(spent)
[[ $spent_after == "$spent_before" ]] ||
  fail "the kill changed what is spent: it was $spent_before, it is $spent_after"
echo "epsledgerd serves on $address; what is spent is what it was before the kill"

say "a second run on the same budget: the ledger must refuse its first step"
result=0
train 2>&1 | tee "$state/second-run" || result=$?
(( result != 0 )) || fail "the second run was not refused"
(( result == refused_exit_code )) || fail "the second run ended with $result, which is not a refusal"
grep -q BUDGET_EXHAUSTED "$state/second-run" || fail "the second run does not say BUDGET_EXHAUSTED"
[[ $(spent) == "$spent_before" ]] || fail "the second run spent something before it was refused"
say "refused, as it must be: nothing more was spent, by a second run, a kill or a restart"
