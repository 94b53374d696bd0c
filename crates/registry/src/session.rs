//! Requests to one registry about one repository, with what lets them in.

use crate::challenge::Challenge;
use crate::client::{Answer, Ask, Client};
use crate::credentials::Credentials;
use crate::reference::{Reference, is_loopback};
use crate::{RegistryError, token};
use ureq::http::header;

/// See the module.
#[derive(Debug)]
pub(crate) struct Session<'a> {
    pub(crate) client: &'a Client,
    pub(crate) reference: &'a Reference,
    /// `https://HOST`
    base: String,
    authorization: Option<String>,
}

impl<'a> Session<'a> {
    /// `plain`: without TLS, whatever the host.
    pub(crate) fn new(client: &'a Client, reference: &'a Reference, plain: bool) -> Result<Self, RegistryError> {
        let host = reference.host();
        let is_plain = plain || (is_loopback(host) && speaks_plainly(client, host)?);
        let base = format!("{}://{host}", if is_plain { "http" } else { "https" });
        Ok(Self { client, reference, base, authorization: None })
    }

    /// Asks for `/v2/REPOSITORY/PATH`, and once more with credentials if the registry wants them.
    pub(crate) fn get(&mut self, path: &str, ask: Ask<'_>) -> Result<Answer, RegistryError> {
        let url = format!("{}/v2/{}/{path}", self.base, self.reference.repository);
        let answer = self.client.ask(&url, Ask { authorization: self.authorization.as_deref(), ..ask })?;
        if answer.status != 401 {
            return self.judged(answer);
        }
        let headers = answer.headers.get_all(header::WWW_AUTHENTICATE);
        let challenges: Vec<&str> = headers.iter().filter_map(|header| header.to_str().ok()).collect();
        let challenge = Challenge::read(&challenges).ok_or_else(|| {
            RegistryError::Answer(format!(
                "{} asks for a kind of credentials that netloom does not support: {challenges:?}",
                answer.host
            ))
        })?;
        self.authorization = Some(self.authorize(&challenge)?);
        let second = self.client.ask(&url, Ask { authorization: self.authorization.as_deref(), ..ask })?;
        self.judged(second)
    }

    fn authorize(&self, challenge: &Challenge) -> Result<String, RegistryError> {
        let credentials = Credentials::find(&self.reference.registry)?;
        let found = match challenge {
            Challenge::Basic => credentials.as_ref().and_then(Credentials::basic),
            Challenge::Bearer { realm, service, scope } => {
                let usual = format!("repository:{}:pull", self.reference.repository);
                let scope = scope.as_deref().unwrap_or(&usual);
                let token = token::get(self.client, realm, service.as_deref(), scope, credentials.as_ref())?;
                token.map(|token| format!("Bearer {token}"))
            }
        };
        found.ok_or_else(|| self.shut(credentials.as_ref()))
    }

    /// The answer, if it is what was asked for.
    fn judged(&self, answer: Answer) -> Result<Answer, RegistryError> {
        let Reference { repository, wanted, .. } = self.reference;
        let host = &answer.host;
        match answer.status {
            200 | 206 | 416 => Ok(answer),
            401 | 403 => Err(self.shut(Credentials::find(&self.reference.registry)?.as_ref())),
            404 => Err(RegistryError::Missing(format!(
                "{host} has no image `{repository}` with `{wanted}`, or not all of its parts"
            ))),
            429 => Err(RegistryError::Answer(format!(
                "{host} answers that it is asked too often (429): log in, or try again later"
            ))),
            status @ 300..=399 => {
                Err(RegistryError::Answer(format!("{host} answers {status}, but not where the image is")))
            }
            status @ 500.. => {
                Err(RegistryError::Answer(format!("{host} has an internal error ({status}): try again later")))
            }
            status => Err(RegistryError::Answer(format!("{host} refuses to give `{repository}`: it answers {status}"))),
        }
    }

    fn shut(&self, credentials: Option<&Credentials>) -> RegistryError {
        let Reference { registry, repository, .. } = self.reference;
        let login =
            if self.reference.is_of_hub() { "docker login".to_owned() } else { format!("docker login {registry}") };
        RegistryError::Unauthorized(match credentials {
            Some(own) => format!(
                "{registry} does not let {own:?} pull `{repository}`: check the name, or `{login}` as somebody else"
            ),
            None => format!(
                "{registry} shows `{repository}` only to users who log in, or has no such image: check the name, or `{login}`"
            ),
        })
    }
}

/// Whether a server on this machine speaks HTTP without TLS. What it is asked for is no secret.
fn speaks_plainly(client: &Client, host: &str) -> Result<bool, RegistryError> {
    match client.ask(&format!("http://{host}/v2/"), Ask { is_document: true, ..Ask::default() }) {
        // What servers answer that wait for TLS.
        Ok(answer) => Ok(answer.status != 400),
        Err(RegistryError::Network(why)) if why.contains("refused") => Err(RegistryError::Network(why)),
        Err(_) => Ok(false),
    }
}
