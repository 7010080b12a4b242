use std::collections::HashMap;
use std::fmt::Write;
use std::sync::{Mutex, PoisonError};

use crate::v1;
use crate::v1::LedgerHead;

const HASH_BYTES: usize = 32;
const COMPARE: &str = "have the operator compare the server with its backups";

/// What every answer says about its place in the ledger.
pub(crate) trait Entry {
    fn sequence(&self) -> i64;
    fn hash(&self) -> &[u8];
    fn head_tag(&self) -> &[u8];
}

macro_rules! entry {
    ($($message:ty),*) => {$(
        impl Entry for $message {
            fn sequence(&self) -> i64 {
                self.sequence
            }
            fn hash(&self) -> &[u8] {
                &self.hash
            }
            fn head_tag(&self) -> &[u8] {
                &self.head_tag
            }
        }
    )*};
}
entry!(v1::Attempt, v1::Charge, v1::Lease);

/// The newest ledger entry that this client has seen in each session. A server that is behind it
/// has lost charges.
#[derive(Default)]
pub(crate) struct SeenHeads {
    heads: Mutex<HashMap<String, LedgerHead>>,
}

impl SeenHeads {
    /// Returns the head to send; none if nothing was seen.
    pub(crate) fn of(&self, session: &str) -> Option<LedgerHead> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned()
    }

    /// Remembers the entry of an answer, unless a newer one was seen. Returns as an error how the
    /// entry contradicts what was seen, and then remembers nothing. An entry without a hash says
    /// nothing.
    ///
    /// A fork: it has the sequence number of the newest entry, and another hash. The ledger went
    /// back: it is not after `sent`, the head that a new key, or an attempt, was sent with. An
    /// older key may have an older entry: then `sent` is none.
    pub(crate) fn accept(
        &self,
        session: &str,
        answer: &impl Entry,
        sent: Option<&LedgerHead>,
    ) -> Result<(), String> {
        let (sequence, hash) = (answer.sequence(), answer.hash());
        if sequence < 1 || hash.len() != HASH_BYTES {
            return Ok(());
        }
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = heads.get(session);
        if let Some(seen) = seen.filter(|seen| seen.sequence == sequence && seen.hash != hash) {
            return Err(format!(
                "a fork of the ledger: entry {sequence} has the hash {} here, and had {} before; \
                 {COMPARE}",
                hex(hash),
                hex(&seen.hash),
            ));
        }
        if let Some(sent) = sent.filter(|sent| sequence <= sent.sequence) {
            return Err(format!(
                "the ledger went back: the new entry has number {sequence}, after entry {} was \
                 seen; {COMPARE}",
                sent.sequence,
            ));
        }
        if seen.is_none_or(|seen| seen.sequence < sequence) {
            let root_budget = session.split("/sessions/").next().unwrap_or_default().to_owned();
            let tag = answer.head_tag().to_vec();
            heads.insert(
                session.to_owned(),
                LedgerHead {
                    root_budget,
                    sequence,
                    hash: hash.to_vec(),
                    tag,
                    ..LedgerHead::default()
                },
            );
        }
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
