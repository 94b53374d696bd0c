use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn served() -> (tempfile::TempDir, LabFiles) {
    let root = tempfile::tempdir().unwrap();
    let inside = root.path().join("labs");
    fs::create_dir(&inside).unwrap();
    fs::write(root.path().join("secret.yaml"), "secret").unwrap();
    fs::write(inside.join("a.yaml"), "nodes: [a]\n").unwrap();
    let folder = LabFiles::open(&inside, &inside.canonicalize().unwrap().join("results")).unwrap();
    (root, folder)
}

#[test]
fn no_path_leads_out() {
    let (root, folder) = served();
    let inside = folder.path().to_owned();
    symlink("../secret.yaml", inside.join("link.yaml")).unwrap();
    symlink(root.path().join("secret.yaml"), inside.join("absolute.yaml")).unwrap();
    symlink("..", inside.join("up")).unwrap();
    symlink("/proc/self/root", inside.join("magic")).unwrap();
    let secret = root.path().join("secret.yaml");
    let paths = [
        "../secret.yaml",
        "a/../../secret.yaml",
        secret.to_str().unwrap(),
        "link.yaml",
        "absolute.yaml",
        "up/secret.yaml",
        "magic/etc/passwd",
        "",
        ".",
        "./a.yaml/..",
        "a\0.yaml",
    ];
    for path in paths {
        let refusal = folder.read(path).unwrap_err();
        let message = refusal.message();
        assert!(!refusal.is_missing(), "{path}: {message}");
        let is_refused = ["leads out", "leads over", "is no lab file"].iter().any(|why| message.contains(why));
        assert!(is_refused || path.is_empty(), "{path}: {message}");
        assert!(folder.write(path, "nodes: [x]", &Base::New).is_err(), "{path}");
    }
    assert_eq!(fs::read_to_string(secret).unwrap(), "secret");
}

#[test]
fn what_is_no_file_is_not_read() {
    let (_root, folder) = served();
    nix::unistd::mkfifo(&folder.path().join("pipe.yaml"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(folder.path().join("socket.yaml")).unwrap();
    fs::create_dir(folder.path().join("folder.yaml")).unwrap();
    fs::write(folder.path().join("bytes.yaml"), [0xff, 0xfe]).unwrap();
    File::create(folder.path().join("hole.yaml")).unwrap().set_len(1 << 40).unwrap();
    for (path, why) in [
        ("pipe.yaml", "not a file"),
        ("socket.yaml", "not a file"),
        ("folder.yaml", "not a file"),
        ("bytes.yaml", "not text"),
        ("hole.yaml", "longer than"),
        ("none.yaml", "there is no"),
    ] {
        assert!(folder.read(path).unwrap_err().message().contains(why), "{path}");
    }
    // Nor is anything put in its place as if nothing were there.
    for path in ["pipe.yaml", "socket.yaml", "folder.yaml", "bytes.yaml", "hole.yaml"] {
        let before = fs::metadata(folder.path().join(path)).unwrap();
        assert!(folder.write(path, "nodes: [x]", &Base::New).is_err(), "{path}");
        assert_eq!(fs::metadata(folder.path().join(path)).unwrap().ino(), before.ino(), "{path}");
    }
}

#[test]
fn a_text_is_written_only_on_what_it_is_based_on() {
    let (_root, folder) = served();
    let path = folder.path().join("a.yaml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let read = folder.read("a.yaml").unwrap();
    let written = folder.write("a.yaml", "nodes: [b]\n", &Base::On(read.etag.clone())).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "nodes: [b]\n");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    // Somebody else, on what was there before.
    let refusal = folder.write("a.yaml", "nodes: [c]\n", &Base::On(read.etag)).unwrap_err();
    assert!(refusal.message().contains("changed on disk"));
    assert!(folder.write("a.yaml", "nodes: [x]", &Base::New).is_err());
    fs::remove_file(&path).unwrap();
    assert!(folder.write("a.yaml", "nodes: [x]", &Base::On(written)).unwrap_err().message().contains("not on disk"));
    folder.write("a.yaml", "nodes: [x]", &Base::New).unwrap();
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["a.yaml"], "nothing else is left");
}

#[test]
fn a_link_is_not_replaced_by_a_file() {
    let (_root, folder) = served();
    symlink("a.yaml", folder.path().join("same.yaml")).unwrap();
    let etag = folder.read("a.yaml").unwrap().etag;
    assert!(folder.read("same.yaml").unwrap_err().message().contains("symbolic link"));
    for base in [Base::On(etag), Base::New] {
        let refusal = folder.write("same.yaml", "nodes: [x]", &base).unwrap_err();
        assert!(refusal.message().contains("symbolic link"), "{}", refusal.message());
    }
    assert!(fs::symlink_metadata(folder.path().join("same.yaml")).unwrap().is_symlink());
}

#[test]
fn what_is_listed_is_what_can_be_read_checked_and_written() {
    let (_root, folder) = served();
    let files = [
        ("deep/er/b.yml", "nodes: [b]", Some("lab")),
        ("deep/net.imn", "node n0 {", Some("imunes")),
        ("deep/python.json", "{\"nodes\": {}}", Some("lab")),
        ("empty.yaml", "", Some("lab")),
        (".hidden/c.yaml", "nodes: [c]", None),
        (".env", "PASSWORD=x", None),
        (".ssh/id_ed25519", "PRIVATE-KEY", None),
        (".bashrc", "alias x=y", None),
        ("results/star/lab.yaml", "nodes: [d]", None),
        ("results.json", "{\"nodes\": 1}", Some("lab")),
        ("package.json", "{\"dependencies\": {}}", None),
        ("secrets.yaml", "apiVersion: v1\nkind: Secret\n", None),
        ("a/b/c/d/e.yaml", "nodes: [e]", None),
        ("node_modules/x.yaml", "nodes: [f]", None),
        ("note.txt", "nodes: [g]", None),
    ];
    for (name, text, _) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    for _ in 0..2 {
        let (found, left_out) = folder.list();
        assert_eq!(left_out, 0);
        for (name, text, format) in files {
            let listed = found.iter().find(|one| one.path == name);
            assert_eq!(listed.map(|one| one.format), format, "{name}");
            assert_eq!(folder.read(name).is_ok(), format.is_some(), "{name}");
            let base = Base::On(etag(text));
            assert_eq!(folder.write(name, text, &base).is_ok(), format.is_some(), "{name}");
        }
        assert_eq!(found.len(), 1 + files.iter().filter(|(_, _, format)| format.is_some()).count());
    }
    for name in [".bashrc", ".profile", "new.txt", "run.sh", ".config/x.yaml", "results/x.yaml"] {
        let refusal = folder.write(name, "nodes: [x]", &Base::New).unwrap_err();
        assert!(refusal.message().contains("is no lab file"), "{name}: {}", refusal.message());
    }
    // What would be no lab file afterwards is not written into one.
    let tag = folder.read("a.yaml").unwrap().etag;
    assert!(folder.write("a.yaml", "alias ls=rm", &Base::On(tag)).is_err());
    // A file is looked into again when it has changed.
    fs::write(folder.path().join("empty.yaml"), "PASSWORD=longer\n").unwrap();
    assert!(!folder.list().0.iter().any(|one| one.path == "empty.yaml"));
}
