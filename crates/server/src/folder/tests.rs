use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn served() -> (tempfile::TempDir, Folder) {
    let root = tempfile::tempdir().unwrap();
    let inside = root.path().join("labs");
    fs::create_dir(&inside).unwrap();
    fs::write(root.path().join("secret.yaml"), "secret").unwrap();
    fs::write(inside.join("a.yaml"), "nodes: [a]\n").unwrap();
    let folder = Folder::open(&inside).unwrap();
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
        assert!(refusal.message().contains("leads out") || path.is_empty(), "{path}: {}", refusal.message());
        assert!(folder.write(path, "x", &Base::New).is_err(), "{path}");
    }
    assert_eq!(fs::read_to_string(secret).unwrap(), "secret");
}

#[test]
fn what_is_no_file_is_not_read() {
    let (_root, folder) = served();
    nix::unistd::mkfifo(&folder.path().join("pipe.yaml"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    fs::create_dir(folder.path().join("folder.yaml")).unwrap();
    fs::write(folder.path().join("bytes.yaml"), [0xff, 0xfe]).unwrap();
    File::create(folder.path().join("hole.yaml")).unwrap().set_len(1 << 40).unwrap();
    for (path, why) in [
        ("pipe.yaml", "not a file"),
        ("folder.yaml", "not a file"),
        ("bytes.yaml", "not text"),
        ("hole.yaml", "longer than"),
        ("none.yaml", "there is no"),
    ] {
        assert!(folder.read(path).unwrap_err().message().contains(why), "{path}");
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
    assert!(folder.write("a.yaml", "x", &Base::New).is_err());
    fs::remove_file(&path).unwrap();
    assert!(folder.write("a.yaml", "x", &Base::On(written)).unwrap_err().message().contains("not on disk"));
    folder.write("a.yaml", "x", &Base::New).unwrap();
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["a.yaml"], "nothing else is left");
}

#[test]
fn a_link_is_not_replaced_by_a_file() {
    let (_root, folder) = served();
    symlink("a.yaml", folder.path().join("same.yaml")).unwrap();
    let read = folder.read("same.yaml").unwrap();
    assert!(folder.write("same.yaml", "x", &Base::On(read.etag)).unwrap_err().message().contains("symbolic link"));
}

#[test]
fn lab_files_are_listed_and_nothing_else() {
    let (_root, folder) = served();
    for name in ["deep/er/b.yml", "deep/net.imn", ".hidden/c.yaml", "results/star/lab.yaml", "note.txt"] {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    let (found, left_out) = folder.list(&folder.path().join("results"));
    let shown: Vec<(&str, &str)> = found.iter().map(|one| (one.path.as_str(), one.format)).collect();
    assert_eq!(shown, [("a.yaml", "lab"), ("deep/er/b.yml", "lab"), ("deep/net.imn", "imunes")]);
    assert_eq!(left_out, 0);
}
