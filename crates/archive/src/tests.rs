//! Bundles that were made here, damaged, or made by somebody who means harm.

use super::*;
use crate::frames::Frames;
use netloom_image::Digest;
use proptest::prelude::*;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tar::{Builder, EntryType, Header};
use tempfile::TempDir;

const RUN: &str = "20261125T093153-1a2b";

/// The results of a run, as far as they matter here.
fn results(root: &Path) -> PathBuf {
    let folder = root.join(RUN);
    fs::create_dir_all(folder.join("logs")).unwrap();
    fs::create_dir_all(folder.join("captures/deep")).unwrap();
    fs::write(folder.join("provenance.json"), r#"{"mode": "run", "lab": "pair"}"#).unwrap();
    fs::write(folder.join("report.json"), "{}").unwrap();
    fs::write(folder.join("logs/00-a-ping.stdout"), "64 bytes from b\n".repeat(1_000)).unwrap();
    fs::write(folder.join("logs/00-a-ping.stderr"), "").unwrap();
    let noise: Vec<u8> = (0..3_000_000_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(folder.join("captures/deep/l.pcapng"), noise).unwrap();
    folder
}

fn packed(root: &TempDir) -> PathBuf {
    let bundle = root.path().join("pair.tar.zst");
    pack(&results(root.path()), Some(&bundle), false).unwrap();
    bundle
}

/// All files of a folder with what is in them.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let (mut all, mut waiting) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next).unwrap().map(Result::unwrap) {
            match entry.path().is_dir() {
                true => waiting.push(entry.path()),
                false => {
                    all.push((entry.path().strip_prefix(folder).unwrap().to_owned(), fs::read(entry.path()).unwrap()));
                }
            }
        }
    }
    all.sort();
    all
}

#[test]
fn the_same_files_are_the_same_bundle_and_come_out_again() {
    let roots = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [one, other] = roots.each_ref().map(packed);
    assert!(fs::read(&one).unwrap() == fs::read(&other).unwrap(), "the same bytes");
    assert!(list(&one).unwrap().complete);
    assert_eq!(verify(&one).unwrap().files.len(), 5);
    let target = roots[0].path().join("out");
    let unpacked = unpack(&one, &target).unwrap();
    assert_eq!((unpacked.manifest.kind, unpacked.manifest.lab.as_str()), (Kind::Run, "pair"));
    assert_eq!(contents(&target), contents(&roots[0].path().join(RUN)));
    // Packed again, it is the same again.
    let again = roots[0].path().join("again.tar.zst");
    pack(&target, Some(&again), false).unwrap();
    assert!(fs::read(&one).unwrap() == fs::read(&again).unwrap(), "the same bytes");
    let there = unpack(&one, &target).unwrap_err();
    assert!(there.to_string().contains("is there already"), "{there}");
    let over = pack(&target, Some(&again), false).unwrap_err();
    assert!(over.to_string().contains("is there already"), "{over}");
}

#[test]
fn what_is_no_file_is_left_out_and_said() {
    let root = tempfile::tempdir().unwrap();
    let folder = results(root.path());
    std::os::unix::fs::symlink("/etc/passwd", folder.join("link")).unwrap();
    std::os::unix::fs::symlink(RUN, folder.join("latest")).unwrap();
    std::os::unix::net::UnixListener::bind(folder.join("socket")).unwrap();
    let bundle = root.path().join("pair.tar.zst");
    let manifest = pack(&folder, Some(&bundle), false).unwrap().manifest;
    let left: Vec<_> = manifest.left_out.iter().map(|left| (left.path.as_str(), left.why.as_str())).collect();
    assert_eq!(left, [("link", "a link"), ("socket", "neither a file nor a folder")]);
    assert_eq!(manifest.files.len(), 5);
}

#[test]
fn what_goes_on_or_is_none_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let why = |path: &Path| pack(path, Some(&root.path().join("x")), false).unwrap_err().to_string();
    assert!(why(root.path()).contains("neither provenance.json nor origin.json"));
    assert!(why(&root.path().join("nowhere")).contains("No such file"));
    let folder = results(root.path());
    let lock = fs::File::open(&folder).unwrap();
    lock.lock().unwrap();
    assert!(why(&folder).contains("still being written"));
    drop(lock);
    fs::write(folder.join("provenance.json"), r#"{"mode": "run", "lab": "../../evil"}"#).unwrap();
    assert!(why(&folder).contains("the lab's name"), "{}", why(&folder));
    assert!(!root.path().join("x").exists());
}

