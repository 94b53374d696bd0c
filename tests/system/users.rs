//! Users and folders of commands.

use crate::fixture::{Finished, Fixture, User, is_root, not_run};
use std::fs;
use std::process::{Command, Stdio};

const LAB: &str = "
name: users
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
nodes: {a: {stack: STACK}, b: {stack: STACK}}
links: {l: {ends: [a, b]}}
timeline:
  - {on: a, run: 'id -un; id -gn; pwd; echo $HOME $USER', user: nobody, folder: /usr, as: who, save: who}
  - {on: b, run: 'id -u; id -G', user: 4711, as: number, save: number}
  - {on: b, run: sleep 60, as: asked, user: root, ready: {command: 'test $(pwd) = /usr'}, folder: /usr}
";

fn lab(stack: &str) -> String {
    LAB.replace("STACK", stack)
}

fn assert_users(fixture: &Fixture) {
    let saved = |name: &str| fs::read_to_string(fixture.latest("users").join(name)).unwrap();
    assert_eq!(saved("who"), "nobody\nnogroup\n/usr\n/nonexistent nobody\n");
    assert_eq!(saved("number"), "4711\n4711\n");
}

#[test]
fn commands_run_as_their_user_in_their_folder() {
    for (user, stack) in User::all().into_iter().zip(["namespace", "kernel"]) {
        let fixture = Fixture::with_kernel(user);
        fixture.write("users.yaml", &lab(stack));
        fixture.netloom(&["run", "users.yaml", "-q"]).expect_code(0);
        assert_users(&fixture);
        fixture.assert_nothing_is_left("users");
    }
}

#[test]
fn users_that_cannot_be_had_are_told_before_the_lab_is_made() {
    for user in User::all() {
        let fixture = Fixture::new(user);
        fixture.write("users.yaml", &lab("namespace").replace("user: root", "user: no-such-user"));
        let check = fixture.netloom(&["check", "users.yaml"]).expect_code(0);
        let run = fixture.netloom(&["run", "users.yaml"]).expect_code(4);
        let absent = "users.yaml:9: key `user`: user `no-such-user` is not on this machine";
        assert!(check.stderr.contains(absent) && run.stderr.contains(absent), "{check:#?} {run:#?}");
        let unmapped = "users.yaml:7: key `user`: user `nobody` cannot be had without root: ";
        assert_eq!(run.stderr.contains(unmapped), user == User::Nobody || !is_root(), "{run:#?}");
        assert!(!fixture.latest("users").exists(), "nothing was made");
    }
}

#[test]
fn a_folder_that_is_missing_is_told_when_its_command_starts() {
    let fixture = Fixture::new(User::Own).alone();
    let entry = "timeline:\n  - {on: a, run: pwd, folder: nowhere}\n";
    fixture.write("users.yaml", &format!("nodes: [a, b]\nlinks: {{l: {{ends: [a, b]}}}}\n{entry}"));
    let run = fixture.netloom(&["run", "users.yaml"]).expect_code(1);
    let place = "users.yaml:4: starting `pwd`: node a: no such directory: ";
    assert!(run.stderr.contains(place) && run.stderr.contains("/work/nowhere"), "{run:#?}");
}

/// What `newuidmap` may map is in /etc/subuid; the test has one of its own.
#[test]
fn an_ordinary_user_has_the_users_that_are_set_aside() {
    if !is_root() {
        not_run("users that are set aside: only root can do that");
        return;
    }
    let fixture = Fixture::new(User::Nobody).alone();
    fixture.write("users.yaml", &lab("namespace"));
    let set_aside = fixture.write("subids", "nobody:300000:65536\n");
    let script = "mount --bind $SUBIDS /etc/subuid && mount --bind $SUBIDS /etc/subgid && exec \
                  setpriv --reuid 65534 --regid 65534 --clear-groups $NETLOOM run users.yaml -q";
    let netloom = fixture.command(&[]);
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", script]).current_dir(fixture.work()).stdin(Stdio::null());
    command.env("NETLOOM", netloom.get_program()).env("SUBIDS", set_aside);
    command.env("HOME", fixture.work()).env("XDG_RUNTIME_DIR", fixture.path().join("runtime"));
    Finished::of(&command.output().unwrap()).expect_code(0);
    assert_users(&fixture);
    fixture.assert_nothing_is_left("users");
}

#[test]
fn a_program_of_a_lab_that_is_up_has_a_user_and_a_folder() {
    let fixture = Fixture::new(User::Own).alone();
    let lenient =
        "bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}";
    fixture.write("users.yaml", &format!("{lenient}\nnodes: [a, b]\nlinks: {{l: {{ends: [a, b]}}}}\n"));
    fixture.netloom(&["up", "users.yaml", "-q"]).expect_code(0);
    let exec = |arguments: &[&str]| fixture.netloom(&[&["exec"], arguments].concat());
    let root = exec(&["--user", "root", "--folder", "/usr", "users", "a", "--", "sh", "-c", "id -un; pwd"]);
    assert_eq!(root.expect_code(0).stdout, "root\n/usr\n");
    let absent = exec(&["--user", "no-such-user", "users", "a", "--", "true"]).expect_code(4);
    assert!(absent.stderr.contains("node a: no such user: no-such-user"), "{absent:#?}");
    let lost = exec(&["-f", "/no/folder", "users", "a", "--", "true"]).expect_code(4);
    assert!(lost.stderr.contains("node a: no such directory: /no/folder"), "{lost:#?}");
    fixture.netloom(&["down"]).expect_code(0);
}
