use super::*;
use crate::testing::{LIMITS, Layer};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use tar::{EntryType, Header};

mod hostile;

/// A folder for a tree, with something beside it that no layer may reach.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("root")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        fs::write(folder.path().join("outside/secret"), "untouched").unwrap();
        Self { folder }
    }

    fn root(&self) -> std::path::PathBuf {
        self.folder.path().join("root")
    }

    fn apply(&self, layers: Vec<Layer>) -> Result<Left, ImageError> {
        self.apply_within(layers, &LIMITS)
    }

    fn apply_within(&self, layers: Vec<Layer>, limits: &Limits) -> Result<Left, ImageError> {
        let root = self.root();
        let mut tree = Tree::new(&root)?;
        let mut applier = Applier::new(&mut tree, &root, limits);
        layers.into_iter().try_for_each(|layer| applier.apply(&layer.end()[..], "layer"))?;
        applier.finish().map(|(_, _, left)| left)
    }

    /// What is in the tree: folders end with `/`, links with what they lead to, files with what is in them.
    fn listed(&self) -> String {
        let mut all = BTreeMap::new();
        list(&self.root(), "", &mut all);
        let lines: Vec<String> = all.into_iter().map(|(name, what)| format!("{name}{what}")).collect();
        lines.join(" ")
    }

    fn is_untouched(&self) -> bool {
        let mut all = BTreeMap::new();
        list(&self.folder.path().join("outside"), "", &mut all);
        all == BTreeMap::from([("secret".to_owned(), "=untouched".to_owned())])
            && fs::read_dir(self.folder.path()).unwrap().count() == 2
    }
}

fn list(folder: &Path, prefix: &str, all: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        let about = fs::symlink_metadata(entry.path()).unwrap();
        if about.is_dir() {
            all.insert(name.clone(), "/".to_owned());
            list(&entry.path(), &format!("{name}/"), all);
        } else if about.is_symlink() {
            all.insert(name, format!(">{}", fs::read_link(entry.path()).unwrap().display()));
        } else if about.is_file() {
            all.insert(name, format!("={}", fs::read_to_string(entry.path()).unwrap()));
        } else {
            all.insert(name, "?".to_owned());
        }
    }
}

fn refusal(layers: Vec<Layer>) -> String {
    let place = Place::new();
    let error = place.apply(layers).unwrap_err().to_string();
    assert!(place.is_untouched(), "{error}");
    error
}

#[test]
fn layers_lie_on_one_another() {
    let place = Place::new();
    let first = Layer::default().folder("./").folder("a/").file("a/one", "1").file("a/two", "2").symlink("l", "a");
    // A folder that does not stand in the layer, a file in the place of another, one by a link, and a link in the place of a file.
    let second =
        Layer::default().file("b/c/deep", "d").file("a/one", "new").file("l/three", "3").symlink("a/two", "/a/one");
    place.apply(vec![first, second]).unwrap();
    assert_eq!(place.listed(), "a/ a/one=new a/three=3 a/two>/a/one b/ b/c/ b/c/deep=d l>a");
    assert_eq!(fs::metadata(place.root().join("a/one")).unwrap().mtime(), 1_000_000_000);
    assert_eq!(fs::metadata(place.root().join("a")).unwrap().mtime(), 1_000_000_000);
}

