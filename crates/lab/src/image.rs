//! How container images are named: as Docker writes names, and as skopeo writes where an image comes from.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;

/// The source of a container image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageSource {
    /// A folder in the layout of the OCI image specification; without a tag, its only image.
    Oci {
        /// The folder with `oci-layout` and `index.json`.
        folder: PathBuf,
        /// The name of one of its images.
        tag: Option<String>,
    },
    /// A file that `docker save` wrote; without a name, its only image.
    DockerArchive {
        /// The file.
        file: PathBuf,
        /// The name of one of its images.
        name: Option<String>,
    },
    /// A folder that is a root file system itself. It is used where it is, and never written to.
    Rootfs(PathBuf),
    /// An image in the cache, by its name.
    Named(ImageName),
    /// An image in the cache, by the digest of its configuration or of its manifest, or at least twelve digits of one.
    Digest(String),
}

impl ImageSource {
    /// Reads where an image comes from.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err(format!("an image needs a name: {FORMS}"));
        }
        if text.contains('\0') {
            return Err("the name of an image has no NUL character".to_owned());
        }
        let (kind, rest) = text.split_once(':').unwrap_or(("", text));
        let path = |path: &str, what: &str| match path {
            "" => Err(format!("\"{text}\" names no {what}: {FORMS}")),
            path => Ok(PathBuf::from(path)),
        };
        let tagged = |what: &str| {
            let (first, tag) = rest.split_once(':').map_or((rest, None), |(first, tag)| (first, Some(tag)));
            if tag == Some("") {
                return Err(format!(
                    "\"{text}\" has nothing behind its last colon: write a tag there, or leave the colon out"
                ));
            }
            Ok((path(first, what)?, tag.map(str::to_owned)))
        };
        match kind {
            "oci" => tagged("folder").map(|(folder, tag)| Self::Oci { folder, tag }),
            "docker-archive" => tagged("file").map(|(file, name)| Self::DockerArchive { file, name }),
            "rootfs" => path(rest, "folder").map(Self::Rootfs),
            "sha256" => digits(rest, text).map(Self::Digest),
            "docker" | "docker-daemon" | "containers-storage" | "dir" | "oci-archive" => {
                Err(format!("images are not read from `{kind}:`: {FORMS}"))
            }
            _ => ImageName::parse(text).map(Self::Named),
        }
    }

    /// Returns the source with its path, if it has one, as `change` returns it.
    pub fn map_path(self, change: impl FnOnce(PathBuf) -> PathBuf) -> Self {
        match self {
            Self::Oci { folder, tag } => Self::Oci { folder: change(folder), tag },
            Self::DockerArchive { file, name } => Self::DockerArchive { file: change(file), name },
            Self::Rootfs(folder) => Self::Rootfs(change(folder)),
            other => other,
        }
    }
}

/// What can be written.
const FORMS: &str = "write a name as `netloom image list` shows it, oci:FOLDER, docker-archive:FILE or rootfs:FOLDER";

/// The digits of a digest, or the first of them.
fn digits(digits: &str, text: &str) -> Result<String, String> {
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    if (12..=64).contains(&digits.len()) && digits.bytes().all(is_digit) {
        return Ok(digits.to_owned());
    }
    Err(format!("\"{text}\" is no digest: write 12 to 64 hexadecimal digits behind sha256:"))
}

impl fmt::Display for ImageSource {
    /// As lab files and commands have it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, path, tag) = match self {
            Self::Oci { folder, tag } => ("oci", folder, tag.as_ref()),
            Self::DockerArchive { file, name } => ("docker-archive", file, name.as_ref()),
            Self::Rootfs(folder) => ("rootfs", folder, None),
            Self::Named(name) => return name.fmt(f),
            Self::Digest(digits) => return write!(f, "sha256:{digits}"),
        };
        write!(f, "{kind}:{}", path.display())?;
        tag.map_or(Ok(()), |tag| write!(f, ":{tag}"))
    }
}

/// The name of an image with its tag, in its short form: `debian:12`, `quay.io/frrouting/frr:9.1.0`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ImageName(String);

/// What a name means that says no tag.
const LATEST: &str = "latest";

impl ImageName {
    /// Reads a name. Without a tag it means `:latest`; what Docker adds to names of its own registry is taken away.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("\"{text}\" is not the name of an image: {why}, for example debian:12"));
        if text.contains('@') {
            return wrong("a digest is written alone, as sha256:…");
        }
        let short =
            ["docker.io/library/", "docker.io/", "library/"].iter().find_map(|prefix| text.strip_prefix(prefix));
        let short = short.unwrap_or(text);
        let (path, tag) = match short.rsplit_once(':') {
            // A port of the registry.
            Some((_, behind)) if behind.contains('/') => (short, LATEST),
            Some((path, tag)) => (path, tag),
            None => (short, LATEST),
        };
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-/:".contains(&b);
        let parts_are_filled = path.split('/').all(|part| part.starts_with(|c: char| c.is_ascii_alphanumeric()));
        if !path.bytes().all(plain) || !parts_are_filled {
            return wrong("write small letters, digits, and `.`, `_`, `-` or `/` between them");
        }
        let of_tag = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
        if tag.is_empty() || tag.len() > 128 || !tag.bytes().all(of_tag) || tag.starts_with(['.', '-']) {
            return wrong("behind the last colon belongs a tag");
        }
        if short.len() > 255 {
            return wrong("it has more than 255 bytes");
        }
        Ok(Self(format!("{path}:{tag}")))
    }
}

impl fmt::Display for ImageName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_read_as_they_are_shown() {
        let digest = format!("sha256:{}", "0123456789ab".repeat(2));
        for text in [
            "oci:a/b",
            "oci:a:1.0",
            "docker-archive:x.tar",
            "docker-archive:x.tar:a/b:2",
            "rootfs:/srv/root",
            "a:1",
            &digest,
        ] {
            assert_eq!(ImageSource::parse(text).unwrap().to_string(), text);
        }
        let below = |path: PathBuf| std::path::Path::new("lab").join(path);
        assert_eq!(ImageSource::parse("oci:a:1").unwrap().map_path(below).to_string(), "oci:lab/a:1");
        for text in [
            "",
            "oci:",
            "oci:a:",
            "rootfs:",
            "docker-archive:",
            "docker:debian",
            "sha256:12",
            "sha256:../../../../x",
            "A",
        ] {
            assert!(ImageSource::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn names_have_one_short_form() {
        let cases = [
            ("debian:12", "debian:12"),
            ("debian", "debian:latest"),
            ("docker.io/library/debian:12", "debian:12"),
            ("docker.io/frrouting/frr:v8.4.1", "frrouting/frr:v8.4.1"),
            ("localhost:5000/a/b", "localhost:5000/a/b:latest"),
            ("localhost:5000/a/b:RC_1", "localhost:5000/a/b:RC_1"),
        ];
        for (given, expected) in cases {
            assert_eq!(ImageName::parse(given).unwrap().to_string(), expected, "{given}");
        }
    }

    #[test]
    fn what_is_no_name_is_refused() {
        let long = "a".repeat(300);
        for text in ["", "Debian", "a//b", "/a", "a:", "a:b c", "../x", "a@sha256:00", ":12", "a:.x", "a b", &long] {
            assert!(ImageName::parse(text).is_err(), "{text}");
        }
    }
}
