use crate::config::Document;
use crate::manifest::Blob;
use crate::{Digest, ImageError, Name};

/// What a source says of an image, with its files open.
#[derive(Debug)]
pub(crate) struct Contents {
    /// The source in words.
    pub(crate) what: String,
    pub(crate) manifest: Option<Digest>,
    /// The digest of the configuration.
    pub(crate) id: Digest,
    pub(crate) config: Vec<u8>,
    /// The layers, the lowest first, each with the digest of its packed form if that is known.
    pub(crate) layers: Vec<(Blob, Option<Digest>)>,
    /// What it is called where it comes from.
    pub(crate) names: Vec<Name>,
}

impl Contents {
    /// The configuration, if the image suits this machine.
    pub(crate) fn document(&self) -> Result<Document, ImageError> {
        let document = Document::read(&self.config, &self.what)?;
        let (said, there) = (document.diff_ids().len(), self.layers.len());
        if said == there {
            return Ok(document);
        }
        Err(ImageError::damaged(&self.what, format!("its configuration names {said} layers, and it has {there}")))
    }
}
