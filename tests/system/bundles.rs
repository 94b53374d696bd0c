//! Results as one file, and repeated.

use crate::fixture::{Fixture, User, is_root, not_run};
use serde_json::Value;
use std::fs;
use std::path::Path;

const PAIR: &str = "
name: pair
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
figures: {echoes: l.forward.packets}
nodes: {a: {files: {/srv/hello: ../hello.txt}}, b: {}}
links: {l: {ends: [a, b], rate: 10 Mbit/s, delay: 5 ms}}
timeline: [{on: a, run: 'cat /srv/hello; ping -c 3 -i 0.1 b', as: ping, save: ping.txt}]
expect: [ping.exit == 0]
";

const VIRTUAL: &str = "
name: twins
clock: virtual
nodes: [a, b]
links: {l: {ends: [a, b], delay: 5 ms, forward: {loss: 20 %}}}
capture: [l]
timeline: [{on: a, run: 'ping -c 20 -i 0.1 b', as: ping, may_fail: true}]
";

fn bundle_of(fixture: &Fixture, results: &str, name: &str) -> String {
    fixture.netloom(&["bundle", results, "-o", name]).expect_code(0);
    name.to_owned()
}

#[test]
fn a_run_is_packed_unpacked_and_repeated() {
    for user in User::all() {
        let fixture = Fixture::new(user);
        fixture.write("hello.txt", "hello\n");
        fs::create_dir(fixture.work().join("labs")).unwrap();
        fs::write(fixture.work().join("labs/pair.yaml"), PAIR).unwrap();
        fixture.netloom(&["run", "labs/pair.yaml", "-q"]).expect_code(0);
        let provenance = fixture.json("pair", "provenance.json");
        let ping = &provenance["programs"][0];
        assert!(ping["digest"].as_str().is_some_and(|digest| digest.starts_with("sha256:")), "{provenance}");
        let first = bundle_of(&fixture, "results/pair/latest", "first.tar.zst");
        let second = bundle_of(&fixture, "results/pair/latest", "second.tar.zst");
        let read = |name: &str| fs::read(fixture.work().join(name)).unwrap();
        assert!(read(&first) == read(&second), "the same bytes");
        fixture.netloom(&["bundle", "--verify", &first]).expect_code(0);
        let listed = fixture.netloom(&["bundle", "--list", &first]).expect_code(0);
        assert!(listed.stdout.contains("ping.txt") && listed.stderr.contains("run `pair`"), "{listed:#?}");
        fixture.netloom(&["bundle", "--unpack", &first, "-o", "there"]).expect_code(0);
        fixture.netloom(&["results", "plot", "there"]).expect_code(0);
        // Nothing of it is needed any more.
        fs::remove_file(fixture.work().join("hello.txt")).unwrap();
        let again = fixture.netloom(&["rerun", &first, "--json", "--tolerance", "1000"]).expect_code(0);
        let found: Value = serde_json::from_str(&again.stdout).unwrap();
        assert_eq!((&found["same"], &found["by_bytes"]), (&true.into(), &false.into()), "{found}");
        assert!(found["figures"].as_array().unwrap().iter().any(|figure| figure["name"] == "echoes"), "{found}");
        let results = found["results"][0].as_str().unwrap().to_owned();
        let same = fixture.netloom(&["rerun", "there", "--with", &results, "--tolerance", "1000"]).expect_code(0);
        assert!(same.stdout.contains("run `pair` is repeated"), "{same:#?}");
        // It ends in the middle.
        fs::write(fixture.work().join("cut.tar.zst"), &read(&first)[..read(&first).len() / 2]).unwrap();
        let cut = fixture.netloom(&["bundle", "--verify", "cut.tar.zst"]).expect_code(6);
        assert!(cut.stderr.contains("cut.tar.zst is damaged at "), "{cut:#?}");
        fixture.assert_nothing_is_left("pair");
    }
}

