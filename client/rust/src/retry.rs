use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use crate::errors::{Error, invalid};
use crate::transport::RpcError;

const LONGEST: Duration = Duration::from_secs(366 * 86_400);

/// How long and how often a call is tried. No setting makes an unknown outcome count as accepted.
#[derive(Clone, Debug)]
pub struct Retry {
    /// Of one try; in (0, 366 days].
    pub call_timeout: Duration,
    /// Of all tries and waits together; in (0, 366 days].
    pub overall_timeout: Duration,
    /// 0: as many as the time allows.
    pub max_tries: u32,
    /// A wait is uniform in [b/2, b]; b doubles from this to `max_backoff`. It is never shorter
    /// than the server's RetryInfo asks.
    pub initial_backoff: Duration,
    pub max_backoff: Duration,
}

impl Default for Retry {
    /// 10 s, 60 s, no limit of the number, 50 ms, 2 s.
    fn default() -> Self {
        Retry {
            call_timeout: Duration::from_secs(10),
            overall_timeout: Duration::from_secs(60),
            max_tries: 0,
            initial_backoff: Duration::from_millis(50),
            max_backoff: Duration::from_secs(2),
        }
    }
}

/// The outcome of all tries of one call.
pub(crate) struct Tries<Answer> {
    /// Of the last try.
    pub(crate) outcome: Result<Answer, RpcError>,
    /// Some try ended without saying that nothing was written.
    pub(crate) may_have_committed: bool,
    pub(crate) count: u32,
    elapsed: Duration,
}

impl<Answer> Tries<Answer> {
    /// "3 tries in 1.2 s".
    pub(crate) fn how_it_went(&self) -> String {
        format!("{} tries in {:.1} s", self.count, self.elapsed.as_secs_f64())
    }
}

impl Retry {
    pub(crate) fn check(&self) -> Result<(), Error> {
        let timeouts =
            [("call_timeout", self.call_timeout), ("overall_timeout", self.overall_timeout)];
        for (field, timeout) in timeouts {
            if timeout.is_zero() || timeout > LONGEST {
                return Err(invalid(
                    &format!("retry.{field}"),
                    format!("{timeout:?}"),
                    "in (0, 366 days]",
                ));
            }
        }
        if self.max_backoff < self.initial_backoff || self.max_backoff > LONGEST {
            let got = format!("{:?}", self.max_backoff);
            return Err(invalid("retry.max_backoff", got, "in [initial_backoff, 366 days]"));
        }
        Ok(())
    }

    /// Calls `once` until it answers, fails definitely, or the tries or the time are used up, and
    /// at least once.
    pub(crate) async fn until_definite<Answer, Call>(
        &self,
        once: impl Fn(Duration) -> Call,
    ) -> Tries<Answer>
    where
        Call: Future<Output = Result<Answer, RpcError>>,
    {
        let start = Instant::now();
        let left = || self.overall_timeout.saturating_sub(start.elapsed());
        let (mut backoff, mut may_have_committed, mut count) = (self.initial_backoff, false, 0);
        loop {
            let outcome = once(self.call_timeout.min(left())).await;
            count += 1;
            may_have_committed |= outcome.as_ref().is_err_and(RpcError::may_have_committed);
            let tries = Tries { outcome, may_have_committed, count, elapsed: start.elapsed() };
            let Err(error) = &tries.outcome else {
                return tries;
            };
            if !error.is_worth_retrying() || count == self.max_tries {
                return tries;
            }
            let wait = error.retry_delay().max(backoff.mul_f64(0.5 + fastrand::f64() / 2.0));
            if wait >= left() {
                return tries;
            }
            tokio::time::sleep(wait).await;
            if left().is_zero() {
                return tries;
            }
            backoff = (2 * backoff).min(self.max_backoff);
        }
    }
}
