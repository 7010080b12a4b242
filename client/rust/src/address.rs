use std::net::IpAddr;

use http::HeaderValue;
use tonic::Code;

use crate::errors::{Error, failed, invalid};

/// Refuses plaintext that others could read or change. Its errors never repeat the token.
pub(crate) fn check_plaintext(
    address: &str,
    token: &str,
    allow_insecure: bool,
) -> Result<(), Error> {
    if is_local(address) {
        return Ok(());
    }
    if !token.is_empty() {
        let wrong = "would be sent in plaintext to";
        let message =
            format!("token: {wrong} {address}, where others can read it on the way: use TLS");
        return Err(failed(Code::InvalidArgument, message));
    }
    if !allow_insecure {
        return Err(invalid(
            "address",
            address,
            "a loopback address or a unix socket where there is no TLS",
        ));
    }
    Ok(())
}

/// Returns what goes with each call; none without a token.
pub(crate) fn authorization(token: &str) -> Result<Option<HeaderValue>, Error> {
    if token.is_empty() {
        return Ok(None);
    }
    if !token.bytes().all(|letter| letter.is_ascii_graphic()) {
        return Err(invalid(
            "token",
            "something else",
            "the secret of a token, without white space",
        ));
    }
    let mut value = HeaderValue::try_from(format!("Bearer {token}")).expect("printable ASCII");
    value.set_sensitive(true); // not in what is logged or compressed
    Ok(Some(value))
}

/// True for a unix socket, a literal loopback address or "localhost" with a port, and for nothing
/// else.
pub(crate) fn is_local(address: &str) -> bool {
    if address.starts_with("unix:") {
        return true;
    }
    match host_and_port(address) {
        Some(("localhost", false)) => true,
        Some((host, in_brackets)) => {
            host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback() && ip.is_ipv6() == in_brackets)
        }
        None => false,
    }
}

/// Returns the host, and whether it stands in brackets; none if the address is not "host:port" or
/// "[host]:port".
pub(crate) fn host_and_port(address: &str) -> Option<(&str, bool)> {
    let (host, port) = address.rsplit_once(':')?;
    if port.is_empty() || !port.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    match host.strip_prefix('[') {
        Some(rest) => rest.strip_suffix(']').map(|inner| (inner, true)),
        None => (!host.contains(':')).then_some((host, false)),
    }
}
