//! Nodes whose file system is a container image, made of programs of this machine.

use crate::fixture::{Fixture, User, is_root, lab_of, not_run};
use crate::wait::wait_until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/system");

const LAB: &str = "
name: images
STACKbounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes:
  a:
    image: oci:tools:1.0
    env: {B: lab}
    ready: {file: /data/started}
    files: {/etc/app.conf: {text: configured}}
    volumes: [./shared:/mnt/shared, ./shared/one:/etc/one:ro]
  b: {image: tools:1.0, entrypoint: none}
  c: {}
links: {ab: {ends: [a, b], delay: 1 ms}, ac: {ends: [a, c], delay: 1 ms}}
timeline:
  - on: a
    as: look
    save: look
    run: |
      id -u; pwd; echo $A $B; cat /etc/os-release /etc/app.conf /etc/one /data/started /etc/hostname
      echo a > /mnt/shared/of-a; echo x > /etc/one || echo refused; echo own > /etc/own; ls /home
  - {on: b, run: [cat, /etc/own], as: other, may_fail: true, at: 200 ms}
  - {on: b, run: ping -c 1 a, as: ping}
  - {on: c, run: test -d /usr/share, as: machine}
";

const CONFIG: &str = r#"{"Env": ["A=image", "B=image", "PATH=/bin"], "Entrypoint": ["/bin/sh", "-c"],
    "Cmd": ["echo started > /data/started; exec sleep 1000"], "WorkingDir": "/data"}"#;

/// Makes the image, and what the lab shares with its node.
pub(crate) fn prepare(fixture: &Fixture, lab: &str) {
    fixture.write("images.yaml", lab);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/system/image.py");
    let programs = ["sh", "cat", "id", "ls", "ping", "sleep", "touch", "date", "env", "iperf3", "rm", "mkdir"];
    let layout = fixture.work().join("tools");
    let made = Command::new("python3").arg(script).arg(&layout).arg(CONFIG).args(programs).status().unwrap();
    assert!(made.success());
    let shared = fixture.work().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o777)).unwrap();
    fixture.write("shared/one", "one\n");
    fixture.netloom(&["image", "import", "oci:tools"]).expect_code(0);
}

fn assert_as_in_the_image(fixture: &Fixture) {
    let saved = fs::read_to_string(fixture.latest("images").join("look")).unwrap();
    assert_eq!(saved, "0\n/data\nimage lab\nID=image\nconfiguredone\nstarted\na\nrefused\napp\n");
    assert_eq!(fs::read_to_string(fixture.work().join("shared/of-a")).unwrap(), "a\n");
    let provenance = fixture.json("images", "provenance.json");
    let [a, b] = ["a", "b"].map(|node| provenance["images"][node]["id"].as_str().unwrap().to_owned());
    assert!(a.starts_with("sha256:") && a == b, "{provenance}");
    let report = fixture.json("images", "report.json");
    let row = report["commands"].as_array().unwrap().iter().find(|row| row["name"] == "image-a").unwrap();
    assert_eq!((&row["service"], &row["stopped"], &row["failed"]), (&true.into(), &true.into(), &false.into()));
}

#[test]
fn nodes_have_the_files_of_their_image_and_run_its_program() {
    for user in User::all() {
        let fixture = Fixture::new(user);
        prepare(&fixture, &LAB.replace("STACK", ""));
        for _ in 0..2 {
            let run = fixture.netloom(&["run", "images.yaml"]).expect_code(0);
            assert!(!run.stderr.contains("unpacking"), "{run:#?}");
            assert_as_in_the_image(&fixture);
            fixture.assert_nothing_is_left("images");
        }
        let listed = fixture.netloom(&["image", "list"]).expect_code(0);
        assert!(listed.stdout.contains("tools:1.0"), "{listed:#?}");
    }
}

/// What the kernel does for root, and for all since Linux 6.6, a program does here.
#[test]
fn images_are_shown_by_fuse_overlayfs_where_the_kernel_falls_short() {
    for user in User::all() {
        let mode = fs::metadata("/dev/fuse").map_or(0, |about| about.permissions().mode());
        if mode & if user == User::Own && is_root() { 0o600 } else { 0o006 } == 0 {
            not_run("images by fuse-overlayfs, which needs /dev/fuse");
            continue;
        }
        shown_by_fuse_overlayfs(&Fixture::new(user));
    }
}

