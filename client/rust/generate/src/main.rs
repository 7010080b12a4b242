//! generate PROTO_DIR OUTPUT_DIR: writes the messages that charging and sessions speak of. It needs
//! protoc.

use std::path::Path;

// Budgets are for epsctl.
const FILES: [&str; 13] = [
    "epsledger/v1/accounting_service.proto",
    "epsledger/v1/audit.proto",
    "epsledger/v1/budget.proto",
    "epsledger/v1/change.proto",
    "epsledger/v1/charge.proto",
    "epsledger/v1/charge_service.proto",
    "epsledger/v1/guarantee.proto",
    "epsledger/v1/mechanism.proto",
    "epsledger/v1/provenance.proto",
    "epsledger/v1/session.proto",
    "epsledger/v1/session_service.proto",
    "google/rpc/error_details.proto",
    "google/rpc/status.proto",
];

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, proto, output] = arguments.as_slice() else {
        return Err(std::io::Error::other("want PROTO_DIR OUTPUT_DIR"));
    };
    prost_build::Config::new()
        .enable_type_names()
        .extern_path(".google.api", "none") // options of fields, which no message holds
        .out_dir(output)
        .compile_protos(&FILES.map(|file| Path::new(proto).join(file)), &[proto])
}