#[test]
fn whiteouts_hide_what_lower_layers_have() {
    let lower = || {
        Layer::default()
            .folder("a/")
            .file("a/one", "1")
            .file("a/two", "2")
            .folder("a/in/")
            .file("a/in/x", "x")
            .file("top", "t")
    };
    let cases = [
        (Layer::default().file("a/.wh.one", ""), "a/ a/in/ a/in/x=x a/two=2 top=t"),
        (Layer::default().file(".wh.a", ""), "top=t"),
        (Layer::default().file("a/.wh..wh..opq", ""), "a/ top=t"),
        // Whatever the layer itself brings stays, in either order.
        (Layer::default().file("a/new", "n").file("a/.wh..wh..opq", ""), "a/ a/new=n top=t"),
        (Layer::default().file("a/.wh..wh..opq", "").file("a/new", "n"), "a/ a/new=n top=t"),
        (Layer::default().folder("a/").file("a/in/y", "y").file(".wh.a", ""), "a/ a/in/ a/in/y=y top=t"),
        (Layer::default().file("top", "new").file(".wh.top", ""), "a/ a/in/ a/in/x=x a/one=1 a/two=2 top=new"),
        // A second name of a file, whose first name goes.
        (Layer::default().link("moved", "top").file(".wh.top", ""), "a/ a/in/ a/in/x=x a/one=1 a/two=2 moved=t"),
        (
            Layer::default().file("no/.wh.x", "").file(".wh.none", "").file(".wh..wh.plnk", ""),
            "a/ a/in/ a/in/x=x a/one=1 a/two=2 top=t",
        ),
    ];
    for (number, (upper, expected)) in cases.into_iter().enumerate() {
        let place = Place::new();
        place.apply(vec![lower(), upper]).unwrap();
        assert_eq!(place.listed(), expected, "case {number}");
    }
}

#[test]
fn a_folder_and_another_thing_take_each_others_place() {
    let place = Place::new();
    let lower = Layer::default().folder("a/").file("a/x", "1").symlink("b", "a").file("c", "2");
    let upper = Layer::default().file("a", "file").folder("b/").folder("c/").file("c/d", "3");
    place.apply(vec![lower, upper]).unwrap();
    assert_eq!(place.listed(), "a=file b/ c/ c/d=3");
}

#[test]
fn names_that_lead_upwards_are_refused() {
    for path in ["../outside/secret", "a/../../outside/x", ".."] {
        let error = refusal(vec![Layer::default().file(path, "x")]);
        assert_eq!(error, format!("`{path}` of the image is refused: its path leads upwards"));
    }
    let error = refusal(vec![Layer::default().file("a", "").link("b", "../outside/secret")]);
    assert_eq!(error, "`b` of the image is refused: its path leads upwards");
    assert!(refusal(vec![Layer::default().file(".wh...", "")]).ends_with("it is a whiteout without a name"));
    assert!(refusal(vec![Layer::default().file(".wh.", "")]).ends_with("it is a whiteout without a name"));
}

#[test]
fn absolute_names_count_from_the_image() {
    let place = Place::new();
    let outside = place.folder.path().join("outside");
    let path = format!("{}/x", outside.display());
    place.apply(vec![Layer::default().pax(&[("path", path.as_bytes())]).file("short", "x")]).unwrap();
    assert!(place.is_untouched());
    assert!(place.root().join(path.trim_start_matches('/')).is_file());
}

#[test]
fn links_lead_nowhere_but_into_the_image() {
    for target in ["../outside", "../../../../../../../../tmp", "/", "/outside", "../outside/secret"] {
        let place = Place::new();
        let escape = Layer::default().symlink("out", target);
        place.apply(vec![escape, Layer::default().file("out/x", "1").file("out/secret", "2")]).unwrap();
        assert!(place.is_untouched(), "{target}");
        // What the link names is made in the image, as it would be in the place of the root.
        assert!(place.listed().contains("secret=2"), "{target}: {}", place.listed());
    }
    let place = Place::new();
    let inner = place.folder.path().join("outside").display().to_string();
    let layers = vec![
        Layer::default().pax(&[("linkpath", inner.as_bytes())]).symlink("out", "x"),
        Layer::default().file("out/x", "1"),
    ];
    place.apply(layers).unwrap();
    assert!(place.is_untouched());
}

#[test]
fn whiteouts_take_nothing_away_outside() {
    let place = Place::new();
    let lower = Layer::default()
        .symlink("out", "../outside")
        .symlink("abs", &place.folder.path().join("outside").display().to_string());
    let upper = Layer::default().file("out/.wh.secret", "").file("out/.wh..wh..opq", "").file("abs/.wh.secret", "");
    place.apply(vec![lower, upper]).unwrap();
    assert!(place.is_untouched());
}

