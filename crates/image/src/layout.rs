//! Folders in the OCI layout (image-layout.md of the OCI image specification).

use crate::contents::Contents;
use crate::error::{Attempted, open_file};
use crate::manifest::{Blob, Descriptor, Index, Manifest, parse};
use crate::{ImageError, Name};
use serde::Deserialize;
use std::path::Path;

/// How often an index may lead to another.
const DEEPEST: usize = 4;

#[derive(Deserialize)]
struct Marker {
    #[serde(rename = "imageLayoutVersion")]
    version: String,
}

/// Finds an image in a layout.
pub(crate) fn open(folder: &Path, tag: Option<&str>) -> Result<Contents, ImageError> {
    let what = format!("oci:{}", folder.display());
    let marker = file(folder, Path::new("oci-layout")).map_err(|error| match error {
        ImageError::Io { error, .. } if error.kind() == std::io::ErrorKind::NotFound && folder.is_dir() => {
            ImageError::Unsuitable(format!("{what} is no OCI layout: it has no file oci-layout"))
        }
        other => other,
    })?;
    let marker: Marker = parse(&marker.document(None)?, &what)?;
    if marker.version != "1.0.0" {
        return Err(ImageError::Unsuitable(format!("{what} has the layout {}, and 1.0.0 is read", marker.version)));
    }
    let mut index: Index = parse(&file(folder, Path::new("index.json"))?.document(None)?, &what)?;
    let mut tag = tag;
    let mut name = None;
    for _ in 0..DEEPEST {
        let chosen = index.choose(tag.take(), &what)?.clone();
        name = name.or_else(|| chosen.name().map(str::to_owned));
        let document = blob(folder, &chosen)?.document(Some(chosen.digest))?;
        if chosen.is_index() {
            index = parse(&document, &what)?;
            continue;
        }
        let manifest: Manifest = parse(&document, &what)?;
        return contents(folder, &chosen, &manifest, names(folder, name.as_deref()), what);
    }
    Err(ImageError::Unsuitable(format!("{what} has indexes inside one another, more than {DEEPEST}")))
}

fn contents(
    folder: &Path,
    chosen: &Descriptor,
    manifest: &Manifest,
    names: Vec<Name>,
    what: String,
) -> Result<Contents, ImageError> {
    let config = blob(folder, &manifest.config)?.document(Some(manifest.config.digest))?;
    let layer = |layer: &Descriptor| Ok((blob(folder, layer)?, Some(layer.digest)));
    let layers = manifest.layers.iter().map(layer).collect::<Result<_, ImageError>>()?;
    Ok(Contents { what, manifest: Some(chosen.digest), id: manifest.config.digest, config, layers, names })
}

/// The name of an image: what the layout says, behind the folder's own name if that is a tag alone.
fn names(folder: &Path, said: Option<&str>) -> Vec<Name> {
    let own = folder.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let full = match said {
        Some(name) if name.contains([':', '/']) => name.to_owned(),
        Some(tag) => format!("{own}:{tag}"),
        None => own,
    };
    Name::parse(&full).ok().into_iter().collect()
}

fn blob(folder: &Path, descriptor: &Descriptor) -> Result<Blob, ImageError> {
    let blob = file(folder, &Path::new("blobs/sha256").join(descriptor.digest.hex()))?;
    if blob.size == descriptor.size {
        return Ok(blob);
    }
    Err(ImageError::damaged(blob.what, format!("it has {} bytes, and should have {}", blob.size, descriptor.size)))
}

fn file(folder: &Path, name: &Path) -> Result<Blob, ImageError> {
    let path = folder.join(name);
    let file = open_file(&path)?;
    let about = file.metadata().at("look at", &path)?;
    Ok(Blob { file, size: about.len(), what: path.display().to_string() })
}
