//! What netloom refuses: each with its exit code, a message that says what would be right, and nothing changed.

use crate::fixture::{Finished, Fixture, User, is_root};
use std::process::Command;

const PLAIN: &str = "name: plain\nbounds: {lateness: 100 s, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}\nnodes: [a, b]\nlinks: {l: {ends: [a, b]}}\n";

#[test]
fn a_wrong_command_line_is_two() {
    let fixture = Fixture::new(User::Own);
    fixture.write("plain.yaml", PLAIN);
    fixture.netloom(&["run"]).expect_code(2);
    fixture.netloom(&["run", "plain.yaml", "--precision", "perfect"]).expect_code(2);
    let named = fixture.netloom(&["run", "plain.yaml", "--name", "Not A Name"]).expect_code(2);
    assert!(named.stderr.contains("1 to 32 of a-z, 0-9 and -"), "{named:#?}");
}

#[test]
fn a_wrong_lab_file_is_three_and_names_the_place() {
    let fixture = Fixture::new(User::Own);
    fixture.write("wrong.yaml", "nodes: [a, b]\nlinks:\n  l: {ends: [a, c], rate: 100}\n");
    for command in ["check", "run", "up"] {
        let refused = fixture.netloom(&[command, "wrong.yaml"]).expect_code(3);
        assert!(refused.stderr.contains("wrong.yaml:3"), "{refused:#?}");
    }
    assert!(!fixture.work().join("results").exists());
    let missing = fixture.netloom(&["run", "missing.yaml"]).expect_code(3);
    assert!(missing.stderr.contains("missing.yaml"), "{missing:#?}");
}

#[test]
fn a_program_that_does_not_exist_is_four_before_anything_starts() {
    let fixture = Fixture::new(User::Own);
    fixture.write("absent.yaml", &format!("{PLAIN}timeline:\n  - {{on: a, run: no-such-program --now}}\n"));
    let refused = fixture.netloom(&["run", "absent.yaml"]).expect_code(4);
    assert!(refused.stderr.contains("absent.yaml:6: key `run`: program `no-such-program`"), "{refused:#?}");
    assert!(!fixture.work().join("results").exists());
}

#[test]
fn too_few_open_files_are_four_before_anything_is_made() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("plain.yaml", PLAIN);
        for command in ["run", "up"] {
            let refused = fixture.wrapped(&["prlimit", "--nofile=16:16"], &[command, "plain.yaml"]).expect_code(4);
            assert!(
                refused.stderr.contains("this lab needs 28 open files in one process at least, and 16 are allowed")
            );
        }
        assert!(!fixture.work().join("results/plain").exists());
        fixture.assert_nothing_is_left("plain");
        fixture.wrapped(&["prlimit", "--nofile=40:40"], &["up", "plain.yaml"]).expect_code(0);
        fixture.netloom(&["down"]).expect_code(0);
    }
}

#[test]
fn a_machine_that_allows_no_namespaces_is_four_and_is_told_what_to_enable() {
    for user in User::some() {
        if user == User::Own && is_root() {
            // Root needs no user namespaces.
            continue;
        }
        let fixture = Fixture::new(user);
        fixture.write("plain.yaml", PLAIN);
        // The limit belongs to a user namespace: inside one of our own it can be zero without touching the machine.
        let script = "echo 0 > /proc/sys/user/max_user_namespaces && \
                      exec setpriv --inh-caps=-all --ambient-caps=-all --bounding-set=-all \"$@\"";
        let refused = fixture.wrapped(
            &["unshare", "-U", "--map-current-user", "--keep-caps", "sh", "-c", script, "sh"],
            &["run", "plain.yaml"],
        );
        let refused = refused.expect_code(4);
        assert!(refused.stderr.contains("user.max_user_namespaces"), "{refused:#?}");
        fixture.assert_nothing_is_left("plain");
    }
}

#[test]
fn results_that_cannot_be_written_are_six() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("plain.yaml", PLAIN);
        let refused = fixture.netloom(&["run", "plain.yaml", "--results", "/proc/nowhere"]).expect_code(6);
        assert!(refused.stderr.contains("/proc/nowhere"), "{refused:#?}");
        fixture.assert_nothing_is_left("plain");
    }
}

/// Mounts a small file system over the results folder, in a mount namespace of its own, and fills it up to a rest.
fn with_disk(fixture: &Fixture, free_kilobytes: u32, lab: &str) -> Finished {
    let script = format!(
        "mkdir -p results && mount -t tmpfs -o size=1m tmpfs results && \
         head -c {} /dev/zero > results/filler && exec \"$@\"",
        (1024 - free_kilobytes) * 1024
    );
    let mut wrapper = vec!["unshare", "-m", "sh", "-c", &script, "sh"];
    let is_own_root = is_root() && fixture.user() == User::Own;
    if !is_own_root {
        wrapper.insert(1, "-r");
    }
    fixture.wrapped(&wrapper, &["run", lab])
}

#[test]
fn a_full_disk_is_six_before_anything_starts() {
    for user in User::some() {
        let fixture = Fixture::new(user);
        fixture.write("plain.yaml", PLAIN);
        let refused = with_disk(&fixture, 0, "plain.yaml").expect_code(6);
        assert!(refused.stderr.contains("No space left on device"), "{refused:#?}");
        fixture.assert_nothing_is_left("plain");
    }
}

