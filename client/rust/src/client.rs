use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use prost::Message;
use tonic::Code;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};

use crate::address::{authorization, check_plaintext, host_and_port};
use crate::connection::Connection;
use crate::errors::{Error, failed, invalid};
use crate::retry::Retry;
use crate::session::Session;
use crate::transport::Transport;
use crate::v1;

/// PEM texts.
#[derive(Clone, Default)]
pub struct Tls {
    /// Who vouches for the server; none: the authorities of the system.
    pub authorities: Option<Vec<u8>>,
    /// This client's own certificate and key, for mutual TLS.
    pub identity: Option<(Vec<u8>, Vec<u8>)>,
}

/// Options of a connection.
#[derive(Clone)]
pub struct Options {
    /// "host:port" or "unix:path".
    pub address: String,
    /// None: plaintext, to loopback addresses and unix sockets only.
    pub tls: Option<Tls>,
    /// Allows plaintext to other addresses. Anybody who can change the answers on the way can turn
    /// a refusal into a permit.
    pub allow_insecure: bool,
    /// The caller's secret, "epsl_..."; "": none. It is never sent without TLS to an address that
    /// is not local.
    pub token: String,
    pub retry: Retry,
}

impl Default for Options {
    /// Plaintext to 127.0.0.1:50551.
    fn default() -> Self {
        Options {
            address: "127.0.0.1:50551".to_owned(),
            tls: None,
            allow_insecure: false,
            token: String::new(),
            retry: Retry::default(),
        }
    }
}

impl fmt::Debug for Options {
    /// Neither the token nor a key.
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |is_there: bool| if is_there { "there, not shown" } else { "none" };
        to.debug_struct("Options")
            .field("address", &self.address)
            .field("tls", &shown(self.tls.is_some()))
            .field("allow_insecure", &self.allow_insecure)
            .field("token", &shown(!self.token.is_empty()))
            .field("retry", &self.retry)
            .finish()
    }
}

/// Which session is opened.
#[derive(Clone, Debug, Default)]
pub struct SessionOptions {
    /// "people" or "budgets/people"; it must exist.
    pub budget: String,
    /// The last segment of the session's name.
    pub session: String,
    /// The session to create first; one with the same content stays as it is. None: it must exist.
    pub create: Option<v1::Session>,
    /// What the attempt declares about itself.
    pub provenance: Option<v1::Provenance>,
    pub description: String,
}

/// Returns an adaptive session without a cap of its own, for `SessionOptions::create`.
pub fn new_session(relation: v1::neighboring_relation::Kind) -> v1::Session {
    v1::Session {
        mode: v1::session::Mode::Adaptive.into(),
        neighboring_relation: relation.into(),
        no_own_cap: true,
        ..v1::Session::default()
    }
}

/// A connection to a server. Its clones and its sessions share it; it ends with the last of them.
#[derive(Clone)]
pub struct Client {
    pub(crate) connection: Arc<Connection>,
}

impl Client {
    /// Checks the options; the first call connects. The error, CallFailed, names the option that is
    /// wrong.
    ///
    /// It must be called in a tokio runtime, which then carries the connection.
    pub fn connect(options: Options) -> Result<Client, Error> {
        options.retry.check()?;
        let authorization = authorization(&options.token)?;
        if options.tls.is_none() {
            check_plaintext(&options.address, &options.token, options.allow_insecure)?;
        }
        if tokio::runtime::Handle::try_current().is_err() {
            return Err(failed(
                Code::FailedPrecondition,
                "connect: called outside of a tokio runtime".to_owned(),
            ));
        }
        let transport = Transport::new(channel(&options)?, authorization);
        Ok(Client { connection: Arc::new(Connection::new(transport, options.retry)) })
    }

    /// For the parts of the API that this crate has no words for: reads, and writes that may be
    /// repeated. `path` is "/epsledger.v1.SessionService/GetSession".
    pub async fn call<Answer: Message + Default>(
        &self,
        path: &str,
        request: &impl Message,
    ) -> Result<Answer, Error> {
        if !path.starts_with('/') {
            return Err(invalid("path", path, "/package.Service/Method"));
        }
        self.connection.call(path, request).await
    }

