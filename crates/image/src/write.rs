//! Writes an image of one layer as a folder in the OCI layout (image-layout.md of the OCI image specification).

use crate::config::{Config, architecture};
use crate::digest::Hashing;
use crate::error::Attempted;
use crate::{Digest, ImageError};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Bytes that are written at a time.
const PIECE: usize = 1 << 17;

/// Writes an image into an empty folder, for this machine's architecture: with `config`, and one layer, a tar archive that `layer` writes.
///
/// # Errors
/// What the system refused, or `layer` said.
pub fn write_layout(
    folder: &Path,
    config: &Config,
    layer: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), ImageError> {
    let blobs = folder.join("blobs/sha256");
    fs::create_dir_all(&blobs).at("make", &blobs)?;
    let staged = blobs.join("layer");
    let mut file = BufWriter::with_capacity(PIECE, File::create_new(&staged).at("make", &staged)?);
    layer(&mut file).and_then(|()| file.flush()).at("write", &staged)?;
    let mut contents = Hashing::new(File::open(&staged).at("open", &staged)?);
    io::copy(&mut contents, &mut io::sink()).at("read", &staged)?;
    let (digest, size) = contents.finish();
    fs::rename(&staged, blobs.join(digest.hex())).at("rename", &staged)?;
    let platform = json!({ "architecture": architecture(), "os": "linux" });
    let mut settings = platform.clone();
    settings["config"] = serde_json::to_value(config).map_err(io::Error::from).at("write", folder)?;
    settings["rootfs"] = json!({ "type": "layers", "diff_ids": [digest.to_string()] });
    let described = document(&blobs, "config.v1+json", &settings)?;
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": described,
        "layers": [descriptor("layer.v1.tar", digest, size)],
    });
    let mut found = document(&blobs, "manifest.v1+json", &manifest)?;
    found["platform"] = platform;
    let write = |name: &str, value: &Value| {
        let path = folder.join(name);
        fs::write(&path, value.to_string()).at("write", &path)
    };
    write("index.json", &json!({ "schemaVersion": 2, "manifests": [found] }))?;
    write("oci-layout", &json!({ "imageLayoutVersion": "1.0.0" }))
}

/// Writes a document among the blobs, and says where it is.
fn document(blobs: &Path, kind: &str, value: &Value) -> Result<Value, ImageError> {
    let text = value.to_string();
    let digest = Digest::of(text.as_bytes());
    let path = blobs.join(digest.hex());
    fs::write(&path, &text).at("write", &path)?;
    Ok(descriptor(kind, digest, text.len() as u64))
}

fn descriptor(kind: &str, digest: Digest, size: u64) -> Value {
    let kind = format!("application/vnd.oci.image.{kind}");
    json!({ "mediaType": kind, "digest": digest.to_string(), "size": size })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{LIMITS, Layer};
    use crate::{Source, Store};

    #[test]
    fn what_is_written_is_an_image() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("layout");
        let config = Config { working_dir: "/lab".into(), ..Config::default() };
        let layer = Layer::default().folder("lab").file("lab/a", "text").end();
        write_layout(&folder, &config, |output| output.write_all(&layer)).unwrap();
        let store = Store::at(&root.path().join("images"), LIMITS);
        let image = store.get(&Source::Oci { folder, tag: None }, &mut |_| {}).unwrap();
        assert_eq!(fs::read(image.folder.join("lab/a")).unwrap(), b"text");
        assert_eq!(image.record.as_ref().unwrap().config.working_dir, "/lab");
    }
}
