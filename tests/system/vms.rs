//! Labs with virtual machines. They boot Debian's cloud kernel with a small root (`scripts/ensure-vm-root`), translated by QEMU where
//! this machine's processor does not run them.

use crate::fixture::{Fixture, User, is_left_to_test_all};
use crate::wait::wait_until;
use netloom_host::terminal::{Pty, open_pty};
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// This is about what happens, on a machine that may be busy with other things.
pub(crate) const BOUNDS: &str = "
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
";

/// Puts what machines boot into the fixture's folder, where its user may read it.
pub(crate) fn with_root(fixture: &Fixture) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/ensure-vm-root");
    let output = Command::new(script).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "scripts/ensure-vm-root failed");
    let made = PathBuf::from(String::from_utf8(output.stdout).unwrap().trim());
    let folder = fixture.work().join("vm");
    fs::create_dir(&folder).unwrap();
    for name in ["vmlinuz", "root.cpio.gz", "disk.raw"] {
        fs::copy(made.join(name), folder.join(name)).unwrap();
    }
    folder
}

/// The processes that are machines of the fixture's labs.
pub(crate) fn machines(fixture: &Fixture) -> Vec<i32> {
    let folder = fixture.path().join("runtime");
    let is_ours = |pid: &i32| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.starts_with(b"/usr/bin/qemu-system-x86_64")
            && fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|place| place.starts_with(&folder))
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok()).filter(is_ours).collect()
}

