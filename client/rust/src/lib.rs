//! Charges an epsledger server before each noisy step, and is refused when the step would
//! overspend.
//!
//! The rules that it keeps are those of the conformance set of the project (tests/conformance).
//! `v1` holds the messages of the API.

mod address;
mod client;
mod connection;
mod errors;
mod heads;
mod lease;
mod permit;
mod retry;
mod session;
mod transport;

pub use client::{Client, Options, SessionOptions, Tls, new_session};
pub use errors::{CallFailed, Error, OutcomeUnknown, Refused, Spent, code_name};
pub use lease::Lease;
pub use permit::Permit;
pub use retry::Retry;
pub use session::Session;
pub use tonic::Code;

pub use generated::epsledger::v1;
pub use generated::google;

/// What generate.sh writes. Its modules are nested as the packages are.
#[allow(clippy::all, dead_code)]
mod generated {
    pub mod epsledger {
        /// The messages of the API.
        pub mod v1 {
            include!("generated/epsledger.v1.rs");
        }
    }
    pub mod google {
        pub mod rpc {
            include!("generated/google.rpc.rs");
        }
    }
}
