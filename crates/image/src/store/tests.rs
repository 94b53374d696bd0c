use super::*;
use crate::testing::{LIMITS, Layer, config, gzip, layout};
use std::fs;
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;

struct Place {
    folder: tempfile::TempDir,
    store: Store,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(&folder.path().join("images"), LIMITS);
        Self { folder, store }
    }

    fn layout(&self, name: &str) -> PathBuf {
        let lower =
            Layer::default().folder("bin/").entry("bin/sh", tar::EntryType::Regular, 0o755, "", b"sh").file("old", "o");
        let upper = Layer::default().file("hello", "world").file(".wh.old", "").symlink("bin/ash", "/bin/sh");
        layout(&self.folder.path().join(name), &[lower.end(), upper.end()], r#"{"Env": ["A=1"], "Cmd": ["sh"]}"#)
    }

    fn import(&self, folder: &Path, tag: Option<&str>) -> Result<Imported, ImageError> {
        let source = Source::Oci { folder: folder.to_owned(), tag: tag.map(str::to_owned) };
        self.store.import(&source, None, &mut |_| {})
    }

    fn left(&self, part: &str) -> usize {
        fs::read_dir(self.store.folder().join(part)).map_or(0, Iterator::count)
    }
}

fn named(text: &str) -> Source {
    Source::Named(Name::parse(text).unwrap())
}

#[test]
fn an_image_is_unpacked_once() {
    let place = Place::new();
    let folder = place.layout("hello");
    let imported = place.import(&folder, None).unwrap();
    assert!(imported.is_new);
    assert_eq!(imported.names, [Name::parse("hello:1.0").unwrap()]);
    assert!(!place.import(&folder, Some("1.0")).unwrap().is_new);
    let image = place.store.get(&named("hello:1.0"), &mut |_| {}).unwrap();
    assert_eq!(fs::read_to_string(image.folder.join("hello")).unwrap(), "world");
    assert!(!image.folder.join("old").exists());
    let record = image.record.unwrap();
    assert_eq!((record.config.cmd, record.entries, record.bytes), (vec!["sh".to_owned()], 6, 8));
    assert_eq!(fs::metadata(place.store.folder()).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!((place.left("trees"), place.left("staging")), (1, 0));
    // The same by its digests, and by its source.
    for digits in [record.id.to_string(), record.id.short(), record.manifest.unwrap().to_string()] {
        assert!(place.store.get(&Source::Digest(digits), &mut |_| {}).is_ok());
    }
    let by_source = place.store.get(&Source::Oci { folder, tag: None }, &mut |_| panic!("it is unpacked already"));
    assert_eq!(by_source.unwrap().record.unwrap().id, record.id);
}

/// To open a pipe would wait for whoever writes to it.
#[test]
fn pipes_are_no_images() {
    let place = Place::new();
    let pipe = |path: &Path| {
        let _ = fs::remove_file(path);
        let kind = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, path, kind, rustix::fs::Mode::RWXU, 0).unwrap();
    };
    let folder = place.layout("hello");
    for name in ["oci-layout", "index.json"] {
        let kept = fs::read(folder.join(name)).unwrap();
        pipe(&folder.join(name));
        let error = place.import(&folder, None).unwrap_err().to_string();
        assert!(error.contains("is no file"), "{name}: {error}");
        fs::remove_file(folder.join(name)).unwrap();
        fs::write(folder.join(name), kept).unwrap();
    }
    let archive = place.folder.path().join("archive.tar");
    pipe(&archive);
    let source = Source::DockerArchive { file: archive, name: None };
    let error = place.store.import(&source, None, &mut |_| {}).map(drop).unwrap_err().to_string();
    assert!(error.contains("is no file"), "{error}");
}

