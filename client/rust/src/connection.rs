use prost::Message;

use crate::errors::{Error, Refused, failed};
use crate::heads::SeenHeads;
use crate::retry::{Retry, Tries};
use crate::transport::Transport;
use crate::v1::Refusal;

/// A transport with its retries, and what was seen through it.
pub(crate) struct Connection {
    transport: Transport,
    retry: Retry,
    pub(crate) heads: SeenHeads,
}

impl Connection {
    pub(crate) fn new(transport: Transport, retry: Retry) -> Self {
        Connection { transport, retry, heads: SeenHeads::default() }
    }

    /// Asks, always with the same request, until the outcome is definite or the tries are used up.
    pub(crate) async fn tries<Answer: Message + Default>(
        &self,
        path: &str,
        request: &impl Message,
    ) -> Tries<Answer> {
        self.retry.until_definite(|limit| self.transport.call(path, request, limit)).await
    }

    /// The same for reads, and for writes that may be repeated without harm.
    pub(crate) async fn call<Answer: Message + Default>(
        &self,
        path: &str,
        request: &impl Message,
    ) -> Result<Answer, Error> {
        let tries = self.tries(path, request).await;
        let after = if tries.count > 1 {
            format!(", after {}", tries.how_it_went())
        } else {
            String::new()
        };
        tries.outcome.map_err(|error| match error.details::<Refusal>().into_iter().next() {
            Some(refusal) => {
                Error::Refused(Refused { charge: String::new(), refusal: Box::new(refusal) })
            } // of a plan
            None => failed(error.code, error.message + &after),
        })
    }
}
