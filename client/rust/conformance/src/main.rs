//! Moves this client for tests/conformance/conformance.py.

use std::io::{BufRead, Write};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use epsledger::v1::MechanismEvent;
use epsledger::{
    Client, Error, Lease, Options, Permit, Retry, Session, SessionOptions, Spent, code_name,
};
use prost::Message;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Command {
    #[serde(rename = "do")]
    what: String,
    #[serde(flatten)]
    fields: Value,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Connect {
    address: String,
    #[serde(default)]
    token: String,
    #[serde(default)]
    allow_insecure: bool,
    retry: RetryMs,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RetryMs {
    call_timeout_ms: u64,
    overall_timeout_ms: u64,
    max_tries: u32,
    initial_backoff_ms: u64,
    max_backoff_ms: u64,
}

#[derive(Default)]
struct Driver {
    client: Option<Client>,
    session: Option<Session>,
    permits: Vec<Permit>,
    leases: Vec<Lease>,
}

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

impl Driver {
    async fn carry_out(&mut self, command: &Command) -> Outcome<Value> {
        let fields = &command.fields;
        match command.what.as_str() {
            "connect" => self.connect(Connect::deserialize(fields)?),
            "open" => {
                let (budget, session) = (text(fields, "budget")?, text(fields, "session")?);
                let options = SessionOptions { budget, session, ..SessionOptions::default() };
                let client = self.client.as_ref().ok_or("no client")?;
                self.session = Some(client.open(options).await?);
                Ok(json!({"is": "ok"}))
            }
            "charge" => {
                let permit =
                    self.session()?.charge(&event(fields)?, number(fields, "count")?).await?;
                Ok(self.keep(permit))
            }
            "retry" => {
                let permit = self.session()?.retry_charge(&text(fields, "charge_id")?).await?;
                Ok(self.keep(permit))
            }
            "unknown" => Ok(json!({"is": "ok", "ids": self.session()?.unknown_charges()})),
            "use" => {
                self.permits[index(fields, "permit")?].use_one()?;
                Ok(json!({"is": "ok"}))
            }
            "lease" => {
                let seconds = Duration::from_secs(number(fields, "seconds")?.try_into()?);
                let lease = self
                    .session()?
                    .lease(&event(fields)?, number(fields, "count")?, seconds)
                    .await?;
                let granted = lease.granted_count().to_string();
                self.leases.push(lease);
                Ok(json!({"is": "lease", "granted": granted}))
            }
            "take" => {
                let permit = self.leases[index(fields, "lease")?].take()?;
                Ok(self.keep(permit))
            }
            "settle" => {
                self.leases[index(fields, "lease")?].settle().await?;
                Ok(json!({"is": "ok"}))
            }
            other => Err(format!("no command {other}").into()),
        }
    }

    fn connect(&mut self, asked: Connect) -> Outcome<Value> {
        *self = Driver::default();
        let (ms, retry) = (Duration::from_millis, asked.retry);
        self.client = Some(Client::connect(Options {
            address: asked.address,
            token: asked.token,
            allow_insecure: asked.allow_insecure,
            retry: Retry {
                call_timeout: ms(retry.call_timeout_ms),
                overall_timeout: ms(retry.overall_timeout_ms),
                max_tries: retry.max_tries,
                initial_backoff: ms(retry.initial_backoff_ms),
                max_backoff: ms(retry.max_backoff_ms),
            },
            ..Options::default()
        })?);
        Ok(json!({"is": "ok"}))
    }

    fn session(&self) -> Outcome<&Session> {
        Ok(self.session.as_ref().ok_or("no session")?)
    }

    fn keep(&mut self, permit: Permit) -> Value {
        let (sequence, uses) = (permit.sequence().to_string(), permit.uses_left().to_string());
        let verdict =
            json!({"is": "permit", "charge": permit.charge(), "sequence": sequence, "uses": uses});
        self.permits.push(permit);
        verdict
    }
}

fn text(fields: &Value, name: &str) -> Outcome<String> {
    Ok(fields[name].as_str().ok_or(format!("{name} is no text"))?.to_owned())
}

fn number(fields: &Value, name: &str) -> Outcome<i64> {
    Ok(text(fields, name)?.parse()?)
}

fn index(fields: &Value, name: &str) -> Outcome<usize> {
    Ok(fields[name].as_u64().ok_or(format!("{name} is no index"))?.try_into()?)
}

fn event(fields: &Value) -> Outcome<MechanismEvent> {
    Ok(MechanismEvent::decode(STANDARD.decode(text(fields, "event_bytes")?)?.as_slice())?)
}

fn failure(error: &(dyn std::error::Error + 'static)) -> Value {
    let mut verdict = match error.downcast_ref::<Error>() {
        Some(Error::Refused(refused)) => {
            json!({"is": "refused", "reason": refused.reason(), "charge": refused.charge})
        }
        Some(Error::OutcomeUnknown(unknown)) => {
            let code = code_name(unknown.code);
            json!({"is": "unknown", "charge_id": unknown.charge_id, "code": code})
        }
        Some(Error::CallFailed(failed)) => json!({"is": "error", "code": code_name(failed.code)}),
        Some(Error::Spent(_)) => json!({"is": "spent"}),
        None if error.is::<Spent>() => json!({"is": "spent"}),
        None => json!({"is": "another error"}),
    };
    verdict["text"] = json!(error.to_string());
    verdict
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let mut driver = Driver::default();
    for line in std::io::stdin().lock().lines() {
        let command: Command = serde_json::from_str(&line?)?;
        let verdict =
            driver.carry_out(&command).await.unwrap_or_else(|error| failure(error.as_ref()));
        println!("{verdict}");
        std::io::stdout().flush()?;
    }
    Ok(())
}
