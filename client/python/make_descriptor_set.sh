#!/usr/bin/env bash
# Writes epsledger/descriptor_set.binpb from proto/, for the gRPC transport; or the file that is named.
# It is committed so that a machine without protoc can install the package; a test compares it
# with the protos.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
proto=$(cd "$here/../../proto" && pwd)
output=$(realpath -m "${1:-$here/epsledger/descriptor_set.binpb}")

cd "$proto"
protoc --proto_path=. --include_imports --descriptor_set_out="$output" \
  epsledger/v1/*.proto google/rpc/error_details.proto google/rpc/status.proto