#[test]
fn in_virtual_time_every_byte_is_the_same() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("twins.yaml", VIRTUAL);
    fixture.netloom(&["run", "twins.yaml", "-q", "--seed", "5"]).expect_code(0);
    let first = fs::canonicalize(fixture.latest("twins")).unwrap();
    let bundle = bundle_of(&fixture, "results/twins/latest", "twins.tar.zst");
    let same = fixture.netloom(&["rerun", &bundle]).expect_code(0);
    assert!(same.stdout.contains("the same, byte for byte"), "{same:#?}");
    assert!(!same.stderr.contains("not as it was then"), "{same:#?}");
    assert!(fixture.json("twins", "provenance.json")["node_kernel"]["digest"].is_string());
    // As if it came from a machine with another processor and another ping.
    fixture.netloom(&["bundle", "--unpack", &bundle, "-o", "elsewhere"]).expect_code(0);
    let place = fixture.work().join("elsewhere/provenance.json");
    let mut origin: Value = serde_json::from_slice(&fs::read(&place).unwrap()).unwrap();
    origin["processor"] = "Some Processor".into();
    origin["programs"][0]["digest"] = "sha256:00".into();
    fs::write(&place, origin.to_string()).unwrap();
    let told = fixture.netloom(&["rerun", "elsewhere"]).expect_code(0);
    for part in [
        "not as it was then: processor: then Some Processor, now ",
        "not as it was then: program ping: then sha256:00, now ",
    ] {
        assert!(told.stderr.contains(part), "{told:#?}");
    }
    fixture.netloom(&["run", "twins.yaml", "-q", "--seed", "6"]).expect_code(0);
    let other = fixture.netloom(&["rerun", &first.to_string_lossy(), "--with", "results/twins/latest"]).expect_code(1);
    assert!(other.stdout.contains("logs/01-a-ping.stdout differs from byte"), "{other:#?}");
    fixture.assert_nothing_is_left("twins");
}

#[test]
fn a_sweep_is_repeated_with_all_its_files() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("points.csv", "loss\n10 %\n30 %\n");
    let text = VIRTUAL.replace(
        "clock: virtual",
        "clock: virtual\nvary: {table: {csv: points.csv, paths: {loss: links.l.forward.loss}}}",
    );
    fixture.write("twins.yaml", &text);
    fixture.netloom(&["sweep", "twins.yaml", "-o", "out", "-q"]).expect_code(0);
    let bundle = bundle_of(&fixture, "out", "out.tar.zst");
    // Nothing of it is needed any more.
    fs::remove_dir_all(fixture.work().join("out")).unwrap();
    fs::remove_file(fixture.work().join("points.csv")).unwrap();
    let same = fixture.netloom(&["rerun", &bundle, "-o", "again"]).expect_code(0);
    assert!(same.stdout.contains("sweep `twins` is repeated") && same.stdout.contains("byte for byte"), "{same:#?}");
    assert!(fixture.work().join("again/twins-0001/points.csv").exists());
    fixture.assert_nothing_is_left("twins-0002");
}

/// Runs a command in a mount namespace in which FULL is a file system with room for a few hundred kilobytes.
fn with_little_room(fixture: &Fixture, script: &str) -> crate::fixture::Finished {
    let full = fixture.work().join("full");
    fs::create_dir_all(&full).unwrap();
    let netloom = fixture.path().join("netloom");
    let script = format!(
        "mount -t tmpfs -o size=400k none {full} && cd {work} && netloom={netloom} && {script}",
        full = full.display(),
        work = fixture.work().display(),
        netloom = netloom.display()
    );
    fixture.run("unshare", &["--mount", "sh", "-c", &script])
}

#[test]
fn a_full_disk_ends_runs_and_sweeps_cleanly() {
    if !is_root() {
        return not_run("a full disk, for which root mounts one");
    }
    let fixture = Fixture::new(User::Own);
    // Each run writes 150 kB.
    let text = "name: full\nbounds: {lateness: 100 s, starvation: 100 %, events: 100 s, starts: 100 s}\nvary: {n: [1, 2, 3, 4]}\n\
                nodes: [a]\ntimeline: [{on: a, run: 'head -c 150000 /dev/zero; exec true ${n}', as: fill}]\n";
    fixture.write("full.yaml", text);
    let swept = with_little_room(
        &fixture,
        "$netloom sweep full.yaml -o full/out -q; echo first=$?; mount -o remount,size=8M full; \
         $netloom sweep full.yaml -o full/out -q --resume; echo second=$?; grep -c complete full/out/sweep.json; \
         grep '\"complete\": true' full/out/sweep.json",
    );
    assert!(swept.stdout.contains("first=6"), "{swept:#?}");
    assert!(swept.stderr.contains("when there is room: netloom sweep full.yaml"), "{swept:#?}");
    assert!(swept.stdout.contains("second=0") && swept.stdout.contains("\"complete\": true"), "{swept:#?}");
    let ran = with_little_room(
        &fixture,
        "head -c 350000 /dev/zero > full/x; $netloom run full.yaml --results full/results -q; echo code=$?",
    );
    assert!(ran.stdout.contains("code=6"), "{ran:#?}");
    let packed = with_little_room(
        &fixture,
        "$netloom run full.yaml -q && head -c 1000000 /dev/urandom > results/full/latest/noise; \
         $netloom bundle results/full/latest -o full/x.tar.zst; echo code=$?; ls -A full",
    );
    assert!(packed.stdout.contains("code=6"), "{packed:#?}");
    assert!(!packed.stdout.contains("tar.zst") && !packed.stdout.contains(".bundle-"), "{packed:#?}");
    fixture.assert_nothing_is_left("full");
    assert!(!Path::new("/tmp/full").exists());
}
