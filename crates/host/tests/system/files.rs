//! What a node's file system has of its own.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use netloom_host::lab::LabOptions;
use netloom_host::node::{Contents, FileConfig, FilesConfig, Node, NodeConfig};
use tempfile::TempDir;

use crate::fixture::{in_lab_with, node, ok, options, sh};

/// A lab that has memory for files of its nodes.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        let folder =
            tempfile::Builder::new().prefix("netloom-files-").tempdir_in(std::env::var("HOME").unwrap()).unwrap();
        fs::create_dir(folder.path().join("memory")).unwrap();
        Self { folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn options(&self) -> LabOptions {
        LabOptions { memory: Some(self.at("memory")), ..options() }
    }

    fn node(&self, name: &str, entries: Vec<FileConfig>) -> NodeConfig {
        NodeConfig { files: FilesConfig { memory: Some(self.at("memory")), entries, image: None }, ..node(name) }
    }
}

fn entry(target: impl AsRef<Path>, contents: Contents) -> FileConfig {
    FileConfig { target: target.as_ref().to_owned(), contents, mode: None, owner: None }
}

pub(crate) fn what_a_node_writes_stays_in_it() {
    let home = Home::new();
    let own = home.at("own");
    fs::write(&own, "as it was").unwrap();
    let path = own.display();
    in_lab_with(&home.options(), |_| {
        let mut nodes = Node::create_all([home.node("a", vec![]), home.node("b", vec![]), node("c")]).unwrap();
        let [a, b, c] = &mut nodes[..] else { panic!("three were made") };
        ok(
            a,
            &format!(
                "echo changed > {path}; rm -rf /etc/hostname; echo new > /etc/netloom-test; mkdir -p /var/lib/netloom-test/x"
            ),
        );
        assert_eq!(ok(a, &format!("cat {path} /etc/netloom-test; ls /var/lib/netloom-test")), "changed\nnew\nx");
        assert_eq!(ok(b, &format!("cat {path}; ls /etc/netloom-test 2>/dev/null || true")), "as it was");
        assert_eq!(ok(c, &format!("cat {path}; ls /etc/netloom-test 2>/dev/null || true")), "as it was");
        // What is no file is as in every node.
        assert_eq!(
            ok(
                a,
                "cat /proc/self/status | grep -c NSpid; test -d /sys/class/net/lo && echo sys; echo x > /dev/null && echo dev"
            ),
            "1\nsys\ndev"
        );
        assert_eq!(ok(a, "echo x > /dev/shm/netloom-test; ls /dev/shm"), "netloom-test");
        // The node's init and the shell.
        assert_eq!(ok(a, "pwd; set -- /proc/[0-9]*; echo $#"), "/\n2");
        // The machine's root cannot be reached any more.
        assert!(!ok(a, "cat /proc/self/mountinfo").contains(&format!("{} ", home.at("memory/a").display())));
    });
    assert_eq!(fs::read_to_string(&own).unwrap(), "as it was");
    assert!(!Path::new("/etc/netloom-test").exists() && !Path::new("/dev/shm/netloom-test").exists());
    assert_eq!(fs::read_dir(home.at("memory")).unwrap().count(), 0, "memory is left to nobody");
}

