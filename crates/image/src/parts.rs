//! What the documents of an image lead to, for those who fetch them one by one.

use crate::config::Document;
use crate::limits::MOST_LAYERS;
use crate::manifest::{Descriptor, Index, Manifest, parse};
use crate::{Digest, ImageError};
use serde::Deserialize;
use serde::de::IgnoredAny;

/// A file by its digest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The digest of its bytes.
    pub digest: Digest,
    /// The size of the file, in bytes.
    pub size: u64,
}

/// The documents and files that an index or a manifest leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leads {
    /// An index: to the manifest of the image for this machine, or to a further index.
    Manifest(Part),
    /// A manifest: to what an image consists of.
    Image {
        /// The configuration, which says how its programs are started.
        config: Part,
        /// Its layers, the lowest first.
        layers: Vec<Part>,
    },
}

/// What tells the kinds of documents apart.
#[derive(Deserialize)]
struct Kind {
    #[serde(rename = "schemaVersion")]
    version: u32,
    manifests: Option<IgnoredAny>,
    layers: Option<IgnoredAny>,
}

impl From<&Descriptor> for Part {
    fn from(descriptor: &Descriptor) -> Self {
        Self { digest: descriptor.digest, size: descriptor.size }
    }
}

impl Leads {
    /// Reads an index or a manifest; `what` names it in errors.
    ///
    /// # Errors
    /// When it is neither, both, or has nothing for this machine.
    pub fn read(document: &[u8], what: &str) -> Result<Self, ImageError> {
        let kind: Kind = parse(document, what)?;
        match (kind.version, kind.manifests, kind.layers) {
            (2, Some(_), None) => {
                let index: Index = parse(document, what)?;
                Ok(Self::Manifest(index.choose(None, what)?.into()))
            }
            (2, None, Some(_)) => {
                let manifest: Manifest = parse(document, what)?;
                let layers: Vec<Part> = manifest.layers.iter().map(Part::from).collect();
                if layers.len() > MOST_LAYERS {
                    let why = format!("it has {} layers, and 1 to {MOST_LAYERS} are possible", layers.len());
                    return Err(ImageError::Unsuitable(format!("{what}: {why}")));
                }
                Ok(Self::Image { config: (&manifest.config).into(), layers })
            }
            // Two programs could read it in two ways.
            (2, Some(_), Some(_)) => Err(ImageError::damaged(what, "it is an index and a manifest at once")),
            (2, None, None) => {
                Err(ImageError::Unsuitable(format!("{what} is no image: it has neither layers nor manifests")))
            }
            (version, ..) => Err(ImageError::Unsuitable(format!(
                "{what} has a manifest of version {version}, and 2 is read: build or push it anew"
            ))),
        }
    }
}

/// Whether an image with this configuration suits this machine; `what` names it in errors.
///
/// # Errors
/// Why it does not.
pub fn check_config(document: &[u8], what: &str) -> Result<(), ImageError> {
    Document::read(document, what).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::architecture;

    fn part(bytes: &[u8]) -> String {
        format!(r#"{{"digest": "{}", "size": {}}}"#, Digest::of(bytes), bytes.len())
    }

    fn index(architecture: &str) -> String {
        let platform = format!(r#", "platform": {{"os": "linux", "architecture": "{architecture}"}}}}"#);
        format!(r#"{{"schemaVersion": 2, "manifests": [{}]}}"#, part(b"m").replace('}', &platform))
    }

    #[test]
    fn documents_are_told_apart_by_what_they_have() {
        let read = |text: &str| Leads::read(text.as_bytes(), "x");
        let m = Part { digest: Digest::of(b"m"), size: 1 };
        assert_eq!(read(&index(architecture())).unwrap(), Leads::Manifest(m));
        let manifest = format!(r#"{{"schemaVersion": 2, "config": {}, "layers": [{}]}}"#, part(b"c"), part(b"m"));
        let config = Part { digest: Digest::of(b"c"), size: 1 };
        assert_eq!(read(&manifest).unwrap(), Leads::Image { config, layers: vec![m] });
        let wrong = |text: &str| read(text).unwrap_err().to_string();
        assert!(wrong(&index("s390x")).starts_with("x is for linux/s390x, and this machine is linux/"));
        assert_eq!(
            wrong(r#"{"schemaVersion": 2, "layers": [], "manifests": []}"#),
            "x is damaged: it is an index and a manifest at once"
        );
        assert_eq!(wrong(r#"{"schemaVersion": 2}"#), "x is no image: it has neither layers nor manifests");
        assert!(wrong(r#"{"schemaVersion": 1, "fsLayers": []}"#).contains("a manifest of version 1, and 2 is read"));
        assert!(wrong("<html>").starts_with("x is damaged: "));
    }
}
