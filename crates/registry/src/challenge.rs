//! How a registry asks for credentials: the header `WWW-Authenticate` (RFC 9110, section 11.6.1).

/// What it asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Challenge {
    /// A name and a password with every request (RFC 7617).
    Basic,
    /// A token (RFC 6750), which a server gives.
    Bearer {
        /// Where.
        realm: String,
        /// For whom, if that matters there.
        service: Option<String>,
        /// What for.
        scope: Option<String>,
    },
}

impl Challenge {
    /// The first of several challenges that is known here.
    pub(crate) fn read(headers: &[&str]) -> Option<Self> {
        headers.iter().find_map(|header| Self::parse(header))
    }

    fn parse(header: &str) -> Option<Self> {
        let (scheme, rest) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let all = parameters(rest);
        let one = |name: &str| all.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
        Some(Self::Bearer { realm: one("realm")?, service: one("service"), scope: one("scope") })
    }
}

/// `name=value` or `name="value"`, with commas between them; names in small letters.
fn parameters(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((name, behind)) = rest.split_once('=') {
        let name = name.trim_matches([' ', '\t', ',']).to_ascii_lowercase();
        let (value, after) = match behind.trim_start().strip_prefix('"') {
            Some(quoted) => unquoted(quoted),
            None => behind
                .split_once(',')
                .map_or((behind.trim().to_owned(), ""), |(one, after)| (one.trim().to_owned(), after)),
        };
        found.push((name, value));
        rest = after;
    }
    found
}

/// What stands before the closing quotation mark, and what behind it.
fn unquoted(text: &str) -> (String, &str) {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((place, character)) = characters.next() {
        match character {
            '"' => return (value, &text[place + 1..]),
            '\\' => value.extend(characters.next().map(|(_, escaped)| escaped)),
            other => value.push(other),
        }
    }
    (value, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn challenges_are_those_of_the_specifications() {
        // The example of the token specification.
        let header = r#"Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:samalba/my-app:pull,push""#;
        let expected = Challenge::Bearer {
            realm: "https://auth.docker.io/token".into(),
            service: Some("registry.docker.io".into()),
            scope: Some("repository:samalba/my-app:pull,push".into()),
        };
        assert_eq!(Challenge::read(&["Negotiate", header]), Some(expected));
        assert_eq!(Challenge::read(&[r#"Basic realm="x""#, header]), Some(Challenge::Basic));
        let bare = Challenge::Bearer { realm: "https://x/\"".into(), service: Some("a b".into()), scope: None };
        assert_eq!(Challenge::read(&[r#"bearer Service = "a b" , realm="https://x/\"" "#]), Some(bare));
    }

    #[test]
    fn what_is_no_challenge_is_none() {
        for header in
            ["", "Bearer", "Bearer realm", "Bearer service=x", "Digest realm=\"x\"", "Bearer =\"", "Bearer \"=\\"]
        {
            assert_eq!(Challenge::read(&[header]), None, "{header}");
        }
    }
}
