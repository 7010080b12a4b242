//! One call, over the connection of tonic.
//!
//! Its framing is written here and not tonic's. That one ends answers that it cannot read with
//! OUT_OF_RANGE or UNIMPLEMENTED, codes by which the server means that nothing was written, and
//! panics on details that are not base64. Here a code that means so is believed only where
//! `grpc-status` says it.

use std::future::poll_fn;
use std::time::Duration;

use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue, TE};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use prost::bytes::Bytes;
use prost::{Message, Name};
use tonic::body::Body;
use tonic::transport::Channel;
use tonic::{Code, Status};
use tower_service::Service;

use crate::google::rpc;

const MOST_ANSWER_BYTES: usize = 4 << 20;
const MOST_RETRY_DELAY: Duration = Duration::from_secs(3600);
// Padding is optional in metadata.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The error of one try.
#[derive(Debug)]
pub(crate) struct RpcError {
    pub(crate) code: Code,
    pub(crate) message: String,
    details: Vec<u8>,
}

impl RpcError {
    fn new(code: Code, message: impl Into<String>) -> Self {
        RpcError { code, message: message.into(), details: Vec::new() }
    }

    /// True for codes after which a repetition with the same key can find out.
    pub(crate) fn is_worth_retrying(&self) -> bool {
        matches!(
            self.code,
            Code::Unavailable | Code::DeadlineExceeded | Code::Cancelled | Code::Unknown
        )
    }

    /// True for all codes but those that the server returns before it writes.
    pub(crate) fn may_have_committed(&self) -> bool {
        !matches!(
            self.code,
            Code::InvalidArgument
                | Code::NotFound
                | Code::AlreadyExists
                | Code::PermissionDenied
                | Code::Unauthenticated
                | Code::FailedPrecondition
                | Code::Aborted
                | Code::OutOfRange
                | Code::Unimplemented
        )
    }

    /// Returns how long the server asks to wait, in [0, 1 h]; more is not believed.
    pub(crate) fn retry_delay(&self) -> Duration {
        let asked = self.details::<rpc::RetryInfo>().into_iter().find_map(|info| info.retry_delay);
        let delay = asked.and_then(|delay| Duration::try_from(delay).ok()); // none before now
        delay.filter(|delay| *delay <= MOST_RETRY_DELAY).unwrap_or_default()
    }

    /// Returns the details of that type. What cannot be read is no detail.
    pub(crate) fn details<Detail: Message + Name + Default>(&self) -> Vec<Detail> {
        let status = rpc::Status::decode(self.details.as_slice()).unwrap_or_default();
        let wanted = Detail::full_name();
        let of_type = status
            .details
            .iter()
            .filter(|any| any.type_url.rsplit('/').next() == Some(wanted.as_str()));
        of_type.filter_map(|any| Detail::decode(any.value.as_slice()).ok()).collect()
    }
}

/// A connection, and the token that goes with each call.
pub(crate) struct Transport {
    channel: Channel,
    authorization: Option<HeaderValue>,
}

impl Transport {
    pub(crate) fn new(channel: Channel, authorization: Option<HeaderValue>) -> Self {
        Transport { channel, authorization }
    }

    /// Makes one try, which ends within `limit`.
    pub(crate) async fn call<Answer: Message + Default>(
        &self,
        path: &str,
        request: &impl Message,
        limit: Duration,
    ) -> Result<Answer, RpcError> {
        let asked = self.asked(path, request, limit)?;
        let answered = tokio::time::timeout(limit, self.answered(asked)).await;
        answered.unwrap_or_else(|_| {
            Err(RpcError::new(
                Code::DeadlineExceeded,
                format!("no answer in {:.1} s", limit.as_secs_f64()),
            ))
        })
    }