#[test]
fn a_bundle_that_is_cut_short_says_where_and_gives_what_is_before() {
    let root = tempfile::tempdir().unwrap();
    let bundle = packed(&root);
    let whole = fs::read(&bundle).unwrap();
    fs::write(&bundle, &whole[..whole.len() - 1000]).unwrap();
    let target = root.path().join("out");
    let error = unpack(&bundle, &target).unwrap_err();
    // Its last file is that of the largest path.
    assert!(error.to_string().contains("is damaged at"), "{error}");
    let ArchiveError::Damaged { whole: kept, total, .. } = &error else { panic!("{error}") };
    assert_eq!(*total, Some(5));
    assert_eq!(contents(&target).len(), *kept);
    for (path, bytes) in contents(&target) {
        assert!(fs::read(root.path().join(RUN).join(&path)).unwrap() == bytes, "{} is whole", path.display());
    }
    assert_eq!(verify(&bundle).unwrap_err().to_string(), error.to_string());
}

/// An entry: its kind, its name, and what is in it.
type InBundle<'a> = (EntryType, &'a str, &'a [u8]);

/// Makes a bundle with this manifest and these entries behind it.
fn hostile(root: &TempDir, manifest: &str, entries: &[InBundle<'_>]) -> PathBuf {
    let path = root.path().join("hostile.tar.zst");
    let _ = fs::remove_file(&path);
    let mut archive = Builder::new(Frames::new(fs::File::create(&path).unwrap()));
    let first = (EntryType::Regular, "pair/bundle.json", manifest.as_bytes());
    for (kind, name, contents) in [first].iter().chain(entries) {
        let mut header = Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_size(contents.len() as u64);
        if kind.is_symlink() || kind.is_hard_link() {
            header.set_link_name("/etc/passwd").unwrap();
        }
        header.set_mode(0o4777);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_cksum();
        archive.append(&header, *contents).unwrap();
    }
    archive.into_inner().unwrap().finish().unwrap().flush().unwrap();
    path
}

fn manifest(files: &[(&str, u64, &[u8])]) -> String {
    let files: Vec<_> = files
        .iter()
        .map(
            |(path, bytes, contents)| serde_json::json!({"path": path, "bytes": bytes, "digest": Digest::of(contents)}),
        )
        .collect();
    let all = serde_json::json!({"format": 1, "kind": "run", "lab": "pair", "complete": true, "files": files, "left_out": []});
    all.to_string()
}

#[test]
fn paths_that_lead_out_are_refused_before_anything_is_written() {
    let root = tempfile::tempdir().unwrap();
    let target = root.path().join("out");
    let long = "x/".repeat(200) + "y";
    for path in ["../evil", "/etc/evil", "a/../../evil", "", ".", "a//b", "./a", "a/.", "a/", "a\0b", &long] {
        let bundle = hostile(&root, &manifest(&[(path, 1, b"x")]), &[]);
        let error = unpack(&bundle, &target).unwrap_err();
        assert!(matches!(error, ArchiveError::Refused { .. }), "{path:?}: {error}");
        assert!(!target.exists(), "{path:?}");
    }
    for files in [
        &[("a", 1, &b"x"[..]), ("a/b", 1, b"x")][..],
        &[("a", 1, b"x"), ("a", 1, b"x")],
        &[("b", 1, b"x"), ("a", 1, b"x")],
    ] {
        let error = unpack(&hostile(&root, &manifest(files), &[]), &target).unwrap_err();
        assert!(matches!(error, ArchiveError::Refused { .. }), "{files:?}: {error}");
    }
}

#[test]
fn what_the_manifest_does_not_say_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let one = manifest(&[("a", 1, b"x")]);
    let place = "pair/results/a";
    let cases: [(&[InBundle<'_>], &str); 7] = [
        (&[(EntryType::Symlink, place, b"")], "there is another file"),
        (&[(EntryType::Link, place, b"")], "there is another file"),
        (&[(EntryType::Char, place, b"")], "there is another file"),
        (&[(EntryType::Regular, "pair/results/../../../evil", b"x")], "there is another file"),
        (&[(EntryType::Regular, place, b"xy")], "it has 2 bytes"),
        (&[(EntryType::Regular, place, b"y")], "do not have the digest"),
        (&[(EntryType::Regular, place, b"x"), (EntryType::Regular, "pair/results/b", b"x")], "more files than"),
    ];
    for (number, (entries, why)) in cases.into_iter().enumerate() {
        let bundle = hostile(&root, &one, entries);
        let target = root.path().join(format!("out{number}"));
        let error = unpack(&bundle, &target).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
        assert!(contents(&target).len() <= usize::from(number == 6), "{number}: only what is right stays");
        assert!(verify(&bundle).is_err());
    }
    let other = hostile(&root, &one.replace("pair", "mallory"), &[]);
    assert!(list(&other).unwrap_err().to_string().contains("the lab `pair` and the lab `mallory`"));
    let later = hostile(&root, r#"{"format": 2, "other": 1}"#, &[]);
    assert!(list(&later).unwrap_err().to_string().contains("it has the format 2"));
}

#[test]
fn a_small_bundle_that_would_fill_the_disk_is_refused() {
    let root = tempfile::tempdir().unwrap();
    for bytes in [u64::MAX, 200_000_000_000_000] {
        let bundle = hostile(&root, &manifest(&[("a", bytes, b"x"), ("b", bytes, b"x")]), &[]);
        let target = root.path().join(format!("out{bytes}"));
        let error = unpack(&bundle, &target).unwrap_err();
        assert!(error.to_string().contains("it is larger than"), "{error}");
    }
    let bundle = hostile(&root, &manifest(&[("a", 250_000_000_000, b"x")]), &[]);
    let free = netloom_image::free_bytes(root.path()).unwrap();
    let error = unpack(&bundle, &root.path().join("out")).unwrap_err().to_string();
    let expected = if free < 250_000_000_000 { "are free here" } else { "it has 1 bytes" };
    assert!(error.contains(expected) || error.contains("it ends before"), "{error}");
}

#[test]
fn other_files_are_no_bundles() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("file");
    for bytes in [&b""[..], b"hello", &[0; 4096], b"\x28\xb5\x2f\xfd"] {
        fs::write(&path, bytes).unwrap();
        assert!(list(&path).is_err() && verify(&path).is_err(), "{bytes:?}");
    }
    let pipe = root.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for other in [Path::new("/dev/zero"), &pipe, root.path()] {
        assert!(list(other).unwrap_err().to_string().contains("it is no file"), "{}", other.display());
    }
}

/// Whatever bytes of a bundle change: there is an error that says so or all files are as they were, and nothing lies elsewhere.
#[test]
fn fuzz_bundles() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join(RUN);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("provenance.json"), r#"{"mode": "run", "lab": "pair"}"#).unwrap();
    for name in ["a", "b", "c"] {
        fs::write(folder.join(name), name.repeat(500)).unwrap();
    }
    let bundle = root.path().join("pair.tar.zst");
    pack(&folder, Some(&bundle), false).unwrap();
    let good = fs::read(&bundle).unwrap();
    let damages = prop::collection::vec((0..good.len(), any::<u8>()), 1..4);
    proptest!(ProptestConfig::with_cases(150), |(damages in damages, cut in prop::option::of(0..good.len()))| {
        let mut bytes = good.clone();
        for (place, byte) in damages {
            bytes[place] = byte;
        }
        bytes.truncate(cut.unwrap_or(good.len()));
        let damaged = root.path().join("damaged.tar.zst");
        fs::write(&damaged, &bytes).unwrap();
        let target = root.path().join("out");
        let done = unpack(&damaged, &target);
        let there = if target.exists() { contents(&target) } else { Vec::new() };
        let _ = fs::remove_dir_all(&target);
        prop_assert!(there.iter().all(|file| contents(&folder).contains(file)), "only whole files are there");
        prop_assert_eq!(done.is_ok(), verify(&damaged).is_ok());
        if done.is_ok() {
            prop_assert_eq!(there.len(), 4);
        }
    });
}
