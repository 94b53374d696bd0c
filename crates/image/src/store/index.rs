//! The file that says which images there are.

use super::Record;
use crate::error::Attempted;
use crate::{Digest, ImageError, Name};
use netloom_regular::ORDINARY;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// See the module.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Index {
    version: u32,
    pub(super) names: BTreeMap<Name, Digest>,
    pub(super) images: BTreeMap<Digest, Record>,
}

const VERSION: u32 = 1;

impl Index {
    /// Reads it; one that does not exist is empty.
    pub(super) fn read(path: &Path) -> Result<Self, ImageError> {
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Self { version: VERSION, names: BTreeMap::new(), images: BTreeMap::new() });
            }
            Err(error) => return Err(error).at("read", path),
        };
        let advice = "remove the folder that it is in, and import the images again";
        let index: Self = serde_json::from_slice(&text)
            .map_err(|error| ImageError::damaged(path.display().to_string(), format!("{error}: {advice}")))?;
        match index.version {
            VERSION => Ok(index),
            other => Err(ImageError::Unsuitable(format!(
                "{} is of version {other}, and {VERSION} is read: {advice}",
                path.display()
            ))),
        }
    }

    /// Writes it beside its place, and puts it there as a whole.
    pub(super) fn write(&self, path: &Path) -> Result<(), ImageError> {
        let text = serde_json::to_vec_pretty(self).expect("an index is plain data");
        netloom_regular::replace_durably(path, ORDINARY, |file| file.write_all(&text)).at("write", path)
    }

    pub(super) fn named(&self, name: &Name) -> Result<&Record, ImageError> {
        let found = self.names.get(name).and_then(|id| self.images.get(id));
        found.ok_or_else(|| {
            ImageError::Missing(format!(
                "there is no image `{name}` here: `netloom image pull {name}` fetches it from its registry; {}",
                self.known()
            ))
        })
    }

    /// By the digest of its configuration or manifest, or the first digits of one.
    pub(super) fn with_digest(&self, digits: &str) -> Result<&Record, ImageError> {
        let digits = digits.strip_prefix("sha256:").unwrap_or(digits);
        let begins = |digest: &Digest| digest.hex().starts_with(digits);
        let mut all = self.images.values().filter(|one| begins(&one.id) || one.manifest.as_ref().is_some_and(begins));
        match (all.next(), all.next()) {
            (Some(one), None) => Ok(one),
            (Some(_), Some(_)) => {
                Err(ImageError::Missing(format!("several images begin with {digits}: write more digits")))
            }
            (None, _) => {
                Err(ImageError::Missing(format!("there is no image with the digest {digits} here: {}", self.known())))
            }
        }
    }

    fn known(&self) -> String {
        let names: Vec<String> = self.names.keys().map(ToString::to_string).collect();
        match names.len() {
            0 => "`netloom image import` takes one from a file or folder".to_owned(),
            _ => format!("there are {}", names.join(", ")),
        }
    }

    pub(super) fn names_of(&self, id: &Digest) -> Vec<Name> {
        self.names.iter().filter(|(_, own)| *own == id).map(|(name, _)| name.clone()).collect()
    }

    pub(super) fn listed(&self) -> Vec<(Vec<Name>, Record)> {
        let mut all: Vec<_> = self.images.values().map(|record| (self.names_of(&record.id), record.clone())).collect();
        all.sort_by(|(one, a), (other, b)| (one.is_empty(), one, a.id).cmp(&(other.is_empty(), other, b.id)));
        all
    }
}
