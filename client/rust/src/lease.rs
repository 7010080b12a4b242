use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tonic::Code;

use crate::connection::Connection;
use crate::errors::{Error, Spent, failed};
use crate::permit::Permit;
use crate::v1;

/// A block of steps that the ledger durably ACCEPTED as one charge, to be spent without asking the
/// server.
///
/// It gives at most as many permits as it was granted, and none after the first `settle`.
/// Everything was charged when it was acquired: granted = used + wasted, and a lost lease is spent
/// in full. No lease ends by itself.
#[must_use = "the lease is charged in full, whether its steps are taken or not"]
pub struct Lease {
    connection: Arc<Connection>,
    name: String,
    charge: String,
    sequence: i64,
    granted: i64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    used: i64,
    ended: bool,
    settled: bool,
}

impl Lease {
    pub(crate) fn new(connection: Arc<Connection>, lease: v1::Lease, charge: String) -> Self {
        let (name, sequence, granted) = (lease.name, lease.sequence, lease.granted_count);
        Lease { connection, name, charge, sequence, granted, state: Mutex::default() }
    }

    /// "budgets/{budget}/sessions/{session}/attempts/{attempt}/leases/{lease}".
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many steps were charged.
    pub fn granted_count(&self) -> i64 {
        self.granted
    }

    /// Returns the permit of one more step. Spent if all are taken, or after `settle`.
    pub fn take(&self) -> Result<Permit, Spent> {
        let mut state = self.state();
        if state.ended {
            return Err(Spent { what: format!("{} is settled", self.name) });
        }
        if state.used >= self.granted {
            return Err(Spent {
                what: format!("all {} steps of {} are taken", self.granted, self.name),
            });
        }
        state.used += 1;
        Ok(Permit::new(self.charge.clone(), self.sequence, 1))
    }

    /// Ends the lease and tells the ledger how many steps were taken. Calling it again continues to
    /// try, and does nothing after a success. CallFailed: the lease is spent in full until a
    /// `settle` succeeds.
    pub async fn settle(&self) -> Result<(), Error> {
        let used = {
            let mut state = self.state();
            state.ended = true;
            if state.settled {
                return Ok(());
            }
            state.used
        };
        let request = v1::SettleLeaseRequest { name: self.name.clone(), used_count: used };
        let answer: v1::Lease =
            self.connection.call("/epsledger.v1.ChargeService/SettleLease", &request).await?;
        if answer.name != self.name || !answer.settled || answer.used_count != used {
            let message = format!("the server's answer is not one to settling {}", self.name);
            return Err(failed(Code::Internal, message));
        }
        self.state().settled = true;
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
