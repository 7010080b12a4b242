use std::fmt::Debug;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tonic::Code;

use crate::connection::Connection;
use crate::errors::{CallFailed, Error, OutcomeUnknown, Refused, failed, invalid};
use crate::lease::Lease;
use crate::permit::Permit;
use crate::retry::Tries;
use crate::v1::charge::Decision;
use crate::v1::{self, AcquireLeaseRequest, ChargeRequest, LedgerHead, MechanismEvent};

const MOST_USES: i64 = 1 << 53;

/// One attempt of one session. `Client::open` opened it and fenced all earlier attempts.
///
/// Every charge has its own key in the attempt. All tries of a charge send the same bytes, so the
/// ledger counts it at most once. A permit comes only from an ACCEPTED answer to exactly that key.
/// There is no fail-open option.
pub struct Session {
    connection: Arc<Connection>,
    name: String,
    attempt: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last_step: u64,
    last_lease: u64,
    unknown: Vec<ChargeRequest>, // oldest first
}

impl Session {
    pub(crate) fn new(connection: Arc<Connection>, name: String, attempt: String) -> Self {
        Session { connection, name, attempt, state: Mutex::default() }
    }

    /// "budgets/{budget}/sessions/{session}".
    pub fn name(&self) -> &str {
        &self.name
    }

    /// "budgets/{budget}/sessions/{session}/attempts/{attempt}".
    pub fn attempt(&self) -> &str {
        &self.attempt
    }

    /// Charges `count` uses of `event`, in [1, 2^53], waits until that is durable, and returns the
    /// permit.
    ///
    /// Refused or CallFailed: nothing was charged. OutcomeUnknown: it counts as spent. A future
    /// that is dropped before its end leaves an unknown charge.
    pub async fn charge(&self, event: &MechanismEvent, count: i64) -> Result<Permit, Error> {
        check_charge(event, count)?;
        let charge_id = {
            let mut state = self.state();
            state.last_step += 1;
            format!("step-{}", state.last_step)
        };
        let sent = self.connection.heads.of(&self.name);
        let request = ChargeRequest {
            attempt: self.attempt.clone(),
            charge_id,
            event: Some(event.clone()),
            count,
            last_seen_head: sent.clone(),
            ..ChargeRequest::default()
        };
        let asked = Asked::new(self, request);
        let outcome = self.permit_of(&asked.request, sent.as_ref()).await;
        asked.ends_with(outcome)
    }

    /// Asks again for a charge of `unknown_charges`, with its key, event and count. One charge
    /// never gives two permits.
    pub async fn retry_charge(&self, charge_id: &str) -> Result<Permit, Error> {
        let found = {
            // Taken out during the call, so that two callers never get a permit each.
            let mut state = self.state();
            let at = state.unknown.iter().position(|request| request.charge_id == charge_id);
            at.map(|at| state.unknown.remove(at))
        };
        let mut request =
            found.ok_or_else(|| invalid("charge_id", charge_id, "one of unknown_charges"))?;
        request.last_seen_head = self.connection.heads.of(&self.name);
        let asked = Asked::new(self, request);
        let outcome = match self.permit_of(&asked.request, None).await {
            // No try of this round reached a decision, and one of an earlier round may have
            // committed.
            Err(Error::CallFailed(CallFailed { code, message })) => {
                Err(unknown(charge_id, code, message, "asked again".to_owned()))
            }
            outcome => outcome,
        };
        asked.ends_with(outcome)
    }

    /// Returns the ids of the charges whose outcome is unknown, oldest first. They count as spent.
    pub fn unknown_charges(&self) -> Vec<String> {
        self.state().unknown.iter().map(|request| request.charge_id.clone()).collect()
    }

