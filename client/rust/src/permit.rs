use std::sync::atomic::{AtomicI64, Ordering};

use crate::errors::Spent;

/// The proof that the ledger durably ACCEPTED one charge. Only a session or a lease makes one.
/// Dropping it returns nothing: what is charged stays charged.
#[derive(Debug)]
#[must_use = "the charge is spent, whether its noise is drawn or not"]
pub struct Permit {
    charge: String,
    sequence: i64,
    uses_left: AtomicI64,
}

impl Permit {
    pub(crate) fn new(charge: String, sequence: i64, uses: i64) -> Self {
        Permit { charge, sequence, uses_left: AtomicI64::new(uses) }
    }

    /// "budgets/{budget}/sessions/{session}/attempts/{attempt}/charges/{charge}".
    pub fn charge(&self) -> &str {
        &self.charge
    }

    /// The charge's position in the root budget's ledger.
    pub fn sequence(&self) -> i64 {
        self.sequence
    }

    /// How many uses were charged and are not taken.
    pub fn uses_left(&self) -> i64 {
        self.uses_left.load(Ordering::SeqCst)
    }

    /// Takes one use: draw noise for one release if and only if it returns Ok. Spent if none is
    /// left.
    pub fn use_one(&self) -> Result<(), Spent> {
        let one_less = |left| if left < 1 { None } else { Some(left - 1) };
        match self.uses_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_less) {
            Ok(_) => Ok(()),
            Err(_) => Err(Spent { what: format!("no use of {} is left", self.charge) }),
        }
    }
}
