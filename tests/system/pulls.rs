//! Images from registries: a real one, and one that does what registries should not. All are on the loopback of a network namespace.

use crate::fixture::{Finished, Fixture, User, is_root};
use std::process::Command;

const REGISTRIES: &str = include_str!("pulls.sh");
const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/system");

/// Plays a script beside registries that have the image `tools`.
fn play(fixture: &Fixture, script: &str) -> Finished {
    let settings = r#"{"Cmd": ["sh"], "Env": ["PATH=/bin"]}"#;
    let mut made = Command::new("python3");
    made.arg(format!("{TESTS}/image.py")).arg(fixture.work().join("tools")).args([settings, "sh", "cat"]);
    assert!(made.status().unwrap().success());
    fixture.write(
        "play.sh",
        &format!("NETLOOM={}/netloom\nTESTS={TESTS}\n{REGISTRIES}\n{script}", fixture.path().display()),
    );
    let flags = if fixture.user() == User::Nobody || !is_root() { "-Urn" } else { "-n" };
    let played = fixture.run("unshare", &[flags, "bash", "play.sh"]);
    assert!(!played.stderr.contains("docker-registry"), "`scripts/install-deps services` installs it: {played:#?}");
    played
}

/// What an attempt to pull has said.
#[track_caller]
fn assert_said(played: &Finished, image: &str, code: i32, text: &str) {
    let begin = format!("{image}: {code}: ");
    assert!(
        played.stdout.lines().any(|line| line.starts_with(&begin) && line.contains(text)),
        "{begin}{text}: {played:#?}"
    );
}