#[test]
fn a_virtual_machine_among_other_nodes() {
    let fixture = Fixture::with_kernel(User::all().pop().unwrap());
    with_root(&fixture);
    let lab = "
name: vms
nodes:
  v:
    vm: {kernel: vm/vmlinuz, initrd: vm/root.cpio.gz, append: quiet, cpus: 2}
    env: {COLOUR: red}
    files: {/etc/motd: {text: hello}}
    collect: [/root/*]
  a: {}
  k: {stack: kernel}
links:
  lan: {ends: [v, a, k]}
timeline:
  - {on: v, run: iperf3 -s, as: inside, service: true, ready: {tcp: 5201}}
  - {on: a, run: iperf3 -s, as: outside, service: true, ready: {tcp: 5201}}
  - {on: v, run: ping -c 2 -i 0.2 a, as: one}
  - {on: v, run: ping -c 2 -i 0.2 k, as: two, after: one}
  - {on: k, run: ping -c 2 -i 0.2 v, as: three, after: two}
  - {on: v, run: iperf3 -c a -n 20M --json, save: out.json, as: out, after: three}
  - {on: a, run: iperf3 -c v -n 20M --json, save: in.json, as: in, after: out}
  - {on: k, run: iperf3 -c v -n 2M --json, as: kernel, after: in}
  - {on: v, run: 'echo $COLOUR $NETLOOM_NODE $(hostname) $(cat /etc/motd) $PWD', save: facts, as: facts, after: kernel}
  - {on: v, run: 'echo kept > /root/kept; uname -r; cat /sys/devices/system/clocksource/*/current_clocksource; exit 3', save: release, as: odd, after: facts}
expect:
  - odd.exit == 3
";
    fixture.write("vms.yaml", &format!("{lab}{BOUNDS}"));
    let check = fixture.netloom(&["check", "vms.yaml"]).expect_code(0);
    assert!(check.stdout.contains("virtual machines here: QEMU "), "{check:#?}");
    fixture.netloom(&["run", "vms.yaml"]).expect_code(0);
    let results = fixture.latest("vms");
    let saved = |name: &str| fs::read_to_string(results.join(name)).unwrap();
    assert_eq!(saved("facts"), "red v v hello /\n");
    assert!(saved("release").contains("cloud"), "{}", saved("release"));
    for name in ["out.json", "in.json"] {
        assert!(saved(name).contains("sum_received"), "{}", saved(name));
    }
    assert!(saved("logs/console-v.log").contains("the tests' root is up"));
    assert_eq!(fs::read_to_string(results.join("nodes/v/root/kept")).unwrap(), "kept\n");
    let qemu = fixture.json("vms", "provenance.json")["qemu"].clone();
    assert_eq!(qemu["without_kvm"].is_null(), qemu["accelerator"] == "kvm", "{qemu}");
    // On a busy machine, the clock of a translated one would run too fast by another source.
    assert!(qemu["accelerator"] == "kvm" || saved("release").ends_with("\nhpet\n"), "{}", saved("release"));
    fixture.assert_nothing_is_left("vms");
    assert!(machines(&fixture).is_empty());
}

/// All that is asserted would be off by a factor of ten if the machine's clocks were this machine's.
#[test]
fn a_virtual_machine_in_dilated_time() {
    if is_left_to_test_all("a virtual machine in dilated time") {
        return;
    }
    let fixture = Fixture::with_kernel(User::all().pop().unwrap());
    with_root(&fixture);
    let lab = "
name: slow
clock: {dilation: 10}
nodes:
  v: {vm: {kernel: vm/vmlinuz, initrd: vm/root.cpio.gz, append: quiet, cpus: 2}}
  k: {}
links:
  lan: {ends: [v, k], rate: 20 Mbit/s, delay: 5 ms}
timeline:
  - {on: k, run: iperf3 -s, as: server, service: true, ready: {tcp: 5201}}
  - {on: v, run: 'cat /proc/uptime; sleep 1; cat /proc/uptime', save: uptime, as: sleep}
  - {on: v, run: ping -c 5 -i 0.2 k, save: ping, as: ping, after: sleep}
  - {on: v, run: iperf3 -c k -n 1M --json, as: out, after: ping}
expect:
  - sleep.duration between 990 ms and 4 s
  - out.json.end.sum_received.bits_per_second between 5000000 and 20500000
";
    fixture.write("slow.yaml", &format!("{lab}{BOUNDS}"));
    let run = fixture.netloom(&["run", "slow.yaml"]).expect_code(0);
    let results = fixture.latest("slow");
    let saved = |name: &str| fs::read_to_string(results.join(name)).unwrap();
    let uptimes: Vec<f64> =
        saved("uptime").lines().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
    // In hundredths of a second, each cut off: a second may show as 0.99, and 1.66 - 0.66 is less than 1 to a computer.
    assert!((0.985..4.0).contains(&(uptimes[1] - uptimes[0])), "{uptimes:?}: {run:#?}");
    let ping = saved("ping");
    let best: f64 = ping.split("mdev = ").nth(1).and_then(|rest| rest.split('/').next()).unwrap().parse().unwrap();
    assert!((10.0..60.0).contains(&best), "{ping}");
    fixture.assert_nothing_is_left("slow");
    assert!(machines(&fixture).is_empty());
}

#[test]
fn a_disk_that_machines_boot_from_stays_as_it_is() {
    let fixture = Fixture::new(User::Own);
    let disk = with_root(&fixture).join("disk.raw");
    let before = fs::read(&disk).unwrap();
    let vm =
        "{vm: {kernel: vm/vmlinuz, initrd: vm/root.cpio.gz, disk: vm/disk.raw, format: raw, append: root=/dev/vda}}";
    fixture.write(
        "disk.yaml",
        &format!("name: disk\nnodes: {{v: {vm}, w: {vm}}}\nlinks: {{l: {{ends: [v, w]}}}}\n{BOUNDS}"),
    );
    fixture.netloom(&["up", "disk.yaml"]).expect_code(0);
    let shell = |node: &str, line: &str| fixture.netloom(&["exec", "disk", node, "--", "sh", "-c", line]);
    let root = shell("v", "df / | sed 1d; echo written > /file; sync; cat /file; ls /netloom || ls /run/netloom")
        .expect_code(0);
    assert!(root.stdout.contains("written\n") && root.stdout.contains("netloom\n"), "{root:#?}");
    shell("w", "cat /file").expect_code(1);
    shell("w", "ping -c 1 v").expect_code(0);
    // A service that has gone into the background ends with the lab, the machine's own processes do not end with a program.
    shell("w", "sleep 1000 >/dev/null 2>&1 & exit 5").expect_code(5);
    fixture.netloom(&["down"]).expect_code(0);
    assert!(fs::read(&disk).unwrap() == before, "the disk was written");
    fixture.assert_nothing_is_left("disk");
    assert!(machines(&fixture).is_empty());
}

#[test]
fn a_console_is_typed_at_by_several_and_goes_on_being_logged() {
    let fixture = Fixture::new(User::Own);
    with_root(&fixture);
    let vm = "{vm: {kernel: vm/vmlinuz, initrd: vm/root.cpio.gz}}";
    fixture.write(
        "typed.yaml",
        &format!("name: typed\nnodes: {{v: {vm}, a: {{}}}}\nlinks: {{l: {{ends: [v, a]}}}}\n{BOUNDS}"),
    );
    fixture.netloom(&["up", "typed.yaml"]).expect_code(0);
    let reading = "for n in 1 2; do read word < /dev/ttyS0; echo \"read $n $word\" > /dev/ttyS0; done";
    let mut reader = fixture.command(&["exec", "typed", "v", "--", "sh", "-c", reading]).spawn().unwrap();
    let join = || {
        let Pty { master, slave } = open_pty().unwrap();
        let copy = || Stdio::from(slave.try_clone().unwrap());
        let mut command = fixture.command(&["shell", "typed", "v", "--console"]);
        let child = command.stdin(copy()).stdout(copy()).stderr(Stdio::null()).spawn().unwrap();
        (fs::File::from(master), child)
    };
    let (mut one, mut first) = join();
    let (mut other, mut second) = join();
    // Who joins sees what was shown before, too.
    await_shown(&mut one, "the tests' root is up");
    await_shown(&mut other, "the tests' root is up");
    one.write_all(b"apples\n").unwrap();
    await_shown(&mut other, "read 1 apples");
    other.write_all(b"pears\n").unwrap();
    await_shown(&mut one, "read 2 pears");
    one.write_all(b"\x1d").unwrap();
    assert!(first.wait().unwrap().success());
    assert!(reader.wait().unwrap().success());
    let none = fixture.netloom(&["shell", "typed", "a", "--console"]).expect_code(2);
    assert!(none.stderr.contains("a console needs a terminal"), "{none:#?}");
    fixture.netloom(&["down"]).expect_code(0);
    assert!(second.wait().unwrap().success());
    let log = fs::read_to_string(fixture.latest("typed").join("logs/console-v.log")).unwrap();
    assert!(log.contains("read 1 apples") && log.contains("read 2 pears"), "{log}");
    fixture.assert_nothing_is_left("typed");
}

/// Reads until this is shown, which a test that hangs shows as well as one that fails.
fn await_shown(terminal: &mut fs::File, wanted: &str) {
    let mut shown = Vec::new();
    let mut buffer = [0; 1024];
    while !String::from_utf8_lossy(&shown).contains(wanted) {
        let length = terminal.read(&mut buffer).unwrap();
        shown.extend_from_slice(&buffer[..length]);
    }
}

#[test]
fn machines_that_cannot_be_are_told() {
    let fixture = Fixture::new(User::Own).among_others();
    with_root(&fixture);
    let refused = |vm: &str, code: i32, wanted: &str| {
        fixture.write(
            "bad.yaml",
            &format!("name: bad\nnodes:\n  v:\n    vm: {{{vm}}}\n  a: {{}}\nlinks: {{l: {{ends: [v, a]}}}}\n"),
        );
        let run = fixture.netloom(&["run", "bad.yaml"]).expect_code(code);
        assert!(run.stderr.contains(wanted), "{wanted} in {run:#?}");
        assert!(!run.stderr.contains("panicked at"), "{run:#?}");
        fixture.assert_nothing_is_left("bad");
        assert!(machines(&fixture).is_empty());
    };
    let boots = "kernel: vm/vmlinuz, initrd: vm/root.cpio.gz";
    refused(
        "kernel: vm/absent, initrd: vm/root.cpio.gz",
        3,
        "bad.yaml:4: nodes.v.vm.kernel: open vm/absent: No such file",
    );
    refused(&format!("{boots}, disk: vm/disk.raw"), 3, "nodes.v.vm.disk: the disk ");
    refused(
        &format!("{boots}, passthrough: ['ffff:ff:1f.7']"),
        4,
        "bad.yaml:4: nodes.v.vm.passthrough: there is no PCI device ffff:ff:1f.7",
    );
    refused("kernel: bad.yaml, initrd: vm/root.cpio.gz", 4, "node v: QEMU gave up");
    // Without an `init`, the kernel panics.
    fs::write(fixture.work().join("empty"), []).unwrap();
    refused("kernel: vm/vmlinuz, initrd: empty", 4, "starting /init of the initial file system");
    refused(&format!("{boots}, boot_within: 1 s"), 4, "node v: its kernel did not come up within 1 s");
    let mut command = fixture.command(&["run", "bad.yaml"]);
    let output = command.env("PATH", "/nowhere").output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(4), "{told}");
    assert!(told.contains("apt-get install --no-install-recommends qemu-system-x86"), "{told}");
}

#[test]
fn a_machine_that_powers_off_ends_the_run_and_a_killed_netloom_its_machines() {
    let fixture = Fixture::new(User::Own);
    with_root(&fixture);
    let lab = |timeline: &str| {
        format!(
            "name: ends\nnodes:\n  v: {{vm: {{kernel: vm/vmlinuz, initrd: vm/root.cpio.gz}}}}\n  a: {{}}\nlinks: {{l: {{ends: [v, a]}}}}\n\
             duration: 100 s\n{timeline}{BOUNDS}"
        )
    };
    fixture.write("ends.yaml", &lab("timeline: [{on: v, run: poweroff -f, may_fail: true}]\n"));
    let run = fixture.netloom(&["run", "ends.yaml"]).expect_code(8);
    assert!(run.stderr.contains("node `v`: it was powered off from inside"), "{run:#?}");
    fixture.assert_nothing_is_left("ends");
    fixture.write("ends.yaml", &lab("timeline: [{on: v, run: sleep 100}]\n"));
    let mut child = fixture.command(&["run", "ends.yaml"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("a machine", || !machines(&fixture).is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    fixture.assert_nothing_is_left("ends");
    assert!(machines(&fixture).is_empty());
}
