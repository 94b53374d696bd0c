use crate::testing::{LIMITS, Layer, layout};
use crate::{Digest, ImageError, Source, Store};
use flate2::read::GzDecoder;
use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tar::EntryType;

/// Two caches, of which the first has an image, and the file into which it was packed.
struct Two {
    home: tempfile::TempDir,
    one: Store,
    other: Store,
    id: Digest,
    file: PathBuf,
}

impl Two {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let (one, other) = (store(home.path(), "one"), store(home.path(), "other"));
        let long = format!("{}/{}", "folder".repeat(20), "name".repeat(30));
        let base =
            Layer::default().folder("bin/").entry("bin/sh", EntryType::Regular, 0o755, "", b"sh").file("old", "o");
        let upper = Layer::default()
            .link("bin/ash", "bin/sh")
            .symlink("odd", "../bin//sh/")
            .pax(&[("path", long.as_bytes()), ("mtime", b"12.000000034")])
            .file("x", "deep")
            .entry("closed", EntryType::Directory, 0o500, "", b"")
            .entry("pipe", EntryType::Fifo, 0o600, "", b"")
            .file(".wh.old", "");
        let folder =
            layout(&home.path().join("tools"), &[base.end(), upper.end()], r#"{"Env": ["A=1"], "Cmd": ["sh"]}"#);
        let id = one.import(&Source::Oci { folder, tag: None }, None, &mut |_| {}).unwrap().record.id;
        let file = home.path().join("packed");
        let mut two = Self { home, one, other, id, file };
        let mut bytes = Vec::new();
        two.one.pack(&Source::Digest(two.id.to_string()), &mut bytes).unwrap();
        two.write(&bytes);
        two
    }

    fn write(&mut self, bytes: &[u8]) {
        fs::write(&self.file, bytes).unwrap();
    }

    fn take(&self) -> Result<crate::Imported, ImageError> {
        self.other.take(&self.file, &mut |_| {})
    }

    fn left(&self) -> Vec<usize> {
        let count = |part: &str| fs::read_dir(self.home.path().join("other").join(part)).map_or(0, Iterator::count);
        ["trees", "staging"].map(count).to_vec()
    }
}

fn store(home: &Path, name: &str) -> Store {
    Store::at(&home.join(name), LIMITS)
}

#[test]
fn an_image_comes_to_another_cache_with_all_that_is_in_it() {
    let two = Two::new();
    let taken = two.take().unwrap();
    assert!(taken.is_new && taken.names.is_empty());
    let source = Source::Digest(two.id.to_string());
    let (here, there) = (two.one.get(&source, &mut |_| {}).unwrap(), two.other.get(&source, &mut |_| {}).unwrap());
    assert_eq!(Digest::of_folder(&here.folder).unwrap(), Digest::of_folder(&there.folder).unwrap());
    let of = |path: &str| fs::symlink_metadata(there.folder.join(path)).unwrap();
    assert_eq!(of("bin/sh").ino(), of("bin/ash").ino());
    assert_eq!(fs::read_link(there.folder.join("odd")).unwrap().as_os_str(), "../bin//sh/");
    assert_eq!(of("closed").permissions().mode() & 0o7777, 0o500);
    let deep = of(&format!("{}/{}", "folder".repeat(20), "name".repeat(30)));
    assert_eq!((deep.mtime(), deep.mtime_nsec(), deep.len()), (12, 34, 4));
    assert!(!there.folder.join("old").exists());
    let (mut known, record) = (here.record.unwrap(), there.record.unwrap());
    known.imported_unix_s = record.imported_unix_s;
    assert_eq!(known, record);
    assert_eq!(two.other.find(&source, &mut |_| {}).unwrap().unwrap().id, two.id);
    assert!(two.other.find(&Source::Digest(format!("sha256:{}", "0".repeat(64))), &mut |_| {}).unwrap().is_none());
    let nowhere = Source::Oci { folder: two.home.path().join("nowhere"), tag: None };
    assert!(two.other.find(&nowhere, &mut |_| {}).unwrap().is_none());
    // Once.
    assert!(!two.take().unwrap().is_new);
    assert_eq!(two.left(), [1, 0]);
}

#[test]
fn the_same_image_is_packed_to_the_same_bytes() {
    let two = Two::new();
    let mut again = Vec::new();
    two.one.pack(&Source::Digest(two.id.to_string()), &mut again).unwrap();
    assert_eq!(again, fs::read(&two.file).unwrap());
}

#[test]
fn what_is_not_whole_or_not_an_image_is_refused_and_leaves_nothing() {
    let mut two = Two::new();
    let whole = fs::read(&two.file).unwrap();
    for end in [whole.len() - 1, whole.len() * 2 / 3, 5, 0] {
        two.write(&whole[..end]);
        assert!(two.take().is_err(), "{end} of {}", whole.len());
        assert_eq!(two.left(), [0, 0]);
    }
    two.write(&Layer::default().file("a", "text").end());
    let error = two.take().unwrap_err().to_string();
    assert!(error.ends_with("no netloom has packed it"), "{error}");
    let mut text = Vec::new();
    GzDecoder::new(&whole[..]).read_to_end(&mut text).unwrap();
    let at = text.windows(12).position(|found| found == br#""version":1,"#).unwrap();
    text[at + 10] = b'7';
    two.write(&text);
    let other = two.take().unwrap_err().to_string();
    assert!(other.contains("is of version 7 for"), "{other}");
    assert_eq!(two.left(), [0, 0]);
}

#[test]
fn a_folder_is_no_image_that_can_be_packed() {
    let two = Two::new();
    let error = two.one.pack(&Source::Rootfs(two.home.path().to_owned()), &mut Vec::new()).unwrap_err();
    assert!(error.to_string().ends_with("is a folder, not an image"), "{error}");
}
