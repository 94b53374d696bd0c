//! Disks of virtual machines, and machines that lose their power.

use crate::fixture::{Fixture, User};
use crate::vms::{BOUNDS, machines, with_root};
use std::fs;

#[test]
fn a_machine_that_loses_its_power_keeps_what_was_flushed() {
    let fixture = Fixture::new(User::all().pop().unwrap());
    with_root(&fixture);
    let lab = "
name: power
nodes:
  v:
    vm: {kernel: vm/vmlinuz, initrd: vm/root.cpio.gz}
    disk: {at: /srv/db, size: 32 MB, latency: 1 ms, flush: 30 ms}
  a: {}
links: {l: {ends: [v, a]}}
timeline:
  # Only half of the records are flushed, and each of these is before it is said to be there.
  - on: v
    run: >-
      for n in 1 2 3 4 5; do echo $n | dd of=/srv/db/flushed-$n conv=fsync 2>/dev/null && echo flushed-$n; done;
      sleep 100
    save: said
    as: writer
    may_fail: true
  # An emulated machine on a busy processor takes more than a second for each. Five seconds after the others its kernel flushes by itself.
  - {at: 13 s, on: v, run: 'for n in 1 2 3 4 5; do echo $n > /srv/db/cached-$n; done; sleep 100', as: later, may_fail: true}
  - {at: 15 s, crash: v, keep: flushed, for: 1 s}
  - {at: 16 s, on: v, run: 'ls /srv/db', save: kept, as: look}
  - {on: a, run: ping -c 2 -i 0.2 v, as: ping, after: look}
  - {on: v, run: 'dd if=/dev/zero of=/srv/db/full bs=4096 count=20 2>&1', save: full, as: full, after: ping, may_fail: true}
  - {on: v, run: 'echo a > /srv/db/other 2>&1 && sync', as: room, after: full, may_fail: true}
";
    fixture.write("power.yaml", &format!("{lab}{BOUNDS}"));
    fixture.netloom(&["run", "power.yaml"]).expect_code(0);
    let results = fixture.latest("power");
    let saved = |name: &str| fs::read_to_string(results.join(name)).unwrap();
    let flushed: Vec<String> = (1..=5).map(|number| format!("flushed-{number}")).collect();
    assert_eq!(saved("said").lines().collect::<Vec<_>>(), flushed);
    assert_eq!(saved("kept").lines().collect::<Vec<_>>(), flushed);
    let events = saved("events.jsonl");
    let mut events = events.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let crashed = events.find(|event| event["event"] == "crashed").unwrap();
    assert_eq!(crashed["disk"]["keep"], "flushed");
    assert!(crashed["disk"]["lost_writes"] == crashed["disk"]["cached_writes"], "{crashed}");
    // Each boot has a console of its own.
    assert!(saved("logs/console-v-1.log").contains("EXT4-fs (vda): mounted filesystem"));
    fixture.assert_nothing_is_left("power");
    assert!(machines(&fixture).is_empty());
}

