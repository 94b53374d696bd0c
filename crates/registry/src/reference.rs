//! What names an image at a registry (distribution specification, "Pulling manifests"; the short forms are Docker's).

use crate::RegistryError;
use netloom_image::Digest;
use netloom_lab::ImageName;
use std::fmt;

/// Docker's own registry: in names, in the user's credentials, and where it really is.
const HUB: &str = "docker.io";
const HUB_HOST: &str = "registry-1.docker.io";

/// An image at a registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The registry, perhaps with a port.
    pub registry: String,
    /// The path of its images there.
    pub repository: String,
    /// Which of them.
    pub wanted: Wanted,
}

/// Which image of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// What has this name at the moment.
    Tag(String),
    /// The one with this digest of its manifest or index.
    Digest(Digest),
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tag(tag) => f.write_str(tag),
            Self::Digest(digest) => digest.fmt(f),
        }
    }
}

impl Reference {
    /// Reads `NAME`, `NAME:TAG`, `NAME@DIGEST` or `NAME:TAG@DIGEST`, whose tag then is for the reader alone.
    ///
    /// # Errors
    /// [`RegistryError::Reference`]
    pub fn parse(text: &str) -> Result<Self, RegistryError> {
        let text = text.strip_prefix("docker://").unwrap_or(text);
        let (name, digest) = text.split_once('@').map_or((text, None), |(name, digest)| (name, Some(digest)));
        let digest: Option<Digest> = digest.map(str::parse).transpose().map_err(RegistryError::Reference)?;
        let name = ImageName::parse(name).map_err(RegistryError::Reference)?.to_string();
        let (path, tag) = name.rsplit_once(':').expect("a name has a tag");
        let is_host = |first: &str| first.contains(['.', ':']) || first == "localhost";
        let (registry, repository) = match path.split_once('/') {
            Some((first, rest)) if is_host(first) => (first.to_owned(), rest.to_owned()),
            Some(_) => (HUB.to_owned(), path.to_owned()),
            None => (HUB.to_owned(), format!("library/{path}")),
        };
        let wanted = digest.map_or_else(|| Wanted::Tag(tag.to_owned()), Wanted::Digest);
        Ok(Self { registry, repository, wanted })
    }

    /// Where requests go.
    pub(crate) fn host(&self) -> &str {
        if self.registry == HUB { HUB_HOST } else { &self.registry }
    }

    pub(crate) fn is_of_hub(&self) -> bool {
        self.registry == HUB
    }

    /// What the image is called in the cache; none by its digest alone.
    pub(crate) fn name(&self) -> Option<ImageName> {
        match &self.wanted {
            Wanted::Tag(tag) => ImageName::parse(&format!("{}/{}:{tag}", self.registry, self.repository)).ok(),
            Wanted::Digest(_) => None,
        }
    }
}

impl fmt::Display for Reference {
    /// The whole name, as skopeo takes it behind `docker://`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if matches!(self.wanted, Wanted::Tag(_)) { ':' } else { '@' };
        write!(f, "{}/{}{sign}{}", self.registry, self.repository, self.wanted)
    }
}

/// Whether a host, perhaps with a port, is this machine.
pub(crate) fn is_loopback(authority: &str) -> bool {
    let is_port = |port: &str| port.bytes().all(|b| b.is_ascii_digit());
    let host = authority.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(authority, |(host, _)| host);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_are_those_of_docker() {
        let cases = [
            ("debian:12", "docker.io/library/debian:12", "debian:12"),
            ("debian", "docker.io/library/debian:latest", "debian:latest"),
            ("frrouting/frr:v8.4.1", "docker.io/frrouting/frr:v8.4.1", "frrouting/frr:v8.4.1"),
            ("docker://quay.io/frrouting/frr:9.1.0", "quay.io/frrouting/frr:9.1.0", "quay.io/frrouting/frr:9.1.0"),
            ("localhost:5000/a", "localhost:5000/a:latest", "localhost:5000/a:latest"),
            ("localhost/a/b:1", "localhost/a/b:1", "localhost/a/b:1"),
        ];
        for (given, whole, name) in cases {
            let reference = Reference::parse(given).unwrap();
            assert_eq!((reference.to_string().as_str(), reference.name().unwrap().to_string().as_str()), (whole, name));
        }
        let digest = Digest::of(b"x");
        let by_digest = Reference::parse(&format!("debian:12@{digest}")).unwrap();
        assert_eq!((by_digest.to_string(), by_digest.name()), (format!("docker.io/library/debian@{digest}"), None));
        assert_eq!((by_digest.host(), by_digest.is_of_hub()), ("registry-1.docker.io", true));
    }

    #[test]
    fn what_is_no_reference_is_refused() {
        for text in ["", "Debian", "debian@sha256:12", "debian@sha512:00", "a b", "../x", "http://x/y"] {
            assert!(matches!(Reference::parse(text), Err(RegistryError::Reference(_))), "{text}");
        }
    }

    #[test]
    fn this_machine_has_few_names() {
        for host in ["localhost", "localhost:5000", "127.0.0.1:5000", "127.3.2.1", "[::1]:80", "[::1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["localhost.example.org", "128.0.0.1", "10.0.0.1:5000", "127.0.0.1.nip.io", "[::2]:80"] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
