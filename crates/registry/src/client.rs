//! One request and its answer over HTTP. Whom a request may go to, and how long silence is borne, is decided here.

use crate::RegistryError;
use crate::reference::is_loopback;
use rustls::crypto::ring;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::Duration;
use ureq::http::uri::Authority;
use ureq::http::{HeaderMap, Uri, header};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body};

/// How often an answer may lead elsewhere.
const MOST_REDIRECTS: usize = 5;

/// How many times the patience a short document may take as a whole, so that nobody sends it byte by byte.
const DOCUMENT_PATIENCE: u32 = 10;

/// See the module.
#[derive(Debug)]
pub(crate) struct Client {
    agent: Agent,
    patience: Duration,
    /// Whether hosts other than this machine may be asked without TLS.
    plain: bool,
}

/// An answer, whatever its status.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
    /// Who gave it.
    pub(crate) host: String,
}

/// What a request wants.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ask<'a> {
    pub(crate) accept: Option<&'a str>,
    pub(crate) authorization: Option<&'a str>,
    /// The first byte that is wanted.
    pub(crate) from: u64,
    /// Whether it is short: then it has to come soon.
    pub(crate) is_document: bool,
    /// What is posted, as a form.
    pub(crate) form: Option<&'a str>,
}

impl Client {
    /// `patience` is how long nothing may come; `plain` whether hosts other than this machine may be asked without TLS.
    pub(crate) fn new(patience: Duration, plain: bool) -> Self {
        let tls = TlsConfig::builder()
            .root_certs(trusted())
            .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
            .build();
        let config = Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("netloom/", env!("CARGO_PKG_VERSION")))
            .timeout_resolve(Some(patience))
            .timeout_connect(Some(patience))
            .timeout_recv_response(Some(patience))
            .timeout_per_read(Some(patience))
            .timeout_per_write(Some(patience))
            .build();
        Self { agent: config.into(), patience, plain }
    }

    /// Sends a request and follows where the answer leads. Credentials stay with the host that they were meant for.
    pub(crate) fn ask(&self, url: &str, ask: Ask<'_>) -> Result<Answer, RegistryError> {
        let first: Uri =
            url.parse().map_err(|error| RegistryError::Answer(format!("`{url}` is no address: {error}")))?;
        let mut place = first.clone();
        for _ in 0..=MOST_REDIRECTS {
            self.check(&place)?;
            let is_same = (place.scheme(), place.authority()) == (first.scheme(), first.authority());
            let authorization = ask.authorization.filter(|_| is_same);
            let answer = self.once(&place, Ask { authorization, ..ask })?;
            let leads_on = matches!(answer.status, 301 | 302 | 303 | 307 | 308);
            let Some(target) = answer.headers.get(header::LOCATION).filter(|_| leads_on) else { return Ok(answer) };
            place = elsewhere(&place, target.to_str().unwrap_or_default())?;
        }
        Err(RegistryError::Answer(format!("{url} leads to other places more than {MOST_REDIRECTS} times")))
    }

    /// Whether a host may be asked in this way.
    fn check(&self, place: &Uri) -> Result<(), RegistryError> {
        let host = place.authority().map(Authority::as_str).unwrap_or_default();
        match place.scheme_str() {
            Some("https") => Ok(()),
            Some("http") if self.plain || is_loopback(host) => Ok(()),
            Some("http") => Err(RegistryError::Answer(format!(
                "{host} is to be asked without encryption, which happens on this machine alone: if it is a registry of your own \
                 network, add `--plain-http`"
            ))),
            _ => Err(RegistryError::Answer(format!("`{place}` is neither https: nor http:"))),
        }
    }

    fn once(&self, place: &Uri, ask: Ask<'_>) -> Result<Answer, RegistryError> {
        let host = place.authority().map(ToString::to_string).unwrap_or_default();
        let form = ask.form.unwrap_or_default();
        let mut request = ureq::http::Request::builder().uri(place);
        if let Some(accept) = ask.accept {
            request = request.header(header::ACCEPT, accept);
        }
        if let Some(authorization) = ask.authorization {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        if ask.from > 0 {
            request = request.header(header::RANGE, format!("bytes={}-", ask.from));
        }
        let failed = |error| self.failed(&host, &error);
        let limit = ask.is_document.then_some(self.patience * DOCUMENT_PATIENCE);
        let answer = if ask.form.is_some() {
            let request = request.method("POST").header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
            let request = request.body(form.to_owned()).map_err(|error| failed(error.into()))?;
            self.agent.run(self.agent.configure_request(request).timeout_recv_body(limit).build())
        } else {
            let request = request.body(()).map_err(|error| failed(error.into()))?;
            let request = self.agent.configure_request(request).timeout_recv_body(limit);
            let request = if is_loopback(&host) { request.proxy(None) } else { request };
            self.agent.run(request.build())
        };
        let (head, body) = answer.map_err(failed)?.into_parts();
        Ok(Answer { status: head.status.as_u16(), headers: head.headers, body, host })
    }

    /// What went wrong on the way to a host, in words.
    pub(crate) fn failed(&self, host: &str, error: &ureq::Error) -> RegistryError {
        RegistryError::Network(format!("ask {host}: {}", self.words(error)))
    }

    fn words(&self, error: &ureq::Error) -> String {
        match error {
            ureq::Error::HostNotFound => "there is no host of this name, or no name service answers".to_owned(),
            ureq::Error::Timeout(_) => silence(self.patience),
            ureq::Error::Rustls(error) => of_tls(error),
            ureq::Error::Io(error) => self.of_io(error),
            other => other.to_string(),
        }
    }

    /// The words for what reading an answer said.
    pub(crate) fn of_io(&self, error: &io::Error) -> String {
        let inner = error.get_ref();
        if let Some(own) = inner.and_then(|inner| inner.downcast_ref::<ureq::Error>()) {
            return self.words(own);
        }
        match inner.and_then(|inner| inner.downcast_ref::<rustls::Error>()) {
            Some(tls) => of_tls(tls),
            None if error.kind() == io::ErrorKind::TimedOut => silence(self.patience),
            None if error.kind() == io::ErrorKind::UnexpectedEof => "it closed the connection too early".to_owned(),
            None => error.to_string(),
        }
    }

    /// A short document.
    pub(crate) fn document(&self, answer: Answer, what: &str, longest: u64) -> Result<Vec<u8>, RegistryError> {
        let mut bytes = Vec::new();
        let read = answer.body.into_reader().take(longest + 1).read_to_end(&mut bytes);
        read.map_err(|error| {
            RegistryError::Network(format!("read {what} from {}: {}", answer.host, self.of_io(&error)))
        })?;
        if bytes.len() as u64 > longest {
            let text =
                format!("{} sends more than {longest} bytes as {what}, and no real one has so many", answer.host);
            return Err(RegistryError::Answer(text));
        }
        Ok(bytes)
    }
}

