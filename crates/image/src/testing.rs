//! Layers and layouts for tests.

use crate::config::architecture;
use crate::{Digest, Limits};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tar::{EntryType, Header};

/// A layer that is being written.
#[derive(Default)]
pub(crate) struct Layer(pub(crate) Vec<u8>);

impl Layer {
    /// An entry with every field given.
    pub(crate) fn entry(self, path: &str, kind: EntryType, mode: u32, link: &str, contents: &[u8]) -> Self {
        let mut header = Header::new_gnu();
        let name = &mut header.as_old_mut().name;
        assert!(path.len() <= name.len(), "write it by `pax`");
        name[..path.len()].copy_from_slice(path.as_bytes());
        header.as_old_mut().linkname[..link.len()].copy_from_slice(link.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(mode);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(1_000_000_000);
        header.set_size(contents.len() as u64);
        self.raw(header, contents)
    }

    /// A header as it is, with its sum.
    pub(crate) fn raw(mut self, mut header: Header, contents: &[u8]) -> Self {
        header.set_cksum();
        self.0.extend(header.as_bytes());
        self.0.extend(contents);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    pub(crate) fn file(self, path: &str, contents: &str) -> Self {
        self.entry(path, EntryType::Regular, 0o644, "", contents.as_bytes())
    }

    pub(crate) fn folder(self, path: &str) -> Self {
        self.entry(path, EntryType::Directory, 0o755, "", b"")
    }

    pub(crate) fn symlink(self, path: &str, target: &str) -> Self {
        self.entry(path, EntryType::Symlink, 0o777, target, b"")
    }

    pub(crate) fn link(self, path: &str, target: &str) -> Self {
        self.entry(path, EntryType::Link, 0o644, target, b"")
    }

    /// A header that says more of the next entry.
    pub(crate) fn pax(self, records: &[(&str, &[u8])]) -> Self {
        let record = |(key, value): &(&str, &[u8])| {
            let rest = [b" ", key.as_bytes(), b"=", value, b"\n"].concat();
            let mut length = rest.len() + 1;
            while length.to_string().len() + rest.len() != length {
                length = length.to_string().len() + rest.len();
            }
            [length.to_string().as_bytes(), &rest].concat()
        };
        let text: Vec<u8> = records.iter().flat_map(record).collect();
        self.entry("PaxHeaders/x", EntryType::XHeader, 0o644, "", &text)
    }

    /// The whole archive.
    pub(crate) fn end(mut self) -> Vec<u8> {
        self.0.extend([0; 1024]);
        self.0
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// A configuration for layers.
pub(crate) fn config(layers: &[Vec<u8>], config: &str) -> String {
    let ids: Vec<String> = layers.iter().map(|layer| format!("\"{}\"", Digest::of(layer))).collect();
    format!(
        r#"{{"architecture": "{}", "os": "linux", "config": {config}, "rootfs": {{"type": "layers", "diff_ids": [{}]}}}}"#,
        architecture(),
        ids.join(", ")
    )
}

/// An OCI layout with one image, called `1.0`.
pub(crate) fn layout(folder: &Path, layers: &[Vec<u8>], settings: &str) -> PathBuf {
    fs::create_dir_all(folder.join("blobs/sha256")).unwrap();
    fs::write(folder.join("oci-layout"), r#"{"imageLayoutVersion": "1.0.0"}"#).unwrap();
    let blob = |kind: &str, bytes: &[u8]| {
        let digest = Digest::of(bytes);
        fs::write(folder.join("blobs/sha256").join(digest.hex()), bytes).unwrap();
        format!(r#"{{"mediaType": "application/vnd.oci.image.{kind}", "digest": "{digest}", "size": {}}}"#, bytes.len())
    };
    let config = blob("config.v1+json", config(layers, settings).as_bytes());
    let packed: Vec<String> = layers.iter().map(|layer| blob("layer.v1.tar+gzip", &gzip(layer))).collect();
    let manifest = format!(r#"{{"schemaVersion": 2, "config": {config}, "layers": [{}]}}"#, packed.join(", "));
    let manifest = blob("manifest.v1+json", manifest.as_bytes());
    let named = manifest.replace('}', r#", "annotations": {"org.opencontainers.image.ref.name": "1.0"}}"#);
    fs::write(folder.join("index.json"), format!(r#"{{"schemaVersion": 2, "manifests": [{named}]}}"#)).unwrap();
    folder.to_owned()
}

/// Small ones, so that tests reach them.
pub(crate) const LIMITS: Limits =
    Limits { entries: 100, bytes: 1_000_000, folder_names: 10_000, reserve: 0, folder: 50_000 };