#[test]
fn hard_links_lead_to_files_of_the_image() {
    let place = Place::new();
    place
        .apply(vec![Layer::default().file("a", "1").link("b", "/a").link("a", "a"), Layer::default().link("c/d", "b")])
        .unwrap();
    assert_eq!(place.listed(), "a=1 b=1 c/ c/d=1");
    assert_eq!(fs::metadata(place.root().join("a")).unwrap().nlink(), 3);
    // By a link that leads out, it is looked for in the image.
    let error = refusal(vec![Layer::default().symlink("out", "../outside").link("x", "out/secret")]);
    assert_eq!(error, "`x` of the image is refused: it is a link to out/secret, which is not in the image");
    assert_eq!(
        refusal(vec![Layer::default().folder("a/").link("x", "a")]),
        "`x` of the image is refused: it is a link to a folder"
    );
}

#[test]
fn a_link_to_a_link_is_another_name_of_that() {
    let place = Place::new();
    place.apply(vec![Layer::default().symlink("s", "../outside/secret").link("t", "s")]).unwrap();
    assert!(fs::symlink_metadata(place.root().join("t")).unwrap().is_symlink());
    assert!(place.is_untouched());
}

#[test]
fn a_file_is_not_written_through_a_link() {
    let place = Place::new();
    let layer = Layer::default().symlink("out", "../outside/secret").file("out", "evil");
    place.apply(vec![layer]).unwrap();
    assert!(place.is_untouched());
    assert_eq!(place.listed(), "out=evil");
}

#[test]
fn circles_of_links_are_refused() {
    let error = refusal(vec![Layer::default().symlink("a", "b").symlink("b", "a").file("a/x", "")]);
    assert_eq!(error, "`a` of the image is refused: its links lead in a circle");
}

#[test]
fn devices_are_left_out() {
    let place = Place::new();
    let device = |layer: Layer, path: &str, kind| layer.entry(path, kind, 0o666, "", b"");
    let layer = device(Layer::default(), "dev/null", EntryType::Char);
    let layer = device(layer, "disk", EntryType::Block).entry("pipe", EntryType::Fifo, 0o600, "", b"");
    let left = place.apply(vec![layer]).unwrap();
    assert_eq!((left.devices, place.listed().as_str()), (2, "pipe?"));
}

#[test]
fn permissions_are_those_of_the_layer() {
    let place = Place::new();
    let layer = Layer::default()
        .entry("closed/", EntryType::Directory, 0o500, "", b"")
        .entry("closed/own", EntryType::Regular, 0o400, "", b"x")
        .entry("su", EntryType::Regular, 0o6755, "", b"x")
        .entry("sticky/", EntryType::Directory, 0o1777, "", b"");
    place.apply(vec![layer]).unwrap();
    let mode = |path: &str| fs::symlink_metadata(place.root().join(path)).unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode("closed"), mode("closed/own"), mode("sticky")), (0o500, 0o400, 0o1777));
    // Without owners, a program would lend the rights of whoever imported it.
    let is_root = rustix::process::geteuid().is_root();
    assert_eq!(mode("su"), if is_root { 0o6755 } else { 0o755 });
    fs::set_permissions(place.root().join("closed"), fs::Permissions::from_mode(0o700)).unwrap();
}

#[test]
fn owners_are_kept_where_that_can_be() {
    let place = Place::new();
    let mut header = Header::new_gnu();
    header.as_old_mut().name[..3].copy_from_slice(b"own");
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o600);
    header.set_uid(999);
    header.set_gid(998);
    header.set_size(0);
    header.set_mtime(0);
    let left = place.apply(vec![Layer::default().raw(header, b"")]).unwrap();
    let about = fs::metadata(place.root().join("own")).unwrap();
    if rustix::process::geteuid().is_root() {
        assert_eq!(((about.uid(), about.gid()), left.owners), ((999, 998), 0));
    } else {
        assert_eq!(((about.uid(), about.gid()), left.owners), ((rustix::process::geteuid().as_raw(), about.gid()), 1));
    }
}

#[test]
fn attributes_that_mean_something_to_overlays_are_left_out() {
    let place = Place::new();
    let records: [(&str, &[u8]); 4] = [
        ("SCHILY.xattr.trusted.overlay.opaque", b"y"),
        ("SCHILY.xattr.user.overlay.whiteout", b"y"),
        ("SCHILY.xattr.security.selinux", b"x"),
        ("SCHILY.xattr.system.posix_acl_access", b"x"),
    ];
    let layer = Layer::default().pax(&records).file("a", "1").pax(&records).folder("b/");
    assert_eq!(place.apply(vec![layer]).unwrap().attributes, 8);
    for name in ["a", "b"] {
        let mut names = [0; 256];
        let count = rustix::fs::listxattr(place.root().join(name), &mut names).unwrap_or(0);
        assert!(!String::from_utf8_lossy(&names[..count]).contains("overlay"), "{name}");
    }
}