fn shown_by_fuse_overlayfs(fixture: &Fixture) {
    prepare(fixture, &LAB.replace("STACK", ""));
    let netloom = |words: &[&str]| {
        let mut command = fixture.command(words);
        command.env("NETLOOM_OVERLAYS", "fuse-overlayfs");
        fixture.finish(command)
    };
    netloom(&["run", "images.yaml", "-q"]).expect_code(0);
    assert_as_in_the_image(fixture);
    fixture.assert_nothing_is_left("images");
    netloom(&["up", "images.yaml", "-q"]).expect_code(0);
    let line = "cat /proc/mounts; rm -r /home; mkdir /home; ls /home; mkdir /home/new";
    let inside = fixture.netloom(&["exec", "images", "a", "--", "sh", "-c", line]).expect_code(0);
    assert!(inside.stdout.starts_with("fuse-overlayfs / fuse.fuse-overlayfs "), "{inside:#?}");
    assert!(inside.stderr.is_empty() && !inside.stdout.contains("app"), "{inside:#?}");
    let listed = fixture.netloom(&["ps", "--json"]).expect_code(0);
    let labs: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
    let guard = i32::try_from(labs[0]["pid"].as_i64().unwrap()).unwrap();
    for pid in [Some(guard), lab_of(guard)].into_iter().flatten() {
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
    crate::kills::sweep(fixture, &[guard]);
    fixture.assert_nothing_is_left("images");
    let mut command = fixture.command(&["run", "images.yaml"]);
    command.env("NETLOOM_OVERLAYS", "fuse-overlayfs").env("PATH", "/nowhere");
    let without = fixture.finish(command).expect_code(4);
    assert!(without.stderr.contains("find fuse-overlayfs, which NETLOOM_OVERLAYS names"), "{without:#?}");
}

#[test]
fn a_lab_of_earlier_results_has_the_images_that_it_had() {
    let fixture = Fixture::new(User::Own);
    let lab = "name: images\nbounds: {lateness: 100 s, starts: 100 s}\nnodes: {a: {image: 'tools:1.0', entrypoint: none}, b: {}}\nlinks: {l: {ends: [a, b]}}\n\
               timeline: [{on: a, run: [cat, /etc/os-release], save: look}]\n";
    prepare(&fixture, lab);
    fixture.netloom(&["run", "images.yaml", "-q"]).expect_code(0);
    let had = fixture.json("images", "provenance.json")["images"]["a"]["id"].clone();
    let again = fs::canonicalize(fixture.latest("images")).unwrap().join("lab.yaml");
    // Another image takes the name.
    let script = format!("{TESTS}/image.py");
    let made = Command::new("python3").arg(script).arg(fixture.work().join("newer")).args(["{}", "sh", "cat"]).status();
    assert!(made.unwrap().success());
    fixture.netloom(&["image", "import", "oci:newer", "--name", "tools:1.0"]).expect_code(0);
    fixture.netloom(&["run", again.to_str().unwrap(), "-q"]).expect_code(0);
    assert_eq!(fixture.json("images", "provenance.json")["images"]["a"]["id"], had);
    fixture.netloom(&["run", "images.yaml", "-q"]).expect_code(0);
    assert_ne!(fixture.json("images", "provenance.json")["images"]["a"]["id"], had);
    fixture.netloom(&["image", "remove", had.as_str().unwrap()]).expect_code(0);
    let gone = fixture.netloom(&["run", again.to_str().unwrap(), "-q"]).expect_code(4);
    assert!(
        gone.stderr.contains("there is no image with the digest") && gone.stderr.contains("describes had this image"),
        "{gone:#?}"
    );
}

const VIRTUAL: &str = "
name: images
clock: CLOCK
nodes:
  s: {kind: switch}
  a: {image: tools:1.0, volumes: ['./shared:/mnt/shared:ro', './shared/one:/etc/one:ro'], files: {/etc/app.conf: {text: conf}}}
  b: {image: tools:1.0, entrypoint: none}
  c: {image: tools:1.0, command: ['exec iperf3 -s'], ready: {tcp: 5201}}
links:
  a: {ends: [a, s], rate: 100 Mbit/s, delay: 1 ms}
  b: {ends: [b, s], delay: 2 ms}
  c: {ends: [c, s], rate: 10 Mbit/s, delay: 3 ms, loss: 1 %}
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
timeline:
  - {on: a, run: ping -c 3 -i 0.1 b, as: ping, save: ping}
  - {on: a, run: 'pwd; cat /etc/os-release /etc/one /mnt/shared/one /etc/app.conf; echo x > /etc/own; date', as: look, save: look}
  - {on: b, run: 'cat /etc/own; iperf3 -c c -t 1', as: iperf, save: iperf}
";

fn saved(fixture: &Fixture) -> [String; 3] {
    ["ping", "look", "iperf"].map(|name| fs::read_to_string(fixture.latest("images").join(name)).unwrap())
}

#[test]
fn containers_in_virtual_time_say_the_same_twice() {
    for user in User::all() {
        let fixture = Fixture::with_kernel(user);
        prepare(&fixture, &VIRTUAL.replace("CLOCK", "virtual\nstart: 2030-01-01"));
        let [first, second] = [1, 2].map(|_| {
            fixture.netloom(&["run", "images.yaml", "-q"]).expect_code(0);
            saved(&fixture)
        });
        assert_eq!(first, second);
        let [ping, look, iperf] = first;
        assert!(ping.contains("3 received") && iperf.contains("iperf Done"), "{ping}{iperf}");
        assert!(look.starts_with("/data\nID=image\none\none\nconf") && look.contains("2030"), "{look}");
        fixture.assert_nothing_is_left("images");
    }
}

#[test]
fn containers_run_in_dilated_time() {
    let fixture = Fixture::with_kernel(User::Own);
    prepare(&fixture, &VIRTUAL.replace("CLOCK", "{dilation: 2}"));
    fixture.netloom(&["run", "images.yaml", "-q"]).expect_code(0);
    assert!(saved(&fixture)[1].starts_with("/data\nID=image\none\none\nconf"));
    fixture.assert_nothing_is_left("images");
}

#[test]
fn what_is_killed_leaves_neither_mounts_nor_a_hold_on_its_image() {
    for user in User::all() {
        let fixture = Fixture::new(user);
        prepare(&fixture, &LAB.replace("STACK", ""));
        fixture.netloom(&["up", "images.yaml", "-q"]).expect_code(0);
        let inside =
            fixture.netloom(&["exec", "images", "a", "--", "sh", "-c", "pwd; echo $HOME; ls /"]).expect_code(0);
        assert!(inside.stdout.starts_with("/data\n/root\n") && !inside.stdout.contains("usr\n"), "{inside:#?}");
        let held = fixture.netloom(&["image", "remove", "tools:1.0"]).expect_code(2);
        assert!(held.stderr.contains("is in use by a lab that is up"), "{held:#?}");
        let listed = fixture.netloom(&["ps", "--json"]).expect_code(0);
        let labs: serde_json::Value = serde_json::from_str(&listed.stdout).unwrap();
        let guard = i32::try_from(labs[0]["pid"].as_i64().unwrap()).unwrap();
        let lab = lab_of(guard);
        for pid in [Some(guard), lab].into_iter().flatten() {
            let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
        }
        crate::kills::sweep(&fixture, &[guard]);
        fixture.assert_nothing_is_left("images");
        // What the kernel kills, it ends a moment later.
        wait_until("an image that nobody holds", || fixture.netloom(&["image", "remove", "tools:1.0"]).code == Some(0));
        let trees = fixture.work().join(".cache/netloom/images/trees");
        assert_eq!(fs::read_dir(trees).unwrap().count(), 0);
    }
}

#[test]
fn what_an_image_lacks_is_told_before_the_lab_is_made() {
    for user in User::all() {
        let fixture = Fixture::new(user);
        prepare(&fixture, "");
        let wrong = |settings: &str, run: &str, expected: &str| {
            let text = format!(
                "nodes: {{a: {{{settings}}}, b: {{}}}}\nlinks: {{l: {{ends: [a, b]}}}}\ntimeline:\n  - {{on: a, run: {run}}}\n"
            );
            fixture.write("images.yaml", &text);
            let refused = fixture.netloom(&["run", "images.yaml"]).expect_code(4);
            assert!(refused.stderr.contains(expected), "{settings}: {refused:#?}");
            assert!(!fixture.latest("images").exists(), "nothing was made");
        };
        wrong(
            "image: debian:12",
            "ls",
            "images.yaml:1: key `image`: there is no image `debian:12` here: `netloom image pull debian:12` fetches it from its registry; there are tools:1.0",
        );
        wrong(
            "image: tools:1.0, entrypoint: [slep]",
            "ls",
            "key `entrypoint`: the entry point `slep` is not in tools:1.0: /bin has sleep, sh, ",
        );
        wrong(
            "image: tools:1.0",
            "[/bin/nginx]",
            "images.yaml:4: key `run`: the program `/bin/nginx` is not in tools:1.0: /bin has ",
        );
        wrong("image: tools:1.0, user: nobody-here", "ls", "the image has no user `nobody-here` in its /etc/passwd");
        // Programs that the kernel would call missing, or no programs.
        let unpacked = fixture.work().join("root/bin");
        fs::create_dir_all(&unpacked).unwrap();
        let mut foreign = fs::read("/bin/sh").unwrap();
        foreign[18..20].copy_from_slice(&[243, 0]);
        let sh = fs::read("/bin/sh").unwrap();
        for (name, contents) in [("foreign", &foreign[..]), ("linked", &sh), ("script", b"#!/usr/bin/perl -w\n")] {
            fs::write(unpacked.join(name), contents).unwrap();
            netloom_testing::programs::make_executable(&unpacked.join(name));
        }
        let own = "image: 'rootfs:root', entrypoint: none";
        wrong(own, "[foreign]", "the program `foreign` of rootfs:root cannot start: it is for the processor riscv64");
        wrong(own, "[/bin/linked]", "which the image does not have: it comes with the C library");
        wrong(own, "[script]", "its first line names /usr/bin/perl, which the image does not have");
        wrong("image: rootfs:tools", "/bin/sh", "rootfs:tools names no program to start: write `command`");
        if user == User::Nobody {
            let closed = fixture.work().join("closed");
            fs::create_dir(&closed).unwrap();
            fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
            wrong("image: tools:1.0, volumes: [./closed:/x]", "ls", "the volume /x: read ./closed: Permission denied");
        }
    }
}

#[test]
fn the_users_of_an_image_are_those_of_its_own_files() {
    let fixture = Fixture::new(User::Own);
    prepare(&fixture, "");
    let text =
        "name: images\nnodes: {a: {image: tools:1.0, user: app:others, command: ['id -u; id -g; echo $HOME; exec sleep 1000']}, b: {}}
links: {l: {ends: [a, b]}}\ntimeline:\n  - {on: a, run: 'id -un', user: app, as: named, save: named}\n";
    fixture.write("images.yaml", text);
    if !is_root() {
        return not_run("users of an image, which root has");
    }
    fixture.netloom(&["run", "images.yaml"]).expect_code(0);
    let logs = fixture.latest("images").join("logs");
    let log = fs::read_dir(logs).unwrap().flatten().map(|entry| entry.path());
    let own = log
        .filter(|path| path.to_string_lossy().contains("image-a.stdout"))
        .map(|path| fs::read_to_string(path).unwrap());
    assert_eq!(own.collect::<String>(), "1234\n1300\n/home/app\n");
    assert_eq!(fs::read_to_string(fixture.latest("images").join("named")).unwrap(), "app\n");
}

const ALONE: &str = "
name: images
STACKbounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes:
  a: {image: alone:1.0, collect: [/data], files: {/kept: {keep: true}}}
  b: {}
links: {l: {ends: [a, b]}}
timeline: [{on: a, at: 100 ms, run: [alone]}]
";

/// An image with one program that has no libraries, in a namespace and in a kernel of its own.
#[test]
fn files_leave_an_image_that_has_no_libraries() {
    for (user, stack) in User::all().into_iter().flat_map(|user| [(user, ""), (user, "clock: virtual\n")]) {
        let fixture = if stack.is_empty() { Fixture::new(user) } else { Fixture::with_kernel(user) };
        fixture.write("images.yaml", &ALONE.replace("STACK", stack));
        let [source, program] = ["alone.c", "alone"]
            .map(|name| if name.ends_with('c') { PathBuf::from(TESTS).join(name) } else { fixture.work().join(name) });
        assert!(Command::new("cc").args(["-static", "-o"]).arg(&program).arg(source).status().unwrap().success());
        let config = r#"{"Entrypoint": ["alone", "/data/out", "one", "two"], "Env": ["PATH=/bin"]}"#;
        let layout = fixture.work().join("only");
        let mut made = Command::new("python3");
        made.arg(format!("{TESTS}/image.py")).args([&layout]).arg(config).arg(&program);
        assert!(made.status().unwrap().success());
        fixture.netloom(&["image", "import", "oci:only", "--name", "alone:1.0"]).expect_code(0);
        fixture.netloom(&["run", "images.yaml", "-q"]).expect_code(0);
        let collected = fixture.latest("images").join("nodes/a/data/out");
        assert_eq!(fs::read_to_string(collected).unwrap(), "one\ntwo\n");
        let kept = fixture.latest("images").parent().unwrap().join("keep/a");
        assert_eq!(fs::read_dir(kept).unwrap().count(), 1);
        fixture.assert_nothing_is_left("images");
    }
}

#[test]
fn a_shell_is_one_of_the_image() {
    let fixture = Fixture::new(User::Own);
    prepare(&fixture, &LAB.replace("STACK", ""));
    fixture.netloom(&["up", "images.yaml", "-q"]).expect_code(0);
    let mut shell = fixture.command(&["shell", "images", "a"]);
    let mut shell = shell.env("SHELL", "/bin/bash").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    std::io::Write::write_all(&mut shell.stdin.take().unwrap(), b"pwd; cat /etc/os-release\n").unwrap();
    let output = shell.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "/data\nID=image\n");
    fixture.netloom(&["down", "images"]).expect_code(0);
}
