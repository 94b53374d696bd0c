//! Virtual machines that boot their own disks: a Debian with cloud-init and QEMU's guest agent (`scripts/ensure-vm-disk`).

use crate::fixture::{Finished, Fixture, User, is_left_to_test_all};
use crate::vms::{BOUNDS, machines};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The folder of the disks, which a machine never writes.
fn disks() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/ensure-vm-disk");
    let output = Command::new(script).stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "scripts/ensure-vm-disk failed");
    PathBuf::from(String::from_utf8(output.stdout).unwrap().trim())
}

#[test]
fn systems_on_disks_of_their_own_take_commands() {
    let fixture = Fixture::new(User::Own);
    let disks = disks();
    let machine = |name: &str, more: &str| {
        let disk = disks.join(name);
        format!("{{disk: {}, format: raw, cpus: 2, boot_within: 10 min{more}}}", disk.display())
    };
    fixture.write("key.pub", "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDfakekeyfakekeyfakekeyfakekeyfakekeyfake me\n");
    let lab = format!(
        "
name: disks
nodes:
  v:
    vm: {}
    env: {{COLOUR: red}}
    files: {{/etc/motd: {{text: hello}}}}
    collect: [/root/*]
  g: {{vm: {}}}
  a: {{}}
links: {{lan: {{ends: [v, g, a]}}}}
timeline:
  - {{on: v, run: 'echo $COLOUR $(hostname) $(cat /etc/motd) > /root/kept; ping -c 2 -i 0.2 a', as: one}}
  - {{on: a, run: ping -c 2 -i 0.2 v, as: two, after: one}}
  - {{on: g, run: ping -c 2 -i 0.2 v, as: three, after: two}}
  - {{on: v, run: 'until grep -h fake /home/*/.ssh/authorized_keys; do sleep 1; done', as: key, after: three}}
{BOUNDS}",
        machine("cloud-init.raw", ", ssh_key: key.pub"),
        machine("guest-agent.raw", "")
    );
    fixture.write("disks.yaml", &lab);
    let check = fixture.netloom(&["check", "disks.yaml"]).expect_code(0);
    assert!(check.stdout.contains("v: boots its disk by SeaBIOS; commands by netloom's agent"), "{check:#?}");
    // Longer than a test waits for a command otherwise, where the machine is busy.
    let run = fixture.command(&["run", "disks.yaml"]).output().unwrap();
    Finished::of(&run).expect_code(0);
    let results = fixture.latest("disks");
    let read = |name: &str| fs::read_to_string(results.join(name)).unwrap();
    assert_eq!(read("nodes/v/root/kept"), "red v hello\n");
    assert!(
        read("logs/console-v.log").contains("netloom: cloud-init starts the agent"),
        "{}",
        read("logs/console-v.log")
    );
    assert!(read("logs/console-g.log").contains("netloom: the guest agent of QEMU starts the agent"));
    fixture.assert_nothing_is_left("disks");
    assert!(machines(&fixture).is_empty());
}

#[test]
fn a_machine_that_nobody_gets_into_runs_and_refuses_commands() {
    let fixture = Fixture::new(User::Own);
    let disk = disks().join("guest-agent.raw");
    let lab = |access: &str, more: &str| {
        let disk = disk.display();
        let text = format!(
            "name: closed\nnodes:\n  v: {{vm: {{disk: {disk}, format: raw, access: {access}{more}}}}}\n  a: {{}}\n\
             links: {{l: {{ends: [v, a]}}}}\n{BOUNDS}"
        );
        fixture.write("closed.yaml", &text);
    };
    lab("none", "");
    fixture.netloom(&["up", "closed.yaml"]).expect_code(0);
    assert_eq!(machines(&fixture).len(), 1);
    let refused = fixture.netloom(&["exec", "closed", "v", "--", "date"]);
    assert!(refused.stderr.contains("does not get into the virtual machine `v`"), "{refused:#?}");
    fixture.netloom(&["exec", "closed", "a", "--", "true"]).expect_code(0);
    fixture.netloom(&["down"]).expect_code(0);
    fixture.assert_nothing_is_left("closed");
    assert!(machines(&fixture).is_empty());
    // Neither of those that start the agent is up so early.
    lab("agent", ", boot_within: 2 s");
    let run = fixture.netloom(&["run", "closed.yaml"]).expect_code(4);
    let wanted = "its kernel did not come up within 2 s: cloud-init, on the disk labelled cidata, has not started netloom's agent, \
                  and no guest agent of QEMU came up";
    assert!(run.stderr.contains(wanted), "{run:#?}");
    fixture.assert_nothing_is_left("closed");
}

/// Nobody tells its kernel by which clock to count: all that it has are slowed.
#[test]
fn a_system_on_a_disk_of_its_own_in_dilated_time() {
    if is_left_to_test_all("a Debian in dilated time") {
        return;
    }
    let fixture = Fixture::with_kernel(User::Own);
    let disk = disks().join("cloud-init.raw");
    let lab = format!(
        "
name: slow-disk
clock: {{dilation: 10}}
nodes:
  v: {{vm: {{disk: {}, format: raw, cpus: 2, boot_within: 10 min}}}}
  k: {{}}
links:
  lan: {{ends: [v, k], rate: 20 Mbit/s, delay: 5 ms}}
timeline:
  - {{on: v, run: 'cat /proc/uptime; sleep 1; cat /proc/uptime', save: uptime, as: sleep}}
  - on: v
    run: cd /sys/devices/system/clocksource/clocksource0; cat current_clocksource available_clocksource
    save: clocks
    as: clocks
    after: sleep
  - {{on: v, run: ping -c 5 -i 0.2 k, save: ping, after: clocks}}
expect: [sleep.duration between 990 ms and 4 s]
{BOUNDS}",
        disk.display()
    );
    fixture.write("slow.yaml", &lab);
    // Longer than a test waits for a command otherwise, where the machine is busy.
    let run = fixture.command(&["run", "slow.yaml"]).output().unwrap();
    let run = Finished::of(&run).expect_code(0);
    let results = fixture.latest("slow-disk");
    let saved = |name: &str| fs::read_to_string(results.join(name)).unwrap();
    let clocks = saved("clocks");
    assert!(clocks.starts_with("hpet\n") && !clocks.contains("tsc"), "{clocks}");
    let uptimes: Vec<f64> =
        saved("uptime").lines().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
    // In hundredths of a second, each cut off: a second may show as 0.99, and 1.66 - 0.66 is less than 1 to a computer.
    assert!((0.985..4.0).contains(&(uptimes[1] - uptimes[0])), "{uptimes:?}: {run:#?}");
    let ping = saved("ping");
    let best: f64 = ping.split("mdev = ").nth(1).and_then(|rest| rest.split('/').next()).unwrap().parse().unwrap();
    assert!((10.0..60.0).contains(&best), "{ping}");
    fixture.assert_nothing_is_left("slow-disk");
    assert!(machines(&fixture).is_empty());
}
