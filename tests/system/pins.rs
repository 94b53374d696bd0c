//! Nodes of all kinds that run on processors of their own.

use crate::fixture::{Fixture, User};
use crate::{images, vms};
use netloom_host::processors;
use std::fs;

const LAB: &str = "
name: pins
nodes:
  n: {pin: PIN}
  i: {image: tools:1.0, entrypoint: none, pin: [PIN]}
  k: {stack: kernel, pin: PIN-PIN}
  v: {vm: {kernel: vm/vmlinuz, initrd: vm/root.cpio.gz}, pin: PIN}
links: {lan: {ends: [n, i, k, v]}}
";

/// The processors that the threads of a process may use, as the kernel lists them.
fn allowed(pid: i32) -> Vec<String> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let list = |thread: fs::DirEntry| {
        let status = fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).map(|list| list.trim().to_owned())
    };
    threads.filter_map(list).collect()
}

#[test]
fn nodes_of_all_kinds_stay_on_their_processors() {
    let fixture = Fixture::with_kernel(User::all().pop().unwrap());
    let pin = processors::allowed().unwrap().pop().unwrap().to_string();
    images::prepare(&fixture, &format!("{}{}", LAB.replace("PIN", &pin), vms::BOUNDS));
    vms::with_root(&fixture);
    fixture.netloom(&["up", "images.yaml"]).expect_code(0);
    for node in ["n", "i"] {
        let shown = fixture.netloom(&["exec", "pins", node, "--", "cat", "/proc/self/status"]).expect_code(0).stdout;
        assert!(shown.contains(&format!("Cpus_allowed_list:\t{pin}\n")), "{node}: {shown}");
    }
    let (kernels, machines) = (fixture.kernels(), vms::machines(&fixture));
    assert_eq!((kernels.len(), machines.len()), (1, 1));
    for pid in [kernels[0], machines[0]] {
        let allowed = allowed(pid);
        assert!(!allowed.is_empty() && allowed.iter().all(|list| *list == pin), "{allowed:?}");
    }
    fixture.netloom(&["down"]).expect_code(0);
    fixture.assert_nothing_is_left("pins");
}

#[test]
fn processors_that_cannot_be_had_are_told() {
    let fixture = Fixture::new(User::Own);
    fixture.write("pins.yaml", "name: pins\nnodes:\n  a: {pin: [0, 1020-1022]}\n");
    let check = fixture.netloom(&["check", "pins.yaml"]).expect_code(0);
    assert!(check.stderr.contains("nodes.a.pin: this machine has no processor 1020-1022"), "{check:#?}");
    let run = fixture.netloom(&["run", "pins.yaml"]).expect_code(4);
    assert!(run.stderr.contains("pins.yaml:3: nodes.a.pin: this machine has no processor 1020-1022"), "{run:#?}");
    let all = processors::allowed().unwrap();
    let [first, .., last] = all[..] else { return };
    fixture.write("pins.yaml", &format!("name: pins\nnodes:\n  a: {{pin: {last}}}\n"));
    let elsewhere = fixture.wrapped(&["taskset", "-c", &first.to_string()], &["run", "pins.yaml"]).expect_code(4);
    let wanted = format!(
        "nodes.a.pin: this process may not use processor {last} (its cpuset or affinity): it may use {first}\n"
    );
    assert!(elsewhere.stderr.contains(&wanted), "{elsewhere:#?}");
    fixture.assert_nothing_is_left("pins");
}
