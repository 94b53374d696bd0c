//! What the user has said to `docker login` or `podman login`: Docker's config.json
//! (<https://docs.docker.com/reference/cli/docker/login/>), or podman's file of the same form.

use crate::RegistryError;
use crate::helper;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;

/// Who the user is at a registry.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Credentials {
    /// A name and a password.
    Password(String, String),
    /// What a server of tokens has given.
    Identity(String),
}

/// Names without secrets, so that none gets into a log.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Password(name, _) => write!(f, "the password of {name}"),
            Self::Identity(_) => f.write_str("an identity token"),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct File {
    auths: BTreeMap<String, Entry>,
    cred_helpers: BTreeMap<String, String>,
    creds_store: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Entry {
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
    identitytoken: Option<String>,
}

/// Files of credentials have some kilobytes.
const LONGEST: u64 = 16 << 20;

/// By which name Docker keeps what belongs to its own registry.
const HUB: &str = "https://index.docker.io/v1/";

impl Credentials {
    /// Those for a registry; none if the user has none.
    pub(crate) fn find(registry: &str) -> Result<Option<Self>, RegistryError> {
        for path in files() {
            let wrong = |why: String| RegistryError::Credentials(format!("{}: {why}", path.display()));
            let text = match netloom_regular::read(&path, LONGEST) {
                Ok(text) => text,
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                    continue;
                }
                Err(error) => return Err(wrong(error.to_string())),
            };
            if let Some(found) = of_file(&text, registry).map_err(wrong)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// What a request says to be let in.
    pub(crate) fn basic(&self) -> Option<String> {
        match self {
            Self::Password(name, password) => Some(format!("Basic {}", STANDARD.encode(format!("{name}:{password}")))),
            Self::Identity(_) => None,
        }
    }
}

/// Where credentials may be, the first first.
fn files() -> Vec<PathBuf> {
    let folder = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    let docker = folder("DOCKER_CONFIG").or_else(|| Some(folder("HOME")?.join(".docker")));
    let podman = folder("REGISTRY_AUTH_FILE").or_else(|| Some(folder("XDG_RUNTIME_DIR")?.join("containers/auth.json")));
    docker.map(|docker| docker.join("config.json")).into_iter().chain(podman).collect()
}

fn of_file(text: &[u8], registry: &str) -> Result<Option<Credentials>, String> {
    let file: File = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let key = if registry == "docker.io" { HUB } else { registry };
    let helper = file.cred_helpers.get(registry).or_else(|| file.cred_helpers.get(key)).or(file.creds_store.as_ref());
    if let Some(helper) = helper.filter(|name| !name.is_empty())
        && let Some((name, secret)) = helper::ask(helper, key)?
    {
        // The name that says what the secret is, in the protocol of helpers.
        let is_token = name == "<token>";
        return Ok(Some(if is_token { Credentials::Identity(secret) } else { Credentials::Password(name, secret) }));
    }
    let same = |own: &str| own == key || bare(own) == registry;
    let Some((own, entry)) = file.auths.iter().find(|(own, _)| same(own)) else { return Ok(None) };
    entry.credentials().map_err(|why| format!("`auths`, `{own}`: {why}"))
}

/// The host of a key, which older versions wrote as an address.
fn bare(key: &str) -> &str {
    let key = key.strip_prefix("https://").or_else(|| key.strip_prefix("http://")).unwrap_or(key);
    key.split('/').next().unwrap_or(key)
}

impl Entry {
    fn credentials(&self) -> Result<Option<Credentials>, String> {
        let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        if let Some(token) = filled(&self.identitytoken) {
            return Ok(Some(Credentials::Identity(token)));
        }
        if let (Some(name), Some(password)) = (filled(&self.username), filled(&self.password)) {
            return Ok(Some(Credentials::Password(name, password)));
        }
        let Some(auth) = filled(&self.auth) else { return Ok(None) };
        let decoded = STANDARD.decode(auth.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let pair = decoded.as_deref().and_then(|text| text.trim_end_matches('\0').split_once(':'));
        let (name, password) = pair.ok_or("`auth` is not NAME:PASSWORD in base64: log in again")?;
        Ok(Some(Credentials::Password(name.to_owned(), password.to_owned())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn password(name: &str, password: &str) -> Option<Credentials> {
        Some(Credentials::Password(name.into(), password.into()))
    }

    #[test]
    fn dockers_file_is_read() {
        // `dTpwOnE=` is u:p:q.
        let text =
            br#"{"auths": {"https://index.docker.io/v1/": {"auth": "dTpwOnE="}, "quay.io": {"identitytoken": "t"},
            "https://old.example.org/v1/": {"username": "a", "password": "b"}, "empty.example.org": {}}, "other": 1}"#;
        let find = |registry| of_file(text, registry).unwrap();
        assert_eq!(find("docker.io"), password("u", "p:q"));
        assert_eq!(find("quay.io"), Some(Credentials::Identity("t".into())));
        assert_eq!(find("old.example.org"), password("a", "b"));
        assert_eq!((find("empty.example.org"), find("example.org")), (None, None));
        // RFC 7617, section 2.
        let example = password("Aladdin", "open sesame").unwrap();
        assert_eq!(example.basic().unwrap(), "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==");
        assert!(!format!("{example:?}").contains("sesame"));
    }

    #[test]
    fn what_is_wrong_is_named_without_the_secret() {
        let wrong = |text: &[u8]| of_file(text, "x.y").unwrap_err();
        assert!(
            wrong(br#"{"auths": {"x.y": {"auth": "secret"}}}"#)
                .starts_with("`auths`, `x.y`: `auth` is not NAME:PASSWORD")
        );
        assert!(wrong(b"{").contains("EOF"));
        let helper = wrong(br#"{"credHelpers": {"x.y": "netloom-is-not-there"}}"#);
        assert!(helper.contains("docker-credential-netloom-is-not-there") && helper.contains("PATH"), "{helper}");
        assert!(wrong(br#"{"credsStore": "../x"}"#).contains("is no name of a program"));
    }
}