#[test]
fn programs_are_looked_for_in_the_image() {
    let place = Place::new();
    place.import(&place.layout("hello"), None).unwrap();
    let image = place.store.get(&named("hello:1.0"), &mut |_| {}).unwrap();
    let root = Root::open(&image.folder).unwrap();
    // An absolute link leads to a place in the image.
    assert_eq!(root.program("ash", "/usr/bin:/bin", "/").as_deref(), Some("/bin/ash"));
    assert_eq!(
        (root.program("hello", "/", "/"), root.program("./sh", "", "/bin").as_deref()),
        (None, Some("/bin/./sh"))
    );
    assert_eq!(root.programs("/bin:/none"), ["ash", "sh"]);
    assert_eq!(root.read(Path::new("/hello"), 3).unwrap().unwrap(), b"wor");
    assert_eq!(root.find("/../../../../etc/passwd"), None);
}

#[test]
fn an_image_goes_with_its_last_name() {
    let place = Place::new();
    let folder = place.layout("hello");
    place.import(&folder, None).unwrap();
    let source = Source::Oci { folder, tag: None };
    place.store.import(&source, Some(Name::parse("other").unwrap()), &mut |_| {}).unwrap();
    assert!(!place.store.remove(&named("other")).unwrap());
    let error = place.store.remove(&named("other")).unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no image `other:latest` here: `netloom image pull other:latest` fetches it from its registry; there are hello:1.0"
    );
    let used = place.store.get(&named("hello:1.0"), &mut |_| {}).unwrap();
    let used_by = place.store.remove(&named("hello:1.0")).unwrap_err();
    assert!(matches!(used_by, ImageError::InUse(_)), "{used_by}");
    drop(used);
    assert!(place.store.remove(&named("hello:1.0")).unwrap());
    assert_eq!((place.left("trees"), place.left("staging"), place.left("locks")), (0, 0, 0));
    let gone = place.store.get(&named("hello:1.0"), &mut |_| {}).unwrap_err().to_string();
    assert_eq!(
        gone,
        "there is no image `hello:1.0` here: `netloom image pull hello:1.0` fetches it from its registry; `netloom image import` takes one from a file or folder"
    );
}

#[test]
fn damage_is_found_by_digests_and_leaves_nothing() {
    let place = Place::new();
    let folder = place.layout("hello");
    let blobs: Vec<PathBuf> =
        fs::read_dir(folder.join("blobs/sha256")).unwrap().flatten().map(|entry| entry.path()).collect();
    assert_eq!(blobs.len(), 4);
    for blob in blobs {
        let good = fs::read(&blob).unwrap();
        let mut file = fs::File::options().read(true).write(true).open(&blob).unwrap();
        let middle = good.len() as u64 / 2;
        file.seek(SeekFrom::Start(middle)).unwrap();
        let mut byte = [0];
        file.read_exact(&mut byte).unwrap();
        file.seek(SeekFrom::Start(middle)).unwrap();
        file.write_all(&[byte[0] ^ 1]).unwrap();
        let error = place.import(&folder, None).unwrap_err().to_string();
        assert!(error.contains("is damaged") || error.contains("corrupt"), "{error}");
        fs::write(&blob, &good[1..]).unwrap();
        let shorter = place.import(&folder, None).unwrap_err().to_string();
        assert!(shorter.contains("is damaged: it has "), "{shorter}");
        fs::write(&blob, good).unwrap();
    }
    assert_eq!((place.left("trees"), place.left("staging")), (0, 0));
    assert!(place.import(&folder, None).unwrap().is_new);
}

#[test]
fn a_layer_that_is_not_what_the_configuration_says_is_refused() {
    let place = Place::new();
    let folder = place.layout("hello");
    let other = Layer::default().file("other", "").end();
    let file =
        archive(&place, &[("config.json", config(&[other], "{}").into_bytes()), ("layer.tar", Layer::default().end())]);
    let error =
        place.store.import(&Source::DockerArchive { file, name: None }, None, &mut |_| {}).unwrap_err().to_string();
    assert!(
        error.contains("layer.tar of docker-archive:") && error.contains("unpacked, its digest is sha256:"),
        "{error}"
    );
    assert!(folder.exists());
}

