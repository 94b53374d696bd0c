//! How messages and the provenance name images.

use netloom_image::{Digest, ImageError, Progress, Record};
use netloom_judge::RunError;
use netloom_lab::ImageSource;
use netloom_results::ImageOrigin;

pub(super) fn refused(place: &str, error: &ImageError) -> RunError {
    RunError::Machine(format!("{place}: {error}"))
}

pub(super) fn words(name: &str, progress: Progress) -> String {
    match progress {
        Progress::Waiting => format!("waiting for another process that unpacks {name}"),
        Progress::Folder { bytes } => format!("copying {name} to the cache ({:.1} MB)", bytes as f64 / 1e6),
        Progress::Layer { number, of, .. } => format!("unpacking layer {number} of {of} of {name}"),
    }
}

/// Where an image comes from, as the provenance says it.
pub(super) fn origin(source: &ImageSource, record: Option<&Record>) -> ImageOrigin {
    ImageOrigin {
        source: source.to_string(),
        id: record.map(|record| record.id.to_string()),
        manifest: record.and_then(|record| record.manifest.as_ref().map(Digest::to_string)),
    }
}