    /// Charges `count` uses of `event` in one charge, for `Lease::take` to hand out without asking.
    /// After `time_to_live`, up to 366 days, people should ask about the lease: none ends by
    /// itself. Errors are those of `charge`. A lease whose outcome stays unknown, or whose future
    /// is dropped, is spent in full, and another one may be acquired.
    pub async fn lease(
        &self,
        event: &MechanismEvent,
        count: i64,
        time_to_live: Duration,
    ) -> Result<Lease, Error> {
        check_charge(event, count)?;
        let wrong_time =
            |_| invalid("time_to_live", format!("{time_to_live:?}"), "in (0, 366 days]");
        let time_to_live = Some(prost_types::Duration::try_from(time_to_live).map_err(wrong_time)?);
        let lease_id = {
            let mut state = self.state();
            state.last_lease += 1;
            format!("lease-{}", state.last_lease)
        };
        let request = AcquireLeaseRequest {
            attempt: self.attempt.clone(),
            lease_id,
            event: Some(event.clone()),
            count,
            time_to_live,
            last_seen_head: self.connection.heads.of(&self.name),
            ..AcquireLeaseRequest::default()
        };
        let tries =
            self.connection.tries("/epsledger.v1.ChargeService/AcquireLease", &request).await;
        let charge = format!("{}/charges/{}", self.attempt, request.lease_id);
        let how = tries.how_it_went();
        let lease: v1::Lease = answer_to(tries, &charge, &request.lease_id)?;
        check_lease(&request, &lease)
            .map_err(|wrong| unknown(&request.lease_id, Code::Internal, wrong, how.clone()))?;
        let seen =
            self.connection.heads.accept(&self.name, &lease, request.last_seen_head.as_ref());
        seen.map_err(|wrong| unknown(&request.lease_id, Code::DataLoss, wrong, how))?;
        Ok(Lease::new(Arc::clone(&self.connection), lease, charge))
    }

    /// Sends a request, always with its one key, until the outcome is definite or the tries are
    /// used up.
    async fn permit_of(
        &self,
        request: &ChargeRequest,
        sent: Option<&LedgerHead>,
    ) -> Result<Permit, Error> {
        let name = format!("{}/charges/{}", request.attempt, request.charge_id);
        let tries = self.connection.tries("/epsledger.v1.ChargeService/Charge", request).await;
        let how = tries.how_it_went();
        let charge: v1::Charge = answer_to(tries, &name, &request.charge_id)?;
        let wrong_answer = |wrong| unknown(&request.charge_id, Code::Internal, wrong, how.clone());
        check_accepted(&name, request, &charge).map_err(wrong_answer)?;
        let seen = self.connection.heads.accept(&self.name, &charge, sent);
        seen.map_err(|wrong| unknown(&request.charge_id, Code::DataLoss, wrong, how.clone()))?;
        Ok(Permit::new(name, charge.sequence, charge.count))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A charge that is being asked for. It becomes unknown, unless it ends with an outcome that is
/// known: also if its future is dropped, or panics.
struct Asked<'a> {
    session: &'a Session,
    request: ChargeRequest,
    is_known: bool,
}

impl<'a> Asked<'a> {
    fn new(session: &'a Session, request: ChargeRequest) -> Self {
        Asked { session, request, is_known: false }
    }

    fn ends_with(mut self, outcome: Result<Permit, Error>) -> Result<Permit, Error> {
        self.is_known = !matches!(outcome, Err(Error::OutcomeUnknown(_)));
        outcome
    }
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if !self.is_known {
            self.session.state().unknown.push(std::mem::take(&mut self.request));
        }
    }
}

fn check_charge(event: &MechanismEvent, count: i64) -> Result<(), Error> {
    if !(1..=MOST_USES).contains(&count) {
        return Err(invalid("count", count, "in [1, 2^53]"));
    }
    if event.kind.is_none() {
        return Err(invalid("event", "none", "a mechanism"));
    }
    Ok(())
}

/// Returns the answer to a key, or the error of one of which no try was accepted.
fn answer_to<Answer>(tries: Tries<Answer>, name: &str, id: &str) -> Result<Answer, Error> {
    let (how, may_have_committed) = (tries.how_it_went(), tries.may_have_committed);
    let error = match tries.outcome {
        Ok(answer) => return Ok(answer),
        Err(error) => error,
    };
    let mut charges = error.details::<v1::Charge>().into_iter();
    if let Some(charge) = charges
        .find(|charge| charge.decision == Decision::Refused as i32 && charge.refusal.is_some())
    {
        if charge.name != name {
            let wrong = differs(name, "refused charge", charge.name, "that name");
            return Err(unknown(id, Code::Internal, wrong, how));
        }
        let refusal = Box::new(charge.refusal.unwrap_or_default());
        return Err(Error::Refused(Refused { charge: name.to_owned(), refusal }));
    }
    if may_have_committed {
        return Err(unknown(id, error.code, error.message, how));
    }
    Err(failed(error.code, error.message))
}

