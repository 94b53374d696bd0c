//! What an image says about the programs that run in it (config.md of the OCI image specification).

use crate::limits::MOST_LAYERS;
use crate::{Digest, ImageError};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How a program of the image is started unless a lab says otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Config {
    /// The user: a name or number, perhaps with a group behind a colon; empty: root.
    #[serde(deserialize_with = "or_default")]
    pub user: String,
    /// Variables, each as `NAME=VALUE`.
    #[serde(deserialize_with = "or_default")]
    pub env: Vec<String>,
    /// The program and its first arguments.
    #[serde(deserialize_with = "or_default")]
    pub entrypoint: Vec<String>,
    /// Further arguments; without an entry point the program and its arguments.
    #[serde(deserialize_with = "or_default")]
    pub cmd: Vec<String>,
    /// Where programs start; empty: `/`.
    #[serde(deserialize_with = "or_default")]
    pub working_dir: String,
    /// Ports at which the program listens, as `80/tcp`.
    #[serde(deserialize_with = "or_default")]
    pub exposed_ports: BTreeMap<String, serde_json::Value>,
    /// Folders for data.
    #[serde(deserialize_with = "or_default")]
    pub volumes: BTreeMap<String, serde_json::Value>,
}

/// Whatever Docker left empty stands as null.
fn or_default<'de, D: serde::Deserializer<'de>, T: Default + Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}

impl Config {
    /// The program with its arguments; empty if the image names none.
    pub fn command(&self) -> Vec<String> {
        [&self.entrypoint[..], &self.cmd].concat()
    }

    /// The variables as pairs.
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.env.iter().filter_map(|line| line.split_once('='))
    }
}

/// The document that a manifest's `config` leads to.
#[derive(Debug, Deserialize)]
pub(crate) struct Document {
    pub(crate) architecture: String,
    pub(crate) os: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(crate) config: Config,
    rootfs: Layers,
}

#[derive(Debug, Deserialize)]
struct Layers {
    #[serde(default, deserialize_with = "or_default")]
    diff_ids: Vec<Digest>,
}

impl Document {
    /// Reads it; `what` names it in errors.
    pub(crate) fn read(bytes: &[u8], what: &str) -> Result<Self, ImageError> {
        let document: Self = serde_json::from_slice(bytes)
            .map_err(|error| ImageError::damaged(what, format!("its configuration: {error}")))?;
        let layers = document.rootfs.diff_ids.len();
        if layers == 0 || layers > MOST_LAYERS {
            let why = format!("it has {layers} layers, and 1 to {MOST_LAYERS} are possible");
            return Err(ImageError::Unsuitable(format!("{what}: {why}")));
        }
        document.config.check().map_err(|why| ImageError::damaged(what, why))?;
        let wanted = [(&document.os, "linux"), (&document.architecture, architecture())];
        if wanted.iter().any(|(is, should)| *is != should) {
            return Err(ImageError::Unsuitable(format!(
                "{what} is for {}/{}, and this machine is linux/{}",
                document.os,
                document.architecture,
                architecture()
            )));
        }
        Ok(document)
    }

    /// The digests of the unpacked layers, the lowest first.
    pub(crate) fn diff_ids(&self) -> &[Digest] {
        &self.rootfs.diff_ids
    }

    /// What stands for all layers together.
    pub(crate) fn chain(&self) -> Digest {
        let chained = self.rootfs.diff_ids.iter().fold(None, |below, own| Some(Digest::chained(below, *own)));
        chained.expect("an image has a layer, see `read`")
    }
}

impl Config {
    /// Says what cannot be right.
    pub(crate) fn check(&self) -> Result<(), String> {
        let words = self.env.iter().chain(&self.entrypoint).chain(&self.cmd).chain([&self.user, &self.working_dir]);
        if words.clone().any(|word| word.contains('\0')) {
            return Err("its configuration has a NUL character".to_owned());
        }
        if self.command().first().is_some_and(String::is_empty) {
            return Err("its entry point has an empty name".to_owned());
        }
        Ok(())
    }
}

/// This machine's processor, in the words of images (those of Go).
pub(crate) fn architecture() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "x86" => "386",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(architecture: &str, config: &str) -> String {
        let layer = Digest::of(b"layer");
        format!(
            r#"{{"architecture": "{architecture}", "os": "linux", "config": {config}, "rootfs": {{"type": "layers", "diff_ids": ["{layer}", "{layer}"]}}}}"#
        )
    }

    #[test]
    fn docker_writes_null_for_nothing() {
        let text = document(
            architecture(),
            r#"{"Env": ["A=1=2", "odd"], "Cmd": ["sh"], "Entrypoint": null, "Volumes": null}"#,
        );
        let read = Document::read(text.as_bytes(), "x").unwrap();
        assert_eq!(read.config.command(), ["sh"]);
        assert_eq!(read.config.variables().collect::<Vec<_>>(), [("A", "1=2")]);
        let layer = Digest::of(b"layer");
        assert_eq!(read.chain(), Digest::of(format!("{layer} {layer}").as_bytes()));
        assert!(Document::read(document(architecture(), "null").as_bytes(), "x").is_ok());
    }

    #[test]
    fn images_of_other_machines_are_refused() {
        let error = Document::read(document("s390x", "{}").as_bytes(), "oci:x").unwrap_err().to_string();
        assert!(error.starts_with("oci:x is for linux/s390x, and this machine is linux/"), "{error}");
    }

    #[test]
    fn a_configuration_without_layers_is_refused() {
        let text = format!(r#"{{"architecture": "{}", "os": "linux", "rootfs": {{"diff_ids": []}}}}"#, architecture());
        let error = Document::read(text.as_bytes(), "oci:x").unwrap_err().to_string();
        assert_eq!(error, "oci:x: it has 0 layers, and 1 to 1000 are possible");
    }
}