pub(crate) fn files_are_where_they_are_put() {
    let home = Home::new();
    let source = home.at("so,u:r\\ce");
    fs::create_dir_all(source.join("deep")).unwrap();
    fs::write(source.join("deep/conf"), "from the source").unwrap();
    fs::set_permissions(&source, fs::Permissions::from_mode(0o750)).unwrap();
    let single = home.at("single");
    fs::write(&single, "one file").unwrap();
    fs::set_permissions(&single, fs::Permissions::from_mode(0o640)).unwrap();
    // A link of this machine leads the way in the node, too.
    symlink(home.at("real"), home.at("link")).unwrap();
    fs::create_dir(home.at("real")).unwrap();
    fs::write(home.at("real/hidden"), "").unwrap();
    let mode = FileConfig { mode: Some(0o700), ..entry("/srv/netloom/private", Contents::Empty) };
    let entries = vec![
        entry("/etc/netloom-frr", Contents::Copy(source.clone())),
        entry("/etc/netloom-frr/deep/more", Contents::Text("more".into())),
        entry("/etc/passwd", Contents::Text("root:x:0:0::/root:/bin/sh\nsomebody:x:0:0::/:/bin/sh\n".into())),
        entry(home.at("link"), Contents::Empty),
        entry("/run/netloom-test", Contents::Empty),
        mode,
        entry("/var/lib/netloom/some where/single", Contents::Copy(single)),
    ];
    in_lab_with(&home.options(), |_| {
        let mut a = Node::create(&home.node("a", entries.clone())).unwrap();
        assert_eq!(ok(&mut a, "cat /etc/netloom-frr/deep/conf; stat -c %a /etc/netloom-frr"), "from the source750");
        assert_eq!(ok(&mut a, "cat /etc/netloom-frr/deep/more; cut -d: -f1 /etc/passwd"), "moreroot\nsomebody");
        assert_eq!(ok(&mut a, "cd '/var/lib/netloom/some where'; cat single; stat -c %a single"), "one file640");
        assert_eq!(
            ok(&mut a, "stat -c %a /srv/netloom/private /run/netloom-test; ls -A /run/netloom-test"),
            "700\n755"
        );
        assert_eq!(ok(&mut a, &format!("ls -A {}", home.at("link").display())), "");
        ok(
            &mut a,
            "echo changed > /etc/netloom-frr/deep/conf; rm /etc/netloom-frr/deep/more; echo x > /run/netloom-test/pid",
        );
        ok(&mut a, "echo y >> /etc/passwd; mv /etc/passwd /etc/passwd-; mv /etc/passwd- /etc/passwd");
    });
    assert_eq!(fs::read_to_string(source.join("deep/conf")).unwrap(), "from the source");
    assert!(!source.join("deep/more").exists() && !Path::new("/var/lib/netloom").exists());
}

pub(crate) fn the_names_of_the_lab_stay() {
    let home = Home::new();
    let (hosts, etc) = (home.at("hosts"), home.at("etc"));
    fs::write(&hosts, "10.0.0.1 a\n").unwrap();
    fs::create_dir(&etc).unwrap();
    fs::write(etc.join("hosts"), "10.9.9.9 other\n").unwrap();
    let options = LabOptions { hosts_file: Some(hosts), ..home.options() };
    in_lab_with(&options, |_| {
        let configs = [
            home.node("plain", vec![]),
            home.node("folder", vec![entry("/etc", Contents::Copy(etc.clone()))]),
            home.node("named", vec![entry("/etc/hosts", Contents::Text("10.7.7.7 own\n".into()))]),
        ];
        let mut nodes = Node::create_all(&configs).unwrap();
        let seen: Vec<String> = nodes.iter_mut().map(|node| ok(node, "cat /etc/hosts")).collect();
        assert_eq!(seen, ["10.0.0.1 a", "10.0.0.1 a", "10.7.7.7 own"]);
        // Like any other file of a node's own.
        assert_eq!(ok(&mut nodes[0], "echo '10.0.0.2 b' >> /etc/hosts; cat /etc/hosts"), "10.0.0.1 a\n10.0.0.2 b");
    });
    assert_eq!(fs::read_to_string(etc.join("hosts")).unwrap(), "10.9.9.9 other\n");
}

pub(crate) fn what_cannot_be_put_is_told() {
    let home = Home::new();
    let absent = vec![entry("/etc/x", Contents::Copy(home.at("absent")))];
    let owner = vec![FileConfig { owner: Some("no-such-user".into()), ..entry("/run/x", Contents::Empty) }];
    let folder = vec![entry("/usr", Contents::Text("a file in the place of a folder".into()))];
    in_lab_with(&home.options(), |_| {
        let refused = |name: &str, entries: &[FileConfig]| {
            Node::create(&home.node(name, entries.to_vec())).unwrap_err().to_string()
        };
        let of_source = refused("a", &absent);
        assert!(of_source.contains("absent, for /etc/x: No such file or directory"), "{of_source}");
        let of_owner = refused("b", &owner);
        assert!(
            of_owner.contains("give /run/x to user no-such-user: no such user in the node's /etc/passwd"),
            "{of_owner}"
        );
        let of_folder = refused("c", &folder);
        assert!(of_folder.starts_with("node c: make /usr of the node: "), "{of_folder}");
        assert!(sh(&mut Node::create(&home.node("d", vec![])).unwrap(), "true").0.success());
    });
}