/// Returns Ok if and only if the answer is an ACCEPTED charge of exactly this key, event and count,
/// with a sequence number (the ledger's invariant I19).
fn check_accepted(name: &str, request: &ChargeRequest, charge: &v1::Charge) -> Result<(), String> {
    if charge.name != name {
        return Err(differs(name, "name", &charge.name, "that name"));
    }
    if charge.decision != Decision::Accepted as i32 {
        return Err(differs(name, "decision", charge.decision, "ACCEPTED with status OK"));
    }
    if charge.count != request.count {
        return Err(differs(name, "count", charge.count, request.count));
    }
    if charge.event != request.event {
        return Err(differs(name, "event", &charge.event, &request.event));
    }
    if charge.sequence < 1 {
        return Err(differs(name, "sequence", charge.sequence, "1 or more"));
    }
    Ok(())
}

fn check_lease(request: &AcquireLeaseRequest, lease: &v1::Lease) -> Result<(), String> {
    let name = format!("{}/leases/{}", request.attempt, request.lease_id);
    if lease.name != name {
        return Err(differs(&name, "name", &lease.name, "that name"));
    }
    if lease.granted_count != request.count {
        return Err(differs(&name, "granted_count", lease.granted_count, request.count));
    }
    if lease.event != request.event {
        return Err(differs(&name, "event", &lease.event, &request.event));
    }
    if lease.settled {
        return Err(differs(&name, "settled", true, "an open lease"));
    }
    if lease.sequence < 1 {
        return Err(differs(&name, "sequence", lease.sequence, "1 or more"));
    }
    Ok(())
}

fn differs(asked: &str, field: &str, got: impl Debug, want: impl Debug) -> String {
    format!("the server's answer is not one to {asked}: {field}: got {got:?}, want {want:?}")
}

fn unknown(charge_id: &str, code: Code, message: String, how_it_went: String) -> Error {
    Error::OutcomeUnknown(OutcomeUnknown {
        charge_id: charge_id.to_owned(),
        code,
        message,
        how_it_went,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Client, Options};

    const SHORT: Duration = Duration::from_millis(50);

    /// A session on a server that never answers.
    async fn silent() -> (Session, tokio::net::TcpListener) {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let client = Client::connect(Options { address, ..Options::default() }).unwrap();
        let name = "budgets/people/sessions/first".to_owned();
        let attempt = format!("{name}/attempts/1");
        (Session::new(client.connection, name, attempt), listener)
    }

    fn event() -> MechanismEvent {
        let gaussian = v1::Gaussian { noise_multiplier: Some(1.0) };
        MechanismEvent { kind: Some(v1::mechanism_event::Kind::Gaussian(gaussian)) }
    }

    #[tokio::test]
    async fn a_charge_that_is_dropped_stays_unknown() {
        let (session, _listener) = silent().await;
        for charges in [&["step-1"][..], &["step-1", "step-2"]] {
            assert!(tokio::time::timeout(SHORT, session.charge(&event(), 1)).await.is_err());
            assert_eq!(session.unknown_charges(), charges);
        }
        assert!(tokio::time::timeout(SHORT, session.retry_charge("step-1")).await.is_err());
        assert_eq!(session.unknown_charges(), ["step-2", "step-1"]);
    }

    #[tokio::test]
    async fn a_charge_that_is_never_awaited_is_none() {
        let (session, _listener) = silent().await;
        drop(session.charge(&event(), 1));
        assert!(session.unknown_charges().is_empty());
    }

    #[tokio::test]
    async fn a_charge_that_is_asked_for_is_not_asked_for_twice() {
        let (session, _listener) = silent().await;
        assert!(tokio::time::timeout(SHORT, session.charge(&event(), 1)).await.is_err());
        let (first, second) = (session.retry_charge("step-1"), session.retry_charge("step-1"));
        tokio::pin!(first);
        assert!(tokio::time::timeout(SHORT, &mut first).await.is_err());
        assert!(matches!(second.await, Err(Error::CallFailed(_))));
    }

    #[test]
    fn sessions_and_charges_move_between_threads() {
        fn moves<T: Send + Sync>() {}
        fn sent(_: impl Send) {}
        moves::<Session>();
        moves::<Lease>();
        moves::<Permit>();
        #[allow(dead_code)]
        fn futures(client: Client, session: Session, lease: Lease) {
            sent(client.open(crate::SessionOptions::default()));
            sent(session.charge(&event(), 1));
            sent(session.lease(&event(), 1, SHORT));
            sent(lease.settle());
        }
    }
}