fn silence(patience: Duration) -> String {
    format!("it has sent nothing for {} s: try again later, or wait longer with `--patience`", patience.as_secs_f64())
}

fn of_tls(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(why) => format!(
            "its certificate cannot be trusted ({why:?}): install the certificate of the authority that signed it, or name its file in SSL_CERT_FILE"
        ),
        rustls::Error::InvalidMessage(_) => {
            "it does not speak TLS: if it is a registry of your own network, add `--plain-http`".to_owned()
        }
        other => format!("TLS: {other}"),
    }
}

/// The certificates that this machine trusts, as OpenSSL finds them: SSL_CERT_FILE and SSL_CERT_DIR, or the system's files. Those that
/// cannot be read trust nobody.
fn trusted() -> RootCerts {
    let found = rustls_native_certs::load_native_certs();
    let all: Vec<Certificate<'static>> = found.certs.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
    RootCerts::Specific(Arc::new(all))
}

/// Where a header `Location` leads to (RFC 3986, section 4.2; paths relative to the last one are not in use).
fn elsewhere(from: &Uri, target: &str) -> Result<Uri, RegistryError> {
    let scheme = from.scheme_str().unwrap_or("https");
    let whole = if target.starts_with("//") {
        format!("{scheme}:{target}")
    } else if target.starts_with('/') {
        format!("{scheme}://{}{target}", from.authority().map(Authority::as_str).unwrap_or_default())
    } else {
        target.to_owned()
    };
    let place: Option<Uri> = whole.split('#').next().and_then(|whole| whole.parse().ok());
    place
        .filter(|place| place.scheme().is_some() && place.authority().is_some_and(|all| !all.as_str().contains('@')))
        .ok_or_else(|| {
            RegistryError::Answer(format!(
                "{} leads to `{}`, which is no address",
                from.host().unwrap_or_default(),
                target.escape_debug()
            ))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn led(target: &str) -> Option<String> {
        elsewhere(&"https://a.b:5000/v2/x".parse().unwrap(), target).ok().map(|place| place.to_string())
    }

    #[test]
    fn answers_lead_to_addresses_only() {
        assert_eq!(led("/y?z=1").unwrap(), "https://a.b:5000/y?z=1");
        assert_eq!(led("//c/y").unwrap(), "https://c/y");
        assert_eq!(led("https://c/y#part").unwrap(), "https://c/y");
        for wrong in ["", "y", "https://user:password@c/", "https://c/a b", "file"] {
            assert_eq!(led(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn other_machines_are_asked_with_encryption() {
        let check =
            |plain, place: &str| Client::new(Duration::from_secs(1), plain).check(&place.parse().unwrap()).is_ok();
        assert!(check(false, "https://a.b/") && check(false, "http://localhost:5000/") && check(true, "http://a.b/"));
        assert!(!check(false, "http://a.b/") && !check(true, "ftp://a.b/"));
    }
}
