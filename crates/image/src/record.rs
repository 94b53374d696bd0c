//! What the cache knows of an image.

use crate::left::Left;
use crate::{Config, Digest};
use serde::{Deserialize, Serialize};

/// The record of an unpacked image in the cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The digest of its configuration, which Docker calls the image's ID.
    pub id: Digest,
    /// The digest of its manifest, if it had one.
    pub manifest: Option<Digest>,
    /// The digest that stands for all its layers, which OCI calls their ChainID.
    pub chain: Digest,
    /// Where it came from.
    pub source: String,
    /// Entries of its layers.
    pub entries: u64,
    /// Bytes of their files.
    pub bytes: u64,
    /// When it was unpacked, in seconds since 1970.
    pub imported_unix_s: u64,
    /// The counts of what was left out.
    pub left: Left,
    /// How its program is started.
    pub config: Config,
}

impl Record {
    /// The record of an image without a manifest that is not unpacked yet.
    pub(crate) fn new(id: Digest, chain: Digest, source: String, config: Config) -> Self {
        let (manifest, left) = (None, Left::default());
        Self { id, manifest, chain, source, entries: 0, bytes: 0, imported_unix_s: 0, left, config }
    }
}