#[test]
fn sparse_files_are_refused() {
    let layer = Layer::default().entry("huge", EntryType::GNUSparse, 0o644, "", b"");
    assert!(refusal(vec![layer]).starts_with("`huge` of the image is refused: it is a sparse file"));
    for key in ["GNU.sparse.major", "GNU.sparse.map", "GNU.sparse.realsize"] {
        let by_pax = Layer::default().pax(&[(key, b"1")]).file("huge", "x");
        assert!(refusal(vec![by_pax]).starts_with("`huge` of the image is refused: it is a sparse file"), "{key}");
    }
}

#[test]
fn entries_and_bytes_are_bounded() {
    let many = (0..LIMITS.entries + 1).fold(Layer::default(), |layer, number| layer.file(&format!("f{number}"), ""));
    assert!(refusal(vec![many]).contains("it is beyond the first 100, which are the most"), "in one layer");
    let half = || (0..60).fold(Layer::default(), |layer, _| layer.file("same", ""));
    assert!(refusal(vec![half(), half()]).contains("it is beyond the first 100"), "in all layers together");
    let large = "x".repeat(600_000);
    let error = refusal(vec![Layer::default().file("a", &large).file("b", &large)]);
    assert_eq!(
        error,
        "`b` of the image is refused: with it the image has more than 1000000 bytes, which are the most that it may have"
    );
}

#[test]
fn names_of_folders_are_bounded_together() {
    let long = |number: u32| format!("{}{number}", "n".repeat(240));
    let folders =
        (0..50).fold(Layer::default(), |layer, number| layer.pax(&[("path", long(number).as_bytes())]).folder("x/"));
    let limits = Limits { entries: 1_000, ..LIMITS };
    let error = Place::new().apply_within(vec![folders], &limits).unwrap_err().to_string();
    assert!(error.ends_with("the names of the image's folders are too long together"), "{error}");
}

#[test]
fn depth_is_bounded_even_by_links() {
    let deep = vec!["d"; 150].join("/");
    let deeper = format!("{}/x", vec!["d"; 300].join("/"));
    let error = refusal(vec![Layer::default().pax(&[("path", deeper.as_bytes())]).file("x", "")]);
    assert!(error.ends_with("its path has more than 4096 bytes or 200 folders"), "{error}");
    let first = Layer::default()
        .pax(&[("path", deep.as_bytes())])
        .folder("x/")
        .pax(&[("linkpath", deep.as_bytes())])
        .symlink("l", "x");
    let second = Layer::default().pax(&[("path", format!("l/{deep}").as_bytes())]).folder("x/");
    let limits = Limits { folder_names: 1_000_000, ..LIMITS };
    let by_links = Place::new().apply_within(vec![first, second], &limits).unwrap_err().to_string();
    assert!(by_links.ends_with("it is more than 200 folders deep"), "{by_links}");
}

#[test]
fn no_room_is_found_before_it_is_taken() {
    let limits = Limits { reserve: u64::MAX, ..LIMITS };
    let error = Place::new().apply_within(vec![Layer::default().file("a", "1")], &limits).unwrap_err();
    assert!(matches!(error, ImageError::NoRoom { wanted: 1, .. }), "{error}");
}

#[test]
fn the_root_is_a_folder_with_permissions_of_its_own() {
    let place = Place::new();
    place.apply(vec![Layer::default().entry("./", EntryType::Directory, 0o711, "", b"").file("a", "")]).unwrap();
    assert_eq!(fs::metadata(place.root()).unwrap().permissions().mode() & 0o777, 0o711);
    assert!(refusal(vec![Layer::default().file(".", "x")]).ends_with("the root of an image is a folder"));
    assert!(refusal(vec![Layer::default().symlink("/", "/tmp")]).ends_with("the root of an image is a folder"));
}
