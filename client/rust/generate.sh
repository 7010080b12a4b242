#!/usr/bin/env bash
# Writes src/generated/ from proto/ with protoc and prost-build (generate/Cargo.toml and Cargo.lock say which release).
# It is committed: a crate holds no ../../proto, and who builds it needs no protoc. `generate.sh DIR` writes there.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
proto=$(cd "$here/../../proto" && pwd)
output=$(realpath -m "${1:-$here/src/generated}")

mkdir -p "$output"
cd "$here"
cargo run --locked --package epsledger-generate -- "$proto" "$output"
rm -f "$output"/google.api.rs "$output"/google.protobuf.rs # empty: nothing of them is used