/// A file as `docker save` writes it.
fn archive(place: &Place, files: &[(&str, Vec<u8>)]) -> PathBuf {
    let manifest = r#"[{"Config": "config.json", "RepoTags": ["docker.io/library/saved:2"], "Layers": ["layer.tar"]}]"#;
    let text = |bytes: &[u8]| bytes.to_vec();
    let layer = files.iter().fold(Layer::default(), |layer, (name, bytes)| {
        layer.entry(name, tar::EntryType::Regular, 0o644, "", &text(bytes))
    });
    let path = place.folder.path().join("saved.tar");
    fs::write(&path, layer.file("manifest.json", manifest).end()).unwrap();
    path
}

#[test]
fn what_docker_saved_is_read_packed_or_not() {
    let place = Place::new();
    let layer = Layer::default().file("hello", "docker").end();
    let file = archive(
        &place,
        &[("config.json", config(std::slice::from_ref(&layer), "{}").into_bytes()), ("layer.tar", layer)],
    );
    let packed = place.folder.path().join("saved.tar.gz");
    fs::write(&packed, gzip(&fs::read(&file).unwrap())).unwrap();
    for (saved, is_new) in [(file, true), (packed, false)] {
        let source = Source::DockerArchive { file: saved.clone(), name: Some("saved:2".into()) };
        let imported = place.store.import(&source, None, &mut |_| {}).unwrap();
        assert_eq!((imported.is_new, imported.names), (is_new, vec![Name::parse("saved:2").unwrap()]));
        let other = Source::DockerArchive { file: saved, name: Some("saved:3".into()) };
        let error = place.store.import(&other, None, &mut |_| {}).unwrap_err().to_string();
        assert!(error.ends_with("has no image `saved:3`: there are docker.io/library/saved:2"), "{error}");
    }
}

#[test]
fn tags_that_are_not_there_are_named() {
    let place = Place::new();
    let folder = place.layout("hello");
    let error = place.import(&folder, Some("9")).unwrap_err().to_string();
    assert!(error.ends_with("has no image `9`: there are 1.0"), "{error}");
    let none = place.import(place.folder.path(), None).unwrap_err().to_string();
    assert!(none.ends_with("is no OCI layout: it has no file oci-layout"), "{none}");
    let nowhere = place.import(&place.folder.path().join("none"), None).unwrap_err().to_string();
    assert!(nowhere.contains("No such file"), "{nowhere}");
}

#[test]
fn what_a_killed_process_left_is_swept() {
    let place = Place::new();
    place.import(&place.layout("hello"), None).unwrap();
    let staged = place.store.folder().join("staging").join("ab".repeat(32));
    fs::create_dir_all(staged.join("closed")).unwrap();
    fs::write(staged.join("closed/file"), "x").unwrap();
    fs::set_permissions(staged.join("closed"), fs::Permissions::from_mode(0o500)).unwrap();
    // One that another process still works at stays.
    let busy = place.store.folder().join("staging").join("cd".repeat(32));
    fs::create_dir(&busy).unwrap();
    let lock = Lock::exclusive(&place.store.folder().join("locks").join("cd".repeat(32))).unwrap();
    let second = layout(&place.folder.path().join("second"), &[Layer::default().file("x", "").end()], "{}");
    place.import(&second, None).unwrap();
    assert!(!staged.exists() && busy.exists());
    drop(lock);
}

