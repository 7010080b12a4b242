//! Makes the first charge of a session, and draws noise only after it is accepted.
//!
//! EPSLEDGER_SERVER, EPSLEDGER_TLS_CA, EPSLEDGER_TOKEN as for epsctl; the budget "people" must
//! exist.

use std::env::var;

use epsledger::v1::mechanism_event::Kind;
use epsledger::v1::{Gaussian, MechanismEvent, PoissonSampled, neighboring_relation};
use epsledger::{Client, Options, SessionOptions, Tls, new_session};

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::main]
async fn main() {
    if let Err(error) = run().await {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

async fn run() -> Outcome {
    let mut options =
        Options { token: var("EPSLEDGER_TOKEN").unwrap_or_default(), ..Options::default() };
    if let Ok(address) = var("EPSLEDGER_SERVER") {
        options.address = address;
    }
    if let Ok(path) = var("EPSLEDGER_TLS_CA") {
        options.tls = Some(Tls { authorities: Some(std::fs::read(path)?), identity: None });
    }
    let client = Client::connect(options)?;
    let session = client
        .open(SessionOptions {
            budget: "people".to_owned(),
            session: "first-run-in-rust".to_owned(),
            create: Some(new_session(neighboring_relation::Kind::AddOrRemoveOne)),
            ..SessionOptions::default()
        })
        .await?;
    // An error is a refusal, or an unknown outcome and so spent: no noise is drawn.
    let permit = session.charge(&step(), 1).await?;
    permit.use_one()?;
    println!("charged as entry {}, durably: only now is noise drawn", permit.sequence());
    Ok(())
}

/// One step on a Poisson sample of 1%, with noise multiplier 1.1.
fn step() -> MechanismEvent {
    let gaussian = Kind::Gaussian(Gaussian { noise_multiplier: Some(1.1) });
    let sampled = Kind::PoissonSampled(Box::new(PoissonSampled {
        sampling_probability: Some(0.01),
        event: Some(Box::new(MechanismEvent { kind: Some(gaussian) })),
    }));
    MechanismEvent { kind: Some(sampled) }
}
