//! The images that an earlier run had: the lab file in its results is run with the same bytes, whatever their names mean by now.

use netloom_lab::{ImageSource, Plan};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

/// What describes a run, beside its lab file or above its `files`.
const PROVENANCE: &str = "provenance.json";

/// The longest that is read. A lab of a thousand nodes has some hundred thousand bytes.
const LONGEST: u64 = 64 << 20;

/// What is read of it.
#[derive(Debug, Default, Deserialize)]
struct Written {
    #[serde(default)]
    images: BTreeMap<String, Origins>,
}

/// The image that a node had; those that it has at the points of a sweep on a cluster.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Origins {
    One(Origin),
    Each(Vec<Origin>),
}

impl Origins {
    fn all(&self) -> &[Origin] {
        match self {
            Self::One(origin) => std::slice::from_ref(origin),
            Self::Each(origins) => origins,
        }
    }
}

#[derive(Debug, Deserialize)]
struct Origin {
    source: String,
    id: Option<String>,
}

/// The images of a run.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    file: PathBuf,
    images: BTreeMap<String, Origins>,
}

impl Recorded {
    /// What is recorded beside a lab file; nothing of one that is not in the results of a run.
    ///
    /// # Errors
    /// In words, what is wrong with the record.
    pub(super) fn beside(lab_file: &Path, plan: &Plan) -> Result<Self, String> {
        if plan.nodes.iter().all(|node| node.image.is_none()) {
            return Ok(Self::default());
        }
        let folder = lab_file.parent().unwrap_or(Path::new(""));
        let above = folder.file_name().is_some_and(|name| name == "files").then(|| folder.join(".."));
        let files = [Some(folder.to_owned()), above].into_iter().flatten().map(|folder| folder.join(PROVENANCE));
        for file in files {
            let wrong = |what: &dyn std::fmt::Display| {
                format!(
                    "{}, which says what images this run had: {what}: copy the lab file elsewhere to run it with others",
                    file.display()
                )
            };
            match netloom_regular::open(&file) {
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => return Err(wrong(&error)),
                Ok(open) => {
                    let mut text = Vec::new();
                    open.take(LONGEST).read_to_end(&mut text).map_err(|error| wrong(&error))?;
                    let Written { images } = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
                    return Ok(Self { file, images });
                }
            }
        }
        Ok(Self::default())
    }

    /// The image that a node had, in the place of the one that its lab file names; none if that was none or another one.
    pub(super) fn of(&self, node: &str, wanted: &ImageSource) -> Option<ImageSource> {
        self.origin(node, wanted)?.id.clone().map(ImageSource::Digest)
    }

    /// Its name in the lab file of that run, from whose folder a path in it counts.
    pub(super) fn source(&self, node: &str, wanted: &ImageSource) -> Option<ImageSource> {
        ImageSource::parse(&self.origin(node, wanted)?.source).ok()
    }

    fn origin(&self, node: &str, wanted: &ImageSource) -> Option<&Origin> {
        self.images.get(node)?.all().iter().find(|origin| origin.id.is_some() && is_of(origin, wanted))
    }

    /// Why this image is wanted, for a message.
    pub(super) fn reason(&self) -> String {
        format!(
            "the run that {} describes had this image: to run the lab file with another one, copy it elsewhere",
            self.file.display()
        )
    }
}

/// Whether a node that wants this had the image as it is recorded.
fn is_of(origin: &Origin, wanted: &ImageSource) -> bool {
    match wanted {
        ImageSource::Named(name) => origin.source == name.to_string(),
        // Relative paths counted from elsewhere.
        ImageSource::Oci { .. } | ImageSource::DockerArchive { .. } | ImageSource::Rootfs(_) => {
            last_part(&origin.source) == last_part(&wanted.to_string())
        }
        ImageSource::Digest(_) => false,
    }
}

fn last_part(source: &str) -> &str {
    let last = source.trim_end_matches('/').rsplit('/').next().unwrap_or(source);
    ["oci:", "docker-archive:", "rootfs:"].iter().find_map(|kind| last.strip_prefix(kind)).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(images: &str) -> Recorded {
        let Written { images } = serde_json::from_str(&format!("{{\"mode\": \"run\", \"images\": {images}}}")).unwrap();
        Recorded { file: PROVENANCE.into(), images }
    }

    #[test]
    fn a_node_gets_the_image_that_it_had_unless_it_names_another() {
        let own = recorded(
            r#"{"a": {"source": "tools:1.0", "id": "sha256:1234", "manifest": null}, "b": {"source": "oci:tools:1.0", "id": "sha256:5"},
                "c": {"source": "rootfs:x", "id": null},
                "f": {"source": "rootfs:roots/x", "id": "sha256:7"},
                "e": [{"source": "tools:1.0", "id": "sha256:1"}, {"source": "tools:2.0", "id": "sha256:2"}]}"#,
        );
        let of = |node: &str, source: &str| own.of(node, &ImageSource::parse(source).unwrap());
        assert_eq!(of("a", "tools:1.0"), Some(ImageSource::Digest("sha256:1234".into())));
        assert_eq!(of("a", "tools:2.0"), None);
        assert_eq!(of("b", "oci:../results/tools:1.0"), Some(ImageSource::Digest("sha256:5".into())));
        assert_eq!(of("b", "oci:../others:1.0"), None);
        assert_eq!(of("c", "rootfs:x"), None);
        assert_eq!(of("d", "tools:1.0"), None);
        // On a cluster, it is the copy in the cache.
        assert_eq!(of("f", "rootfs:/tmp/lab/x"), Some(ImageSource::Digest("sha256:7".into())));
        assert_eq!(of("f", "rootfs:/tmp/lab/y"), None);
        let source = |node: &str, source: &str| own.source(node, &ImageSource::parse(source).unwrap());
        assert_eq!(source("f", "rootfs:/tmp/lab/x"), Some(ImageSource::Rootfs("roots/x".into())));
        assert_eq!(source("c", "rootfs:x"), None);
        assert_eq!(of("e", "tools:1.0"), Some(ImageSource::Digest("sha256:1".into())));
        assert_eq!(of("e", "tools:2.0"), Some(ImageSource::Digest("sha256:2".into())));
        assert_eq!(of("e", "tools:3.0"), None);
    }
}
