//! Indexes and manifests: which image of several, and of which files it consists (image-index.md and manifest.md of the OCI image
//! specification).

use crate::ImageError;
use crate::config::architecture;
use crate::digest::Digest;
use crate::limits::LONGEST_DOCUMENT;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

/// The annotation that gives an image of a layout its name (annotations.md).
const REF_NAME: &str = "org.opencontainers.image.ref.name";

/// The same in layouts that containerd and Docker write, with registry and path.
const FULL_NAME: &str = "io.containerd.image.name";

/// A file by its digest.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Descriptor {
    #[serde(default)]
    media_type: String,
    pub(crate) digest: Digest,
    pub(crate) size: u64,
    #[serde(default)]
    annotations: Option<BTreeMap<String, String>>,
    #[serde(default)]
    platform: Option<Platform>,
}

#[derive(Clone, Debug, Deserialize)]
struct Platform {
    architecture: String,
    os: String,
}

/// Several images.
#[derive(Debug, Deserialize)]
pub(crate) struct Index {
    manifests: Vec<Descriptor>,
}

/// An image.
#[derive(Debug, Deserialize)]
pub(crate) struct Manifest {
    pub(crate) config: Descriptor,
    pub(crate) layers: Vec<Descriptor>,
}

impl Descriptor {
    /// The name that the layout gives the image: a bare tag, or a whole name.
    pub(crate) fn name(&self) -> Option<&str> {
        let annotations = self.annotations.as_ref()?;
        annotations.get(FULL_NAME).or_else(|| annotations.get(REF_NAME)).map(String::as_str)
    }

    /// Whether somebody means it who says `tag`.
    fn is_called(&self, tag: &str) -> bool {
        let Some(annotations) = &self.annotations else { return false };
        [REF_NAME, FULL_NAME]
            .iter()
            .filter_map(|key| annotations.get(*key))
            .any(|name| name == tag || name.rsplit_once(':').is_some_and(|(_, own)| own == tag))
    }

    pub(crate) fn is_index(&self) -> bool {
        self.media_type.ends_with("image.index.v1+json") || self.media_type.ends_with("manifest.list.v2+json")
    }

    /// Whether its platform, if it says one, is this machine's. What builders attest beside an image is for `unknown`.
    fn is_for_here(&self) -> bool {
        self.platform.as_ref().is_none_or(|platform| platform.os == "linux" && platform.architecture == architecture())
    }
}

impl Index {
    /// The image that is meant; `what` names the index in errors.
    pub(crate) fn choose(&self, tag: Option<&str>, what: &str) -> Result<&Descriptor, ImageError> {
        let called: Vec<&Descriptor> = match tag {
            Some(tag) => self.manifests.iter().filter(|one| one.is_called(tag)).collect(),
            None => self.manifests.iter().collect(),
        };
        if let (true, Some(tag)) = (called.is_empty(), tag) {
            return Err(ImageError::Missing(format!("{what} has no image `{tag}`: {}", self.tags())));
        }
        let fitting: Vec<&Descriptor> = called.iter().copied().filter(|one| one.is_for_here()).collect();
        match fitting[..] {
            [one] => Ok(one),
            // The same image under several names.
            [first, ref others @ ..] if others.iter().all(|other| other.digest == first.digest) => Ok(first),
            [] if called.is_empty() => Err(ImageError::Missing(format!("{what} has no image"))),
            [] => Err(ImageError::Unsuitable(format!(
                "{what} is for {}, and this machine is linux/{}",
                platforms(&called),
                architecture()
            ))),
            _ => {
                Err(ImageError::Missing(format!("{what} has several images: write the tag behind it. {}", self.tags())))
            }
        }
    }

    fn tags(&self) -> String {
        let mut tags: Vec<&str> = self.manifests.iter().filter_map(Descriptor::name).collect();
        tags.sort_unstable();
        tags.dedup();
        if tags.is_empty() { "its images have no names".to_owned() } else { format!("there are {}", tags.join(", ")) }
    }
}

fn platforms(all: &[&Descriptor]) -> String {
    let known = all.iter().filter_map(|one| one.platform.as_ref()).filter(|platform| platform.os != "unknown");
    let mut names: Vec<String> = known.map(|platform| format!("{}/{}", platform.os, platform.architecture)).collect();
    names.sort();
    names.dedup();
    names.join(", ")
}

/// A file of an image, open, and at the place where its contents begin.
#[derive(Debug)]
pub(crate) struct Blob {
    pub(crate) file: File,
    pub(crate) size: u64,
    /// In words.
    pub(crate) what: String,
}

impl Blob {
    /// All of it, if it is no larger than a document may be; checked against its digest if that is known.
    pub(crate) fn document(mut self, digest: Option<Digest>) -> Result<Vec<u8>, ImageError> {
        if self.size > LONGEST_DOCUMENT {
            let why = format!("it has {} bytes, and {LONGEST_DOCUMENT} are possible", self.size);
            return Err(ImageError::damaged(self.what, why));
        }
        let mut bytes = Vec::new();
        let read = Read::take(&mut self.file, self.size).read_to_end(&mut bytes);
        read.map_err(|error| ImageError::Io { attempted: format!("read {}", self.what), error })?;
        let found = Digest::of(&bytes);
        match digest.filter(|digest| *digest != found) {
            Some(digest) => {
                Err(ImageError::damaged(self.what, format!("its digest is {found}, and should be {digest}")))
            }
            None => Ok(bytes),
        }
    }
}

/// Reads JSON.
pub(crate) fn parse<'a, T: Deserialize<'a>>(bytes: &'a [u8], what: &str) -> Result<T, ImageError> {
    serde_json::from_slice(bytes).map_err(|error| ImageError::damaged(what, error.to_string()))
}
