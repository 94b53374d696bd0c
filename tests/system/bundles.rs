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

/// A lab whose programs read much: libraries, modules, scripts, lists of folders, and files that are not to be given away.
const READERS: &str = "
name: readers
clock: virtual
nodes: {a: {files: {/srv/hello: hello.txt}}, b: {}, r: {kind: transit}}
links: {l: {ends: [a, r], delay: 5 ms, forward: {loss: 20 %}}, m: {ends: [r, b], rate: 10 Mbit/s}}
capture: [l]
timeline:
  - {on: a, run: 'ping -c 10 -i 0.1 b', as: ping, may_fail: true}
  - {on: b, run: 'python3 tool.py', as: python}
  - {on: a, run: 'cat /srv/hello /etc/hosts /etc/passwd; pwd; ls /usr/bin | LC_ALL=C sort | md5sum; head -c 8 /dev/urandom | od -x', as: shell}
";

/// Reads modules and a list of folders, and tells where it is.
const TOOL: &str = "
import email.message, json, os, random, socket, sys, time
print(json.dumps([sys.version, os.getcwd(), sorted(os.listdir('/etc'))[:5], random.random(), time.time(), socket.gethostbyname('a')]))
";

/// Runs netloom where the machine's root has nothing of it but what the dynamic linker loads for netloom and for the kernel of kernel nodes: no
/// programs, no modules, nothing else below `/usr` and `/etc`.
fn elsewhere(fixture: &Fixture, arguments: &str) -> crate::fixture::Finished {
    let script = format!(
        "set -e
         bare={root}/bare; mkdir -p $bare; mount --bind $bare $bare
         for folder in proc sys dev tmp etc run var old {root}; do mkdir -p $bare/$folder; done
         for folder in /proc /sys /dev; do mount --rbind $folder $bare$folder; done
         mount --bind {root} $bare{root}
         : > $bare/etc/hosts; : > $bare/etc/resolv.conf
         libraries() {{ ldd $* | grep -o '/[^ :]*[.]so[^ ]*' | sort -u; }}
         for library in $(libraries {root}/netloom {root}/linux); do
             mkdir -p $bare$(dirname $library); cp -L $library $bare$library
         done
         umount=$(command -v umount)
         path=$(for library in $(libraries $umount); do printf /old%s: $(dirname $library); done)
         cd $bare; pivot_root . old; LD_LIBRARY_PATH=$path /old$umount -l /old; cd /
         exec {root}/netloom {arguments}",
        root = fixture.path().display(),
    );
    fixture.run("unshare", &["--mount", "sh", "-c", &script])
}

#[test]
fn a_bundle_with_its_root_needs_no_programs() {
    for user in User::some() {
        let fixture = Fixture::with_kernel(user);
        for (name, text) in [("readers.yaml", READERS), ("hello.txt", "hello\n"), ("tool.py", TOOL)] {
            fixture.write(name, text);
        }
        fixture.netloom(&["run", "readers.yaml", "-q", "--seed", "5"]).expect_code(0);
        let recorded = fixture.json("readers", "machine-files.json");
        let has = |key: &str, name: &str| recorded[key].as_array().unwrap().iter().any(|found| found == name);
        let tool = fixture.work().join("tool.py");
        assert!(has("listed", "/usr/bin") && has("looked_at", tool.to_str().unwrap()), "{recorded}");
        fixture.netloom(&["bundle", "results/readers/latest", "-o", "with.tar.zst", "--with-root"]).expect_code(0);
        bundle_of(&fixture, "results/readers/latest", "without.tar.zst");
        fixture.netloom(&["bundle", "--verify", "with.tar.zst"]).expect_code(0);
        // Nothing of it is needed any more.
        for name in ["hello.txt", "tool.py"] {
            fs::remove_file(fixture.work().join(name)).unwrap();
        }
        let here = fixture.netloom(&["rerun", "with.tar.zst"]).expect_code(0);
        assert!(here.stdout.contains("the same, byte for byte"), "{here:#?}");
        assert!(!here.stderr.contains("not as it was then"), "{here:#?}");
        let again = ["bundle", "reruns/readers/latest", "-o", "again.tar.zst", "--with-root"];
        let again = fixture.netloom(&again).expect_code(2);
        assert!(again.stderr.contains("it ran with another root"), "{again:#?}");
        if is_root() && user == User::Own {
            repeats_elsewhere(&fixture, "ping");
        } else {
            not_run("a rerun on a machine without programs, for which root changes the root");
        }
        fixture.assert_nothing_is_left("readers");
    }
}

