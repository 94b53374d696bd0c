//! Files of nodes: what is put into them, what is kept, and what is collected.

use crate::fixture::{Fixture, User, is_root, not_run};
use crate::wait::wait_until;
use std::fs;
use std::os::unix::fs::PermissionsExt;

const LAB: &str = "
name: files
clock: CLOCK
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes:
  a:
    stack: STACK
    files:
      /etc/service: ./service
      /etc/service/name: {text: a}
      /run/service: empty
      /var/lib/service: {keep: true}
    collect: [/var/log/service/*.log, /var/lib/service, /nothing/*]
  b: {stack: STACK, root: overlay}
links: {l: {ends: [a, b]}}
timeline:
  - {on: a, run: 'touch /run/service/ready; exec sleep 60', as: service, ready: {file: /run/service/ready}}
  - on: a
    as: work
    save: work
    run: |
      cat /etc/service/conf /etc/service/name; echo >> /etc/service/conf
      cat /var/lib/service/runs 2>/dev/null; echo run >> /var/lib/service/runs; ln -sf runs /var/lib/service/link
      chmod 600 /var/lib/service/runs; mkfifo /var/lib/service/fifo 2>/dev/null
      mkdir -p /var/log/service; echo logged > /var/log/service/1.log; echo no > /var/log/service/2.txt
      printf x > \"/var/log/service/odd
      name.log\"; ln -s /etc/passwd /var/log/service/link.log; mkdir /var/log/service/deep.log
      (trap '' HUP; while sleep 0.01; do echo x > /var/log/service/daemon.log; done) > /dev/null 2>&1 &
  - {on: b, run: echo b > HERE/written; cat HERE/written, as: write, save: write}
";

fn lab(fixture: &Fixture, clock: &str, stack: &str) -> String {
    LAB.replace("CLOCK", clock).replace("STACK", stack).replace("HERE", &fixture.work().display().to_string())
}

fn prepare(fixture: &Fixture, clock: &str, stack: &str) {
    fixture.write("files.yaml", &lab(fixture, clock, stack));
    fs::create_dir(fixture.work().join("service")).unwrap();
    fixture.write("service/conf", "configured\n");
    fs::set_permissions(fixture.work().join("service"), fs::Permissions::from_mode(0o777)).unwrap();
}

/// Runs the lab twice, the second time with what the first has kept.
fn play_twice(fixture: &Fixture) {
    let saved = |name: &str| fs::read_to_string(fixture.latest("files").join(name)).unwrap();
    for so_far in ["", "run\n"] {
        let run = fixture.netloom(&["run", "files.yaml"]).expect_code(0);
        assert_eq!(saved("work"), format!("configured\na{so_far}"));
        assert_eq!(saved("write"), "b\n");
        let nodes = fixture.latest("files").join("nodes");
        let read = |name: &str| fs::read_to_string(nodes.join("a").join(name)).ok();
        assert_eq!(read("var/log/service/1.log").as_deref(), Some("logged\n"));
        assert_eq!(read("var/log/service/odd\nname.log").as_deref(), Some("x"));
        assert_eq!(read("var/lib/service/runs"), Some(format!("{so_far}run\n")));
        assert!(read("var/log/service/2.txt").is_none() && read("var/log/service/link.log").is_none());
        assert!(nodes.join("a/var/log/service/deep.log").is_dir());
        let notes =
            ["/nothing/* matches nothing", "/var/log/service/link.log is left out: a link", "fifo is left out: a FIFO"];
        notes
            .iter()
            .for_each(|note| assert!(run.stdout.contains(note) || run.stderr.contains(note), "{note}: {run:#?}"));
        let names: Vec<_> = fs::read_dir(&nodes).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(names, ["a"], "nothing but what was collected");
        fixture.assert_nothing_is_left("files");
        assert!(fixture.runtime_files().is_empty());
    }
    assert_eq!(
        fs::read_to_string(fixture.work().join("service/conf")).unwrap(),
        "configured\n",
        "the source is as it was"
    );
    assert!(!fixture.work().join("written").exists(), "the machine's files are as they were");
    assert!(fixture.latest("files").join("files/service/conf").is_file(), "the source is in the results");
    assert!(fixture.work().join("results/files/keep/a/var/lib/service.tar").is_file());
}

#[test]
fn a_namespace_node_has_files_of_its_own() {
    for user in User::all() {
        let fixture = Fixture::new(user);
        prepare(&fixture, "real", "namespace");
        play_twice(&fixture);
    }
}

#[test]
fn a_kernel_node_has_files_of_its_own_on_every_clock() {
    for (user, clock) in User::all().into_iter().zip(["real", "virtual"]) {
        let fixture = Fixture::with_kernel(user);
        prepare(&fixture, clock, "kernel");
        play_twice(&fixture);
    }
}

/// A node's files are in memory that ends with it: whoever is killed, nobody has to remove them.
/// As on a machine whose root runs containers: something is mounted below a folder that only root may look into.
#[test]
fn mounts_that_the_user_may_not_look_at_are_in_nobodys_way() {
    if !is_root() {
        return not_run("a lab beside mounts that only root may look at, which only root can make");
    }
    let fixture = Fixture::new(User::Nobody);
    let lab = "bounds: {starts: 60 s, events: 10 s, lateness: 10 s}
nodes: {a: {root: overlay}, b: {}}
links: {l: {ends: [a, b]}}
timeline: [{on: a, run: 'cat /srv/open; ls -A /srv/closed; echo changed > /srv/open; cat /srv/open', as: look}]
";
    fixture.write("closed.yaml", lab);
    let results = fixture.work().join("results");
    let script = format!(
        "mount -t tmpfs none /srv && mkdir -m 700 /srv/closed && mkdir /srv/closed/in && \
         mount -t tmpfs none /srv/closed/in && echo open > /srv/open && chmod 666 /srv/open && \
         exec setpriv --reuid 65534 --regid 65534 --clear-groups {} run closed.yaml -q --results {}",
        fixture.path().join("netloom").display(),
        results.display(),
    );
    // In a mount namespace of its own, with which all of this goes; only root can make it.
    let mut command = std::process::Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-c", &script]).current_dir(fixture.work());
    command.env("XDG_RUNTIME_DIR", fixture.path().join("runtime")).env("HOME", fixture.work());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let log = fs::read_to_string(fixture.latest("closed").join("logs/01-a-look.stdout")).unwrap();
    assert_eq!(log, "open\nchanged\n");
    fixture.assert_nothing_is_left("closed");
}

#[test]
fn a_killed_lab_leaves_no_files() {
    let fixture = Fixture::new(User::Own);
    let node = "nodes: {a: {files: {/run/service: empty}}, b: {}}\nlinks: {l: {ends: [a, b]}}\n";
    fixture.write("killed.yaml", &format!("{node}timeline: [{{on: a, run: 'touch /run/service/x; sleep 60'}}]\n"));
    let mut child = fixture.command(&["run", "killed.yaml", "-q"]).spawn().unwrap();
    let events = fixture.latest("killed").join("events.jsonl");
    wait_until("a program", || fs::read_to_string(&events).is_ok_and(|text| text.contains("started")));
    let killed: Vec<i32> = fixture.processes();
    for pid in &killed {
        // It may have ended with another.
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(*pid), nix::sys::signal::Signal::SIGKILL);
    }
    child.wait().unwrap();
    crate::kills::sweep(&fixture, &killed);
    fixture.assert_nothing_is_left("killed");
    assert!(fixture.runtime_files().is_empty(), "{:?}", fixture.runtime_files());
}