#[test]
fn two_at_once_unpack_it_once() {
    let place = Place::new();
    let folder = place.layout("hello");
    let new: Vec<bool> = std::thread::scope(|scope| {
        let import = || place.import(&folder, None).unwrap().is_new;
        let all: Vec<_> = (0..4).map(|_| scope.spawn(import)).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(new.iter().filter(|is_new| **is_new).count(), 1, "{new:?}");
}

#[test]
fn an_index_that_is_damaged_says_what_to_do() {
    let place = Place::new();
    place.import(&place.layout("hello"), None).unwrap();
    fs::write(place.store.folder().join("index.json"), "{").unwrap();
    let error = place.store.list().unwrap_err().to_string();
    assert!(error.ends_with("remove the folder that it is in, and import the images again"), "{error}");
}

/// A root file system in a folder.
fn root(home: &Path) -> PathBuf {
    let root = home.join("root");
    fs::create_dir_all(root.join("usr/bin")).unwrap();
    fs::write(root.join("usr/bin/tool"), "one").unwrap();
    fs::hard_link(root.join("usr/bin/tool"), root.join("usr/bin/same")).unwrap();
    fs::set_permissions(root.join("usr/bin/tool"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("usr/bin", root.join("bin")).unwrap();
    root
}

#[test]
fn a_folder_is_copied_once_and_packed_as_an_image() {
    let place = Place::new();
    let folder = root(place.folder.path());
    // What no copy has.
    let _socket = UnixListener::bind(folder.join("socket")).unwrap();
    let mut told = Vec::new();
    let record = place.store.copy(&folder, &mut |progress| told.push(progress)).unwrap();
    assert_eq!(told, [Progress::Folder { bytes: 6 }]);
    assert_eq!(place.store.copy(&folder, &mut |_| panic!("it is there")).unwrap(), record);
    let image = place.store.get(&Source::Digest(record.id.to_string()), &mut |_| {}).unwrap();
    assert_eq!(record.source, format!("rootfs:{}", folder.display()));
    fs::remove_file(folder.join("socket")).unwrap();
    assert_eq!(record.id, Digest::of_folder(&folder).unwrap());
    assert_eq!(record.id, Digest::of_folder(&image.folder).unwrap());
    assert!(place.store.list().unwrap().iter().all(|(names, _)| names.is_empty()));
    // To another cache, as any image.
    let file = place.folder.path().join("packed");
    place.store.pack(&Source::Digest(record.id.to_string()), &mut fs::File::create(&file).unwrap()).unwrap();
    let other = Store::at(&place.folder.path().join("other"), LIMITS);
    assert_eq!(other.take(&file, &mut |_| {}).unwrap().record.id, record.id);
    let there = other.get(&Source::Digest(record.id.to_string()), &mut |_| {}).unwrap();
    assert_eq!(record.id, Digest::of_folder(&there.folder).unwrap());
    // Another folder is another image.
    fs::write(folder.join("usr/bin/tool"), "two").unwrap();
    assert_ne!(place.store.copy(&folder, &mut |_| {}).unwrap().id, record.id);
}

#[test]
fn a_folder_that_changes_or_cannot_be_copied_is_refused_and_leaves_nothing() {
    let place = Place::new();
    let folder = root(place.folder.path());
    let tool = folder.join("usr/bin/tool");
    for change in ["longer", ""] {
        let error = place.store.copy(&folder, &mut |_| fs::write(&tool, change).unwrap()).unwrap_err();
        assert!(matches!(&error, ImageError::Changed(which) if *which == folder), "{error}");
        assert_eq!((place.left("trees"), place.left("staging")), (0, 0));
        fs::write(&tool, "one").unwrap();
    }
    let refused = |name: &str, size: usize| {
        fs::write(folder.join(name), "x".repeat(size)).unwrap();
        let error = place.store.copy(&folder, &mut |_| {}).unwrap_err();
        fs::remove_file(folder.join(name)).unwrap();
        assert!(matches!(error, ImageError::Unsuitable(_)), "{error}");
        error.to_string()
    };
    assert_eq!(refused("large", 50_000), "its files have more than 0.00005 GB");
    assert!(refused("usr/.wh.tool", 1).ends_with("usr/.wh.tool has a name by which images mark what is removed"));
    assert!(place.store.copy(&folder.join("none"), &mut |_| {}).is_err());
    assert_eq!((place.left("trees"), place.left("staging")), (0, 0));
}