fn repeats_elsewhere(fixture: &Fixture, program: &str) {
    let rerun = |name: &str| {
        let work = fixture.work();
        elsewhere(fixture, &format!("rerun {0}/{name}.tar.zst -o {0}/{name}", work.display()))
    };
    let there = rerun("with").expect_code(0);
    assert!(there.stdout.contains("the same, byte for byte"), "{there:#?}");
    assert!(!there.stderr.contains(&format!("program {program}")), "{there:#?}");
    let lacking = rerun("without").expect_code(4);
    assert!(lacking.stderr.contains(&format!("program `{program}` is not on this machine")), "{lacking:#?}");
}

/// Two points, whose programs and scripts are others.
const SWEPT: &str = "
name: swept
clock: virtual
vary: {tool: [python3 one.py, bash two.sh]}
nodes: [a, b]
links: {l: {ends: [a, b], delay: 5 ms}}
timeline: [{on: a, run: '${tool}', as: tool}]
expect: [tool.exit == 0]
";

#[test]
fn a_sweep_with_its_root_needs_no_programs() {
    let fixture = Fixture::with_kernel(User::Own);
    for (name, text) in
        [("swept.yaml", SWEPT), ("one.py", TOOL), ("two.sh", "ping -c 2 -i 0.1 b; od -An -tx1 -N4 /dev/urandom\n")]
    {
        fixture.write(name, text);
    }
    fixture.netloom(&["sweep", "swept.yaml", "-o", "out", "-q"]).expect_code(0);
    fixture.netloom(&["bundle", "out", "-o", "with.tar.zst", "--with-root"]).expect_code(0);
    bundle_of(&fixture, "out", "without.tar.zst");
    // Nothing of it is needed any more.
    for name in ["one.py", "two.sh"] {
        fs::remove_file(fixture.work().join(name)).unwrap();
    }
    fs::remove_dir_all(fixture.work().join("out")).unwrap();
    let here = fixture.netloom(&["rerun", "with.tar.zst", "-o", "again"]).expect_code(0);
    assert!(here.stdout.contains("sweep `swept` is repeated") && here.stdout.contains("byte for byte"), "{here:#?}");
    fixture.netloom(&["rerun", "without.tar.zst", "-o", "lacking"]).expect_code(1);
    let again = ["bundle", "again/swept-0001", "-o", "again.tar.zst", "--with-root"];
    let again = fixture.netloom(&again).expect_code(2);
    assert!(again.stderr.contains("it ran with another root"), "{again:#?}");
    let mixed = ["sweep", "swept.yaml", "-o", "again/swept-0001", "--resume", "-q"];
    let mixed = fixture.netloom(&mixed).expect_code(2);
    assert!(mixed.stderr.contains("--root of the command line"), "{mixed:#?}");
    if is_root() {
        repeats_elsewhere(&fixture, "python3");
    } else {
        not_run("a rerun on a machine without programs, for which root changes the root");
    }
    fixture.assert_nothing_is_left("swept-0001");
    fixture.assert_nothing_is_left("swept-0002");
}

#[test]
fn only_what_kernel_nodes_read_is_known() {
    let fixture = Fixture::new(User::Own);
    fixture.write("pair.yaml", &PAIR.replace("../hello.txt", "hello.txt"));
    fixture.write("hello.txt", "hello\n");
    fixture.netloom(&["run", "pair.yaml", "-q"]).expect_code(0);
    let refused = fixture.netloom(&["bundle", "results/pair/latest", "-o", "x.tar.zst", "--with-root"]).expect_code(2);
    assert!(refused.stderr.contains("nothing says which files were read"), "{refused:#?}");
    assert!(
        fs::read_dir(fixture.work())
            .unwrap()
            .flatten()
            .all(|entry| !entry.file_name().to_string_lossy().contains("bundle"))
    );
    let unseen = fixture.netloom(&["run", "pair.yaml", "-q", "--root", "/usr"]).expect_code(4);
    assert!(unseen.stderr.contains("only kernel nodes see another root, and node a is none"), "{unseen:#?}");
    fixture.assert_nothing_is_left("pair");
}
