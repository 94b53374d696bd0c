//! The labs of `examples/services`: services that run several times on one machine. In virtual time, so that no load of the
//! machine makes a difference, and as an ordinary user.

use crate::fixture::{Fixture, User, is_left_to_test_all, is_root, not_run};
use crate::virtual_time::{assert_same, results};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs an example whose nodes of this anchor get as much memory as its service needs in a kernel of its own.
fn play(name: &str, anchor: &str, memory: &str) -> Fixture {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/services");
    let text = fs::read_to_string(folder.join(format!("{name}.yaml"))).unwrap();
    let wanted = format!("{anchor}\n    memory: {memory}\n");
    let with_memory = text.replace(&format!("{anchor}\n"), &wanted);
    assert!(with_memory.contains(&wanted), "nodes like {anchor} in {name}.yaml");
    fixture.write(&format!("{name}.yaml"), &with_memory);
    if let Ok(files) = fs::read_dir(folder.join(name)) {
        fs::create_dir(fixture.work().join(name)).unwrap();
        for file in files.flatten() {
            fs::copy(file.path(), fixture.work().join(name).join(file.file_name())).unwrap();
        }
    }
    let file = format!("{name}.yaml");
    let run = fixture.netloom(&["run", &file, "--clock", "virtual", "--wall-limit", "200s"]);
    assert!(!run.stderr.contains("not on this machine"), "`scripts/install-deps services` installs it: {run:#?}");
    let run = run.expect_code(0);
    assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
    fixture.assert_nothing_is_left(name);
    fixture
}

#[test]
fn frr_finds_the_way_around_a_cut() {
    let fixture = play("frr", "r1: &router", "128 MB");
    assert!(fixture.latest("frr").join("nodes/r1/var/log/frr/ospfd.log").exists());
}

#[test]
fn etcd_goes_on_without_one_of_its_members() {
    play("etcd", "e1: &member", "512 MB");
}

#[test]
fn redis_chooses_another_primary() {
    play("redis", "r1: &redis", "256 MB");
}

#[test]
fn postgresql_copies_to_its_standbys() {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    if versions.filter(|version| version.path().join("bin/initdb").exists()).count() == 0 {
        not_run("the example of PostgreSQL: it is not on this machine (package postgresql)");
        return;
    }
    play("postgresql", "db1: &server", "512 MB");
}

/// Three containers, of which the leader is cut off. Go's runtime draws random numbers from the processor's own clock.
#[test]
fn a_store_in_containers_has_the_same_history_in_each_run() {
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    let system = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/system");
    let layout = fixture.work().join("etcd");
    let mut image = Command::new("python3");
    image.arg(system.join("image.py")).arg(&layout).arg(r#"{"Env": ["PATH=/bin"]}"#).args(["etcd", "etcdctl"]);
    assert!(image.status().unwrap().success(), "`scripts/install-deps services` installs etcd");
    fixture.netloom(&["image", "import", "oci:etcd", "--name", "etcd:3.4"]).expect_code(0);
    fixture.write("store.yaml", include_str!("../../examples/store.yaml"));
    let [first, second] = [1, 2].map(|_| {
        fixture.netloom(&["run", "store.yaml", "-q", "--wall-limit", "200s"]).expect_code(0);
        results(&fixture, "store")
    });
    assert_same(&first, &second);
    fixture.assert_nothing_is_left("store");
}

/// The kernel's own qdiscs and our links, as in tables 1 to 3 of the VITO paper; the labs expect what the paper found.
#[test]
fn rate_and_delay_do_what_vito_says() {
    if is_left_to_test_all("eleven downloads of 100 MB") {
        return;
    }
    let fixture = Fixture::with_kernel(if is_root() { User::Nobody } else { User::Own });
    for (name, text) in [
        ("order", include_str!("../../examples/papers/vito/order.yaml")),
        ("auxiliary", include_str!("../../examples/papers/vito/auxiliary.yaml")),
    ] {
        fixture.write(&format!("{name}.yaml"), text);
        let run = fixture.netloom(&["run", &format!("{name}.yaml"), "-q", "--wall-limit", "200s"]).expect_code(0);
        assert!(run.stdout.contains("verdict: as described"), "{run:#?}");
        fixture.assert_nothing_is_left(&format!("vito-{name}"));
    }
}
