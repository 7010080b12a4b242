#!/usr/bin/env bash
# Writes epsledgerpb/ from proto/ with protoc, protoc-gen-go and protoc-gen-go-grpc (README.md says which releases).
# It is committed, as Go modules do: `go get` runs no generator. `generate.sh DIR` writes there instead.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
proto=$(cd "$here/../../proto" && pwd)
output=$(realpath -m "${1:-$here}")
package=epsledger.dev/client/go/epsledgerpb

cd "$proto"
options=(paths=import module=epsledger.dev/client/go)
# What charging and sessions speak of; budgets are for epsctl.
files=(epsledger/v1/{accounting_service,audit,budget,change,charge,charge_service,guarantee,mechanism,provenance}.proto
  epsledger/v1/{session,session_service}.proto)
for file in "${files[@]}"; do options+=("M$file=$package"); done
joined=$(IFS=,; echo "${options[*]}")
mkdir -p "$output"
protoc --proto_path=. --go_out="$output" --go_opt="$joined" --go-grpc_out="$output" --go-grpc_opt="$joined" \
  "${files[@]}"