    fn asked(
        &self,
        path: &str,
        request: &impl Message,
        limit: Duration,
    ) -> Result<http::Request<Body>, RpcError> {
        let mut frame = vec![0; 5];
        request.encode(&mut frame).expect("a vector grows");
        let length = u32::try_from(frame.len() - 5)
            .map_err(|_| RpcError::new(Code::InvalidArgument, "the request has more than 4 GiB"))?;
        frame[1..5].copy_from_slice(&length.to_be_bytes());
        let mut asked = http::Request::post(path)
            .version(http::Version::HTTP_2)
            .header(TE, "trailers")
            .header(CONTENT_TYPE, "application/grpc")
            .header("grpc-timeout", timeout_text(limit))
            .body(Body::new(Full::<Bytes>::from(frame)))
            .map_err(|error| RpcError::new(Code::InvalidArgument, format!("{path}: {error}")))?;
        if let Some(authorization) = &self.authorization {
            asked.headers_mut().insert(AUTHORIZATION, authorization.clone());
        }
        Ok(asked)
    }

    async fn answered<Answer: Message + Default>(
        &self,
        asked: http::Request<Body>,
    ) -> Result<Answer, RpcError> {
        let mut channel = self.channel.clone();
        poll_fn(|context| channel.poll_ready(context))
            .await
            .map_err(|error| broken(error.into()))?;
        let answer = channel.call(asked).await.map_err(|error| broken(error.into()))?;
        let (head, body) = answer.into_parts();
        let body = Limited::new(body, MOST_ANSWER_BYTES).collect().await.map_err(broken)?;
        let trailers = body.trailers().cloned().unwrap_or_default();
        answer_of(head.status, &head.headers, &trailers, &body.to_bytes())
    }
}

/// Returns what an answer says: its one message if its status is OK.
fn answer_of<Answer: Message + Default>(
    http_status: http::StatusCode,
    headers: &HeaderMap,
    trailers: &HeaderMap,
    body: &[u8],
) -> Result<Answer, RpcError> {
    let said = [trailers, headers].into_iter().find(|fields| fields.contains_key("grpc-status"));
    let Some(fields) = said else {
        let code = match http_status.as_u16() {
            429 | 502 | 503 | 504 => Code::Unavailable,
            _ => Code::Unknown,
        };
        return Err(RpcError::new(
            code,
            format!("the answer ends without grpc-status, after {http_status}"),
        ));
    };
    let text = |name: &str| fields.get(name).map(HeaderValue::as_bytes).unwrap_or_default();
    let code = Code::from_bytes(text("grpc-status"));
    if code != Code::Ok {
        let message =
            percent_encoding::percent_decode(text("grpc-message")).decode_utf8_lossy().into_owned();
        let details = BASE64.decode(text("grpc-status-details-bin")).unwrap_or_default();
        return Err(RpcError { code, message, details });
    }
    let unreadable =
        |why: String| RpcError::new(Code::Internal, format!("the answer is OK, but {why}"));
    let (prefix, message) =
        body.split_first_chunk::<5>().ok_or_else(|| unreadable("has no message".to_owned()))?;
    let [compressed, length @ ..] = *prefix;
    if compressed != 0 || u32::from_be_bytes(length) as usize != message.len() {
        return Err(unreadable("is not one message as it is".to_owned()));
    }
    Answer::decode(message).map_err(|error| unreadable(error.to_string()))
}

/// The error of a connection that failed. It never says that nothing was written.
fn broken(error: Box<dyn std::error::Error + Send + Sync>) -> RpcError {
    if error.is::<LengthLimitError>() {
        return RpcError::new(
            Code::ResourceExhausted,
            format!("the answer has more than {MOST_ANSWER_BYTES} bytes"),
        );
    }
    let status = Status::from_error(error);
    let failed = RpcError::new(status.code(), told(&status));
    if failed.may_have_committed() { failed } else { RpcError { code: Code::Unknown, ..failed } }
}

/// "transport error: tcp connect error: Connection refused (os error 111)".
fn told(status: &Status) -> String {
    let mut text = status.message().to_owned();
    let mut cause = std::error::Error::source(status);
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = error.source();
    }
    text
}

