//! The names of this server.

use std::net::IpAddr;

/// By which names browsers call this server.
#[derive(Debug)]
pub(crate) struct Names {
    /// `http` or `https`.
    pub(crate) scheme: &'static str,
    pub(crate) port: u16,
    /// Whether it may be called by any address, since it listens at those of the network.
    pub(crate) is_shared: bool,
    /// Other names.
    pub(crate) names: Vec<String>,
    /// At which addresses it listens.
    pub(crate) at: IpAddr,
    /// The SHA-256 of the key of a certificate that was made for this time, in base 64; none of one that others vouch for.
    pub(crate) pin: Option<String>,
}

impl Names {
    /// Whether what `Host` says is this server.
    pub(crate) fn is_own(&self, host: &str) -> bool {
        let default = if self.scheme == "https" { 443 } else { 80 };
        let (name, port) = match host.rsplit_once(':') {
            Some((name, port)) if !port.ends_with(']') => (name, port.parse().ok()),
            _ => (host, Some(default)),
        };
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        let is_known = match bare.parse::<IpAddr>() {
            Ok(address) => self.is_shared || address.is_loopback(),
            Err(_) => {
                let is = |own: &str| own.eq_ignore_ascii_case(bare);
                is("localhost") || self.names.iter().any(|own| is(own))
            }
        };
        is_known && port == Some(self.port)
    }

    /// Whether this origin is that of our page, which was asked for by `host`.
    pub(crate) fn is_own_origin(&self, origin: &str, host: &str) -> bool {
        origin.strip_prefix(self.scheme).and_then(|rest| rest.strip_prefix("://")) == Some(host)
    }

    /// What somebody opens who brings this token.
    pub(crate) fn address(&self, token: &str) -> String {
        let name = match (self.names.first(), self.at) {
            (Some(name), _) => name.clone(),
            (None, at) if at.is_unspecified() => "localhost".to_owned(),
            (None, IpAddr::V4(at)) => at.to_string(),
            (None, IpAddr::V6(at)) => format!("[{at}]"),
        };
        format!("{}://{name}:{}/?token={token}", self.scheme, self.port)
    }

    /// The name of the cookie.
    pub(crate) fn cookie(&self) -> String {
        format!("netloom-{}", self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(is_shared: bool) -> Names {
        Names {
            scheme: "http",
            port: 8_000,
            is_shared,
            names: vec!["class.example".into()],
            at: IpAddr::from([127, 0, 0, 1]),
            pin: None,
        }
    }

    #[test]
    fn strangers_names_are_not_ours() {
        let own = names(false);
        for host in ["127.0.0.1:8000", "localhost:8000", "LOCALHOST:8000", "[::1]:8000", "class.example:8000"] {
            assert!(own.is_own(host), "{host}");
        }
        for host in [
            "",
            "localhost",
            "localhost:8001",
            "evil.example:8000",
            "192.0.2.1:8000",
            "localhost.evil.example:8000",
            "localhost:8000:8000",
            "127.0.0.1.evil.example:8000",
            "[::1]",
            "localhost:x",
        ] {
            assert!(!own.is_own(host), "{host}");
        }
        // Shared, any address is this machine; a name must still be known.
        assert!(names(true).is_own("192.0.2.1:8000"));
        assert!(!names(true).is_own("evil.example:8000"));
    }

    #[test]
    fn an_origin_is_that_of_the_page_itself() {
        let own = names(false);
        assert!(own.is_own_origin("http://localhost:8000", "localhost:8000"));
        for origin in [
            "https://localhost:8000",
            "http://localhost:8001",
            "http://127.0.0.1:8000",
            "null",
            "",
            "http://evil.example",
        ] {
            assert!(!own.is_own_origin(origin, "localhost:8000"), "{origin}");
        }
    }
}
