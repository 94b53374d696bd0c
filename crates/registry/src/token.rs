//! Tokens: what a registry's server of tokens gives to those who may pull
//! (<https://distribution.github.io/distribution/spec/auth/token/> and `/oauth/`).

use crate::RegistryError;
use crate::client::{Ask, Client};
use crate::credentials::Credentials;
use serde::Deserialize;

/// Bytes of an answer; tokens have a few thousand.
const LONGEST: u64 = 1 << 20;

#[derive(Deserialize)]
struct Answer {
    token: Option<String>,
    access_token: Option<String>,
}

/// Asks for a token that lets pull from a repository.
pub(crate) fn get(
    client: &Client,
    realm: &str,
    service: Option<&str>,
    scope: &str,
    credentials: Option<&Credentials>,
) -> Result<Option<String>, RegistryError> {
    let mut query = vec![("scope", scope)];
    query.extend(service.map(|service| ("service", service)));
    let answer = match credentials {
        Some(Credentials::Identity(token)) => {
            query.extend([("grant_type", "refresh_token"), ("client_id", "netloom"), ("refresh_token", token)]);
            let form = encoded(&query);
            client.ask(realm, Ask { form: Some(&form), is_document: true, ..Ask::default() })?
        }
        other => {
            let authorization = other.and_then(Credentials::basic);
            let sign = if realm.contains('?') { '&' } else { '?' };
            let url = format!("{realm}{sign}{}", encoded(&query));
            client.ask(&url, Ask { authorization: authorization.as_deref(), is_document: true, ..Ask::default() })?
        }
    };
    match answer.status {
        200 => {}
        400..=403 => return Ok(None),
        other => return Err(RegistryError::Answer(format!("{} gives no token: it answers {other}", answer.host))),
    }
    let host = answer.host.clone();
    let document = client.document(answer, "a token", LONGEST)?;
    let read: Option<Answer> = serde_json::from_slice(&document).ok();
    let token = read.and_then(|read| read.token.or(read.access_token));
    // What is no visible ASCII would end the header that it is put into.
    let token = token.filter(|token| token.bytes().all(|b| b.is_ascii_graphic()));
    token.map(Some).ok_or_else(|| RegistryError::Answer(format!("{host} answers with something other than a token")))
}

/// As forms and queries are written (RFC 3986, section 2.3, says what need not be changed).
fn encoded(pairs: &[(&str, &str)]) -> String {
    let escaped = |text: &str| -> String {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~".contains(&b);
        text.bytes().map(|b| if plain(b) { char::from(b).to_string() } else { format!("%{b:02X}") }).collect()
    };
    pairs.iter().map(|(name, value)| format!("{name}={}", escaped(value))).collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_are_escaped() {
        assert_eq!(
            encoded(&[("scope", "repository:a/b:pull"), ("s", "a b&c=d\u{e4}")]),
            "scope=repository%3Aa%2Fb%3Apull&s=a%20b%26c%3Dd%C3%A4"
        );
    }
}