#[test]
fn images_come_from_a_real_registry_once() {
    for user in User::all() {
        let fixture = Fixture::new(user).apart();
        let script = r#"
            python3 $TESTS/registry.py push tools localhost:5000 tools:1.0
            pull localhost:5000/tools:1.0
            id=$(cat out)
            pull localhost:5000/tools:single
            [ "$id" = "$(cat out)" ] && echo same
            $NETLOOM image remove localhost:5000/tools:1.0 localhost:5000/tools:single
            digest=$(sed 's/.*"digest": "\([^"]*\).*/\1/' tools/index.json)
            pull localhost:5000/tools@$digest --name own/tools:2
            $NETLOOM image list --json
            pull localhost:5000/none
            pull localhost:4999/tools
            pull no.such.host/tools
            echo left: $(ls $HOME/.cache/netloom/images/downloads $HOME/.cache/netloom/images/staging)
        "#;
        let played = play(&fixture, script).expect_code(0);
        assert_said(&played, "localhost:5000/tools:1.0", 0, "fetching layer 1 of 1");
        assert_said(&played, "localhost:5000/tools:1.0", 0, "localhost:5000/tools:1.0 fetched: ");
        assert_said(&played, "localhost:5000/tools:single", 0, "localhost:5000/tools:single in the cache already");
        assert!(played.stdout.contains("\nsame\n") && played.stdout.contains(r#""own/tools:2""#), "{played:#?}");
        assert_said(&played, "localhost:5000/none", 2, "localhost:5000 has no image `none` with `latest`");
        assert_said(&played, "localhost:4999/tools", 4, "ask localhost:4999: Connection refused");
        assert_said(&played, "no.such.host/tools", 4, "ask no.such.host: ");
        let left = format!("{0}/downloads: {0}/staging:", fixture.work().join(".cache/netloom/images").display());
        assert!(played.stdout.contains(&left), "{played:#?}");
        // What was pulled serves labs.
        fixture.write("lab.yaml", "nodes: {a: {image: 'own/tools:2', entrypoint: none}, b: {}}\nlinks: {l: {ends: [a, b]}}\nbounds: {lateness: 100 s}\ntimeline: [{on: a, run: cat /etc/os-release}]\n");
        fixture.netloom(&["run", "lab.yaml", "-q"]).expect_code(0);
    }
}

#[test]
fn credentials_are_those_of_docker() {
    let fixture = Fixture::new(User::Own).apart();
    let script = r#"
        python3 $TESTS/registry.py push tools localhost:5001 tools:1.0 tester:secret
        said() { mkdir -p $HOME/.docker; echo "$1" > $HOME/.docker/config.json; }
        pull localhost:5001/tools:1.0
        said '{"auths": {"localhost:5001": {"auth": "dGVzdGVyOndyb25n"}}}'
        pull localhost:5001/tools:1.0 --name wrong
        said '{"auths": {"localhost:5001": {"auth": "dGVzdGVyOnNlY3JldA=="}}}'
        pull localhost:5001/tools:1.0 --name auths
        said '{"credsStore": "own"}'
        printf '#!/bin/sh\n[ $1 = get ] && read server; echo "{\\"ServerURL\\": \\"$server\\", \\"Username\\": \\"tester\\", \\"Secret\\": \\"secret\\"}"\n' > docker-credential-own
        chmod +x docker-credential-own
        pull localhost:5003/token --name missing
        PATH=$PWD:$PATH pull localhost:5003/token --name helper
        said '{"auths": {"localhost:5003": {"identitytoken": "identity"}}}'
        $NETLOOM image remove helper
        pull localhost:5003/token --name identity
        said '{}'
        pull localhost:5003/token --name nobody
        pull localhost:5003/odd
        $NETLOOM image list
    "#;
    let played = play(&fixture, script).expect_code(0);
    let shut = "localhost:5001 shows `tools` only to users who log in, or has no such image: check the name, or `docker login localhost:5001`";
    assert_said(&played, "localhost:5001/tools:1.0", 2, shut);
    assert_said(
        &played,
        "localhost:5001/tools:1.0",
        2,
        "localhost:5001 does not let the password of tester pull `tools`",
    );
    assert_said(
        &played,
        "localhost:5003/token",
        2,
        "the program docker-credential-own, which keeps the credentials, is not in PATH",
    );
    for name in ["auths", "helper", "identity"] {
        assert!(played.stdout.contains(&format!("{name}:latest ")), "{name}: {played:#?}");
    }
    assert_said(&played, "localhost:5003/token", 2, "shows `token` only to users who log in");
    assert_said(
        &played,
        "localhost:5003/odd",
        4,
        "asks for a kind of credentials that netloom does not support: [\"Negotiate\"]",
    );
}

#[test]
fn certificates_count_on_this_machine_too() {
    let fixture = Fixture::new(User::Own).apart();
    let script = r"
        pull localhost:5002/tools
        SSL_CERT_FILE=$PWD/cert.pem pull localhost:5002/none
        ip addr add 192.0.2.1/32 dev lo
        pull 192.0.2.1:5003/tools
    ";
    let played = play(&fixture, script).expect_code(0);
    assert_said(&played, "localhost:5002/tools", 4, "its certificate cannot be trusted (");
    assert_said(&played, "localhost:5002/none", 2, "localhost:5002 has no image `none`");
    assert_said(&played, "192.0.2.1:5003/tools", 4, "ask 192.0.2.1:5003: Connection refused");
}

#[test]
fn nothing_that_a_registry_does_breaks_a_pull_or_keeps_it_waiting() {
    let fixture = Fixture::new(User::Own).apart();
    let script = r"
        wicked() { pull localhost:5003/$1 --patience 500ms; $NETLOOM image remove localhost:5003/$1 2> /dev/null || true; }
        for way in cut whole long away anyone flipped silent endless foreign huge page list other 404 429 500 418 open loop; do wicked $way; done
        echo kept: $(ls $HOME/.cache/netloom/images/downloads | wc -l)
    ";
    let played = play(&fixture, script).expect_code(0);
    for good in ["cut", "whole", "long", "away", "anyone"] {
        assert_said(&played, &format!("localhost:5003/{good}"), 0, "fetched: ");
    }
    // What `silent` has sent, which `open` and `loop` did not add to.
    assert!(played.stdout.contains("kept: 1\n"), "{played:#?}");
    for (way, code, text) in [
        ("flipped", 2, "is damaged: what the registry sends has the digest sha256:"),
        (
            "silent",
            4,
            "it has sent nothing for 0.5 s: try again later, or wait longer with `--patience`; what has come is kept for a day",
        ),
        ("endless", 4, "localhost:5003 sends more than 8000000 bytes as a manifest"),
        ("foreign", 2, "localhost:5003/foreign:latest is for linux/riscv9, and this machine is linux/"),
        ("huge", 2, "localhost:5003/huge:latest: its layers have more than 256000000000 bytes"),
        ("page", 2, "localhost:5003/page:latest is damaged: expected value"),
        ("list", 2, "localhost:5003/list:latest is for linux/riscv9, and this machine is linux/"),
        ("other", 2, "localhost:5003/other:latest is damaged: missing field"),
        ("404", 2, "has no image `404` with `latest`"),
        ("429", 4, "is asked too often (429)"),
        ("500", 4, "has an internal error (500)"),
        ("418", 4, "refuses to give `418`: it answers 418"),
        ("open", 4, "192.0.2.1 is to be asked without encryption, which happens on this machine alone"),
        ("loop", 4, "leads to other places more than 5 times"),
    ] {
        assert_said(&played, &format!("localhost:5003/{way}"), code, text);
    }
}