/// The server's deadline, after this client's.
fn timeout_text(limit: Duration) -> String {
    match limit.as_millis() + 1 {
        ms @ ..=99_999_999 => format!("{ms}m"),
        _ => format!("{}S", limit.as_secs() + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::v1::LedgerHead;

    type Answer = Result<LedgerHead, RpcError>;

    fn fields(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    fn message() -> Vec<u8> {
        let head = LedgerHead { sequence: 7, ..LedgerHead::default() };
        let length = u8::try_from(head.encoded_len()).unwrap();
        [vec![0, 0, 0, 0, length], head.encode_to_vec()].concat()
    }

    fn answered(http_status: u16, trailers: &[(&'static str, &str)], body: &[u8]) -> Answer {
        let http_status = http::StatusCode::from_u16(http_status).unwrap();
        answer_of(http_status, &HeaderMap::new(), &fields(trailers), body)
    }

    fn code(answer: Answer) -> Code {
        answer.unwrap_err().code
    }

    #[test]
    fn one_message_with_status_ok_is_an_answer() {
        assert_eq!(answered(200, &[("grpc-status", "0")], &message()).unwrap().sequence, 7);
    }

    #[test]
    fn a_message_without_a_status_is_none() {
        assert_eq!(code(answered(200, &[], &message())), Code::Unknown);
    }

    #[test]
    fn only_grpc_status_says_that_nothing_was_written() {
        for http_status in [400, 401, 403, 404, 500, 502, 503] {
            let error = answered(http_status, &[], b"").unwrap_err();
            assert!(error.may_have_committed(), "{http_status}: {error:?}");
        }
        for said in ["3", "5", "6", "7", "9", "10", "11", "12", "16"] {
            let error = answered(200, &[("grpc-status", said)], b"").unwrap_err();
            assert!(!error.may_have_committed(), "{said}: {error:?}");
        }
    }

    #[test]
    fn what_is_not_one_message_is_unreadable() {
        let (one, ok) = (message(), [("grpc-status", "0")]);
        let compressed = [&[1][..], &one[1..]].concat();
        for body in
            [&b""[..], &one[..4], &one[..6], &[one.clone(), one.clone()].concat(), &compressed]
        {
            assert_eq!(code(answered(200, &ok, body)), Code::Internal, "{body:?}");
        }
    }

    #[test]
    fn a_message_before_another_status_is_no_answer() {
        assert_eq!(code(answered(200, &[("grpc-status", "14")], &message())), Code::Unavailable);
    }

    #[tokio::test]
    async fn an_answer_that_is_too_large_may_have_committed() {
        let error = Limited::new(Full::<&[u8]>::from(&b"12"[..]), 1).collect().await.unwrap_err();
        assert_eq!(broken(error).code, Code::ResourceExhausted);
    }

    #[test]
    fn a_connection_that_fails_may_have_committed() {
        for code in 1..=16 {
            let error = broken(Box::new(Status::new(Code::from_i32(code), "of this side")));
            assert!(error.may_have_committed(), "{error:?}");
        }
    }

    #[test]
    fn details_that_cannot_be_read_are_none() {
        for details in ["not base64!", "AAAA", "=", ""] {
            let trailers = [("grpc-status", "9"), ("grpc-status-details-bin", details)];
            let error = answered(200, &trailers, b"").unwrap_err();
            assert_eq!(error.details::<rpc::RetryInfo>(), [], "{details}");
            assert_eq!(error.retry_delay(), Duration::ZERO, "{details}");
        }
    }

    #[test]
    fn the_servers_deadline_comes_after_this_clients() {
        assert_eq!(timeout_text(Duration::from_micros(1)), "1m");
        assert_eq!(timeout_text(Duration::from_secs(10)), "10001m");
        assert_eq!(timeout_text(Duration::from_secs(366 * 86_400)), "31622401S");
    }
}