#[test]
fn a_disk_that_gets_full_during_the_run_is_six() {
    let fixture = Fixture::new(User::Own);
    let filler =
        "timeline: [{on: a, run: head -c 2000000 /dev/zero, may_fail: true}, {on: a, run: ping -c 10 -i 0.1 b}]\n";
    fixture.write("filling.yaml", &format!("name: filling\nnodes: [a, b]\nlinks: {{l: {{ends: [a, b]}}}}\n{filler}"));
    let refused = with_disk(&fixture, 100, "filling.yaml").expect_code(6);
    assert!(refused.stderr.contains("No space left on device"), "{refused:#?}");
    fixture.assert_nothing_is_left("filling");
}

#[test]
fn a_lab_that_is_up_already_and_one_that_is_not_are_seven() {
    let fixture = Fixture::new(User::Own);
    fixture.write("plain.yaml", PLAIN);
    fixture.netloom(&["up", "plain.yaml", "-q"]).expect_code(0);
    for command in ["up", "run"] {
        let refused = fixture.netloom(&[command, "plain.yaml"]).expect_code(7);
        assert!(refused.stderr.contains("a lab named plain is already up"), "{refused:#?}");
    }
    fixture.netloom(&["run", "plain.yaml", "-q", "--name", "other"]).expect_code(0);
    let missing = fixture.netloom(&["exec", "plane", "a", "--", "true"]).expect_code(7);
    assert!(missing.stderr.contains("no lab `plane` is up; these are: plain"), "{missing:#?}");
    fixture.netloom(&["exec", "plain", "c", "--", "true"]).expect_code(7);
    fixture.netloom(&["set", "plain", "m", "delay=1 ms"]).expect_code(7);
    fixture.netloom(&["set", "plain", "l", "delay=1"]).expect_code(2);
    let small = "rate={kind: token-bucket, rate: 1 Mbit/s, burst: 100 B}";
    let refused = fixture.netloom(&["set", "plain", "l", small]).expect_code(2);
    assert!(refused.stderr.contains("never holds the tokens of the link's largest packet"), "{refused:#?}");
    fixture.netloom(&["down", "plain"]).expect_code(0);
    fixture.netloom(&["down", "plain"]).expect_code(7);
    fixture.assert_nothing_is_left("plain");
}

#[test]
fn the_exit_codes_are_documented_in_the_help() {
    let help =
        Finished::of(&Command::new(env!("CARGO_BIN_EXE_netloom")).args(["help", "exit-codes"]).output().unwrap());
    let help = help.expect_code(0);
    for code in ["0", "1", "2", "3", "4", "5", "6", "7", "8", "130"] {
        assert!(
            help.stdout.lines().any(|line| line.trim_start().starts_with(&format!("{code}  "))),
            "{code}: {help:#?}"
        );
    }
}

/// To open a pipe waits for whoever writes to it, and nobody does.
#[test]
fn pipes_are_refused_where_files_are_wanted() {
    let fixture = Fixture::new(User::Own);
    let pipe = |name: &str| {
        let path = fixture.work().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).unwrap();
        nix::unistd::mkfifo(&path, nix::sys::stat::Mode::S_IRWXU).unwrap();
    };
    for name in ["lab.yaml", "lab.tcl", "b.tar", "folder/provenance.json", "folder/report.json", "oci/index.json"] {
        pipe(name);
    }
    std::fs::write(fixture.work().join("oci/oci-layout"), r#"{"imageLayoutVersion":"1.0.0"}"#).unwrap();
    fixture
        .write("traced.yaml", "nodes: [a, b]\nlinks: {l: {ends: [a, b], rate: {kind: delivery-trace, file: b.tar}}}\n");
    let disk = "{disk: b.tar, format: raw, access: none}";
    fixture.write("disk.yaml", &format!("nodes: {{a: {{vm: {disk}}}, b: {{}}}}\nlinks: {{l: {{ends: [a, b]}}}}\n"));
    for arguments in [
        &["check", "lab.yaml"][..],
        &["run", "lab.yaml"],
        &["sim", "lab.yaml"],
        &["graph", "lab.yaml"],
        &["sweep", "lab.yaml"],
        &["convert", "lab.tcl"],
        &["check", "traced.yaml"],
        &["run", "disk.yaml"],
        &["packets", "b.tar"],
        &["bundle", "--list", "b.tar"],
        &["bundle", "folder"],
        &["rerun", "b.tar"],
        &["report", "folder"],
        &["journal", "b.tar"],
        &["image", "import", "docker-archive:b.tar", "--name", "x:1"],
        &["image", "import", "oci:oci:t", "--name", "x:1"],
        &["ui", "--share", "127.0.0.1", "--certificate", "b.tar", "--key", "b.tar"],
    ] {
        let refused = fixture.wrapped(&["timeout", "100"], arguments);
        assert!(!matches!(refused.code, None | Some(124)), "{arguments:?} waits: {refused:#?}");
        // A report of what can be read is one, too.
        assert!(refused.code != Some(0) || arguments[0] == "report", "{arguments:?}: {refused:#?}");
    }
}
