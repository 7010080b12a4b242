use std::fmt;

use tonic::Code;

use crate::v1;
use crate::v1::refusal::Reason;

/// How a call ended without what it was to bring. None of them means that a step may run.
#[derive(Debug)]
pub enum Error {
    Refused(Refused),
    OutcomeUnknown(OutcomeUnknown),
    CallFailed(CallFailed),
    Spent(Spent),
}

/// The ledger refused a charge or a lease: nothing was charged, and nothing may be released. It is
/// final: the same key gets the same refusal for ever.
#[derive(Debug)]
pub struct Refused {
    /// "budgets/.../charges/step-3"; "" for a session whose plan does not fit.
    pub charge: String,
    pub refusal: Box<v1::Refusal>,
}

/// No try of a charge brought a decision. It may have been committed, and COUNTS AS SPENT: release
/// nothing for it. `Session::retry_charge` asks for the same charge again.
#[derive(Debug)]
pub struct OutcomeUnknown {
    pub charge_id: String,
    pub code: Code,
    pub message: String,
    /// "3 tries in 1.2 s".
    pub how_it_went: String,
}

/// A call ended with an error that is no refusal. It charged nothing.
#[derive(Debug)]
pub struct CallFailed {
    pub code: Code,
    pub message: String,
}

/// Every use of a permit, or every step of a lease, is taken, or the lease is settled.
#[derive(Debug)]
pub struct Spent {
    pub(crate) what: String,
}

impl Refused {
    /// Returns "BUDGET_EXHAUSTED", "ATTEMPT_FENCED" (a newer attempt was opened: stop this one),
    /// ...
    pub fn reason(&self) -> String {
        match Reason::try_from(self.refusal.reason) {
            Ok(reason) => reason.as_str_name().to_owned(),
            Err(_) => format!("REASON_{}", self.refusal.reason),
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "refused, {}", self.reason())?;
        if !self.refusal.limiting_resource.is_empty() {
            write!(to, " by {}", self.refusal.limiting_resource)?;
        }
        if !self.refusal.remedy.is_empty() {
            return write!(to, ": {}", self.refusal.remedy);
        }
        if self.refusal.steps_that_fit > 0 {
            let fit = self.refusal.steps_that_fit;
            return write!(to, ": ask for at most {fit} of it, or for more noise");
        }
        to.write_str(match self.refusal.reason() {
            Reason::BudgetExhausted => {
                ": no step of this size fits any more: ask for more noise, or stop"
            }
            Reason::AttemptFenced => ": a newer attempt of this session is running; stop this one",
            _ => ": nothing was charged, and nothing may be released",
        })
    }
}

impl fmt::Display for OutcomeUnknown {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            to,
            "charge {id}: the outcome is unknown and counts as spent ({how}); release nothing for \
             it until retry_charge({id:?}) is accepted. Last answer: {code}: {message}",
            id = self.charge_id,
            how = self.how_it_went,
            code = code_name(self.code),
            message = self.message,
        )
    }
}

impl fmt::Display for CallFailed {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}: {}", code_name(self.code), self.message)
    }
}

impl fmt::Display for Spent {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}: charge again before the next release", self.what)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Refused(error) => error.fmt(to),
            Error::OutcomeUnknown(error) => error.fmt(to),
            Error::CallFailed(error) => error.fmt(to),
            Error::Spent(error) => error.fmt(to),
        }
    }
}

impl std::error::Error for Error {}
impl std::error::Error for Refused {}
impl std::error::Error for OutcomeUnknown {}
impl std::error::Error for CallFailed {}
impl std::error::Error for Spent {}

impl From<Spent> for Error {
    fn from(error: Spent) -> Self {
        Error::Spent(error)
    }
}

/// Returns the name of a status code as the API writes it: "NOT_FOUND".
pub fn code_name(code: Code) -> &'static str {
    match code {
        Code::Ok => "OK",
        Code::Cancelled => "CANCELLED",
        Code::Unknown => "UNKNOWN",
        Code::InvalidArgument => "INVALID_ARGUMENT",
        Code::DeadlineExceeded => "DEADLINE_EXCEEDED",
        Code::NotFound => "NOT_FOUND",
        Code::AlreadyExists => "ALREADY_EXISTS",
        Code::PermissionDenied => "PERMISSION_DENIED",
        Code::ResourceExhausted => "RESOURCE_EXHAUSTED",
        Code::FailedPrecondition => "FAILED_PRECONDITION",
        Code::Aborted => "ABORTED",
        Code::OutOfRange => "OUT_OF_RANGE",
        Code::Unimplemented => "UNIMPLEMENTED",
        Code::Internal => "INTERNAL",
        Code::Unavailable => "UNAVAILABLE",
        Code::DataLoss => "DATA_LOSS",
        Code::Unauthenticated => "UNAUTHENTICATED",
    }
}

/// The error of a value that is refused before it is sent.
pub(crate) fn invalid(field: &str, got: impl fmt::Display, want: &str) -> Error {
    failed(Code::InvalidArgument, format!("{field}: got {got}, want {want}"))
}

pub(crate) fn failed(code: Code, message: String) -> Error {
    Error::CallFailed(CallFailed { code, message })
}