#[test]
fn faults_of_a_disk_of_a_machine_by_hand() {
    let fixture = Fixture::new(User::Own);
    with_root(&fixture);
    let lab = "
name: worn
nodes:
  v:
    vm: {kernel: vm/vmlinuz, initrd: vm/root.cpio.gz}
    disk: {at: /srv/db, size: 32 MB}
  a: {}
links: {l: {ends: [v, a]}}
";
    fixture.write("worn.yaml", &format!("{lab}{BOUNDS}"));
    fixture.netloom(&["up", "worn.yaml"]).expect_code(0);
    let shell = |line: &str| fixture.netloom(&["exec", "worn", "v", "--", "sh", "-c", line]);
    let fault = |entry: &str| fixture.netloom(&["fault", "worn", entry]).expect_code(0);
    shell("dd if=/dev/zero of=/srv/db/x bs=4096 count=20 conv=fsync").expect_code(0);
    fault("{disk: v, error: read, path: /srv/db/x}");
    let read = shell("echo 3 > /proc/sys/vm/drop_caches; cat /srv/db/x > /dev/null").expect_code(1);
    assert!(read.stderr.contains("Input/output error"), "{read:#?}");
    fault("{disk: v, works: true}");
    shell("cat /srv/db/x > /dev/null").expect_code(0);
    fault("{disk: v, full: true}");
    let full = shell("dd if=/dev/zero of=/srv/db/y bs=4096 count=20").expect_code(1);
    assert!(full.stderr.contains("No space left"), "{full:#?}");
    fault("{disk: v, works: true}");
    fault("{disk: v, read_only: true}");
    let frozen = shell("echo a > /srv/db/z").expect_code(1);
    assert!(frozen.stderr.contains("Read-only"), "{frozen:#?}");
    fault("{disk: v, works: true}");
    shell("echo a > /srv/db/z && sync").expect_code(0);
    // Its power is off until somebody turns it on.
    fault("{crash: v, keep: all}");
    fixture.netloom(&["start", "worn", "v"]).expect_code(0);
    shell("cat /srv/db/z && ping -c 1 a").expect_code(0);
    let stopped = fixture.netloom(&["stop", "worn", "v"]).expect_code(2);
    assert!(stopped.stderr.contains("`crash`"), "{stopped:#?}");
    fixture.netloom(&["down"]).expect_code(0);
    fixture.assert_nothing_is_left("worn");
    assert!(machines(&fixture).is_empty());
}

/// A machine that is paused does not notice, and its CLOCK_REALTIME is set afterwards; one that stalls has only been slow.
#[test]
fn a_machine_stands_still() {
    let fixture = Fixture::new(User::all().pop().unwrap());
    with_root(&fixture);
    // The instant of the boot is CLOCK_REALTIME less CLOCK_BOOTTIME, in whole seconds: it moves when the clock is set.
    let watch = "n=0; while [ $n -lt 40 ]; do read up rest < /proc/uptime; echo $up $(sed -n /btime/p /proc/stat); n=$((n+1)); sleep 0.2; done";
    let lab = format!(
        "
name: still
nodes:
  v: {{vm: {{kernel: vm/vmlinuz, initrd: vm/root.cpio.gz}}}}
  a: {{}}
links: {{l: {{ends: [v, a]}}}}
timeline:
  - {{on: v, run: '{watch}', as: watch, save: watched}}
  - {{at: 2 s, freeze: v, for: 3 s}}
  - {{at: 2500 ms, on: a, run: 'ping -c 1 -W 1 v', as: silent, may_fail: true}}
  - {{at: 7 s, freeze: v, for: 3 s, kind: stall}}
  - {{on: a, run: 'ping -c 1 -W 5 v', as: ping, after: watch}}
expect: [silent.exit == 1]
"
    );
    fixture.write("still.yaml", &format!("{lab}{BOUNDS}"));
    fixture.netloom(&["run", "still.yaml"]).expect_code(0);
    let watched = fs::read_to_string(fixture.latest("still").join("watched")).unwrap();
    let number = |line: &str, place: usize| line.split(' ').nth(place).unwrap().parse::<f64>().unwrap();
    let seen: Vec<[f64; 2]> = watched.lines().map(|line| [number(line, 0), number(line, 2)]).collect();
    let leaps: Vec<[f64; 2]> = seen.windows(2).map(|two| [0, 1].map(|clock| two[1][clock] - two[0][clock])).collect();
    // CLOCK_REALTIME leaps alone by the three seconds of the pause, and both do by those of the stall.
    assert!(leaps.iter().any(|[up, set]| *up < 2.5 && *set >= 2.0), "{watched}");
    assert!(leaps.iter().any(|[up, set]| *up >= 2.5 && *set < 2.0), "{watched}");
    fixture.assert_nothing_is_left("still");
    assert!(machines(&fixture).is_empty());
}