    /// Opens the next attempt of a session, which fences all earlier ones.
    pub async fn open(&self, options: SessionOptions) -> Result<Session, Error> {
        let id = options.budget.strip_prefix("budgets/").unwrap_or(&options.budget);
        let parent = format!("budgets/{id}");
        let name = format!("{parent}/sessions/{}", options.session);
        if let Some(session) = options.create {
            let request = v1::CreateSessionRequest {
                parent,
                session_id: options.session,
                session: Some(session),
                ..v1::CreateSessionRequest::default()
            };
            let _: v1::Session = self
                .connection
                .call("/epsledger.v1.SessionService/CreateSession", &request)
                .await?;
        }
        let request = v1::OpenAttemptRequest {
            session: name.clone(),
            client_description: options.description,
            provenance: options.provenance,
            last_seen_head: self.connection.heads.of(&name),
        };
        let attempt: v1::Attempt =
            self.connection.call("/epsledger.v1.SessionService/OpenAttempt", &request).await?;
        if attempt.number < 1 || attempt.name != format!("{name}/attempts/{}", attempt.number) {
            let (got, number) = (attempt.name, attempt.number);
            let opened = format!("the attempt {got:?} number {number} of {name}");
            let message = format!("the server opened {opened}: these do not fit together");
            return Err(failed(Code::Internal, message));
        }
        let seen = self.connection.heads.accept(&name, &attempt, request.last_seen_head.as_ref());
        seen.map_err(|wrong| failed(Code::DataLoss, wrong))?;
        Ok(Session::new(Arc::clone(&self.connection), name, attempt.name))
    }
}

/// Returns the channel, which connects at the first call. It asks no proxy and repeats no call.
fn channel(options: &Options) -> Result<Channel, Error> {
    let address = &options.address;
    let is_unix = address.starts_with("unix:");
    let wanted = "host:port or unix:path";
    if !is_unix && host_and_port(address).is_none() {
        return Err(invalid("address", address, wanted));
    }
    let scheme = if options.tls.is_some() { "https" } else { "http" };
    let target = if is_unix { address.clone() } else { format!("{scheme}://{address}") };
    let mut endpoint = Endpoint::from_shared(target)
        .map_err(|_| invalid("address", address, wanted))?
        .user_agent(concat!("epsledger-rust/", env!("CARGO_PKG_VERSION")))
        .expect("it is ASCII")
        .connect_timeout(Duration::from_secs(10))
        .http2_keep_alive_interval(Duration::from_secs(60))
        .keep_alive_timeout(Duration::from_secs(20));
    if let Some(tls) = &options.tls {
        endpoint = endpoint.tls_config(tls_config(tls)?).map_err(|error| {
            let cause =
                std::error::Error::source(&error).map_or(error.to_string(), ToString::to_string);
            invalid("tls", cause, "certificates and a key in PEM, and no unix socket")
        })?;
    }
    Ok(endpoint.connect_lazy())
}

fn tls_config(tls: &Tls) -> Result<ClientTlsConfig, Error> {
    let mut config = ClientTlsConfig::new();
    config = match &tls.authorities {
        Some(pem) if !String::from_utf8_lossy(pem).contains("-----BEGIN CERTIFICATE-----") => {
            return Err(invalid("tls.authorities", "something else", "certificates in PEM"));
        }
        Some(pem) => config.ca_certificate(Certificate::from_pem(pem)),
        None => config.with_native_roots(),
    };
    if let Some((certificate, key)) = &tls.identity {
        config = config.identity(Identity::from_pem(certificate, key));
    }
    Ok(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "epsl_0123456789abcdefghijklmnopqrstuv";

    fn connected(address: &str, tls: Option<Tls>) -> Result<Client, Error> {
        let (address, token) = (address.to_owned(), TOKEN.to_owned());
        Client::connect(Options { address, tls, token, ..Options::default() })
    }

    #[test]
    fn options_never_show_the_token() {
        let options = Options { token: TOKEN.to_owned(), ..Options::default() };
        assert!(!format!("{options:?}").contains(TOKEN));
    }

    #[tokio::test]
    async fn what_cannot_be_connected_to_is_named_and_the_token_is_not() {
        let bad_pem = Some(Tls { authorities: Some(b"nothing".to_vec()), identity: None });
        let good = || Some(Tls::default());
        let cases = [
            ("localhost", good(), "address"),
            ("a b:1", good(), "address"),
            ("user@127.0.0.1:1/path", None, "token"),
            ("127.0.0.1@example.com:1", None, "token"),
            ("example.com:1", bad_pem, "tls"),
            ("unix:/run/epsledger.sock", good(), "tls"),
        ];
        for (address, tls, field) in cases {
            let text = connected(address, tls).err().expect(address).to_string();
            assert!(text.contains(field) && !text.contains(TOKEN), "{address}: {text}");
        }
    }

    #[test]
    fn without_a_runtime_connect_says_so() {
        let text = Client::connect(Options::default()).err().unwrap().to_string();
        assert!(text.contains("tokio runtime"), "{text}");
    }
}
