//! Labs whose nodes are Linux kernels of their own, in real and dilated time. The kernel is the one that the environment
//! variable NETLOOM_KERNEL names.

use crate::bed::{Bed, User};
use std::fs;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

const LAB: &str = "
name: kernels
clock: CLOCK
nodes:
  a: {stack: kernel, env: {COLOUR: red}, congestion: bbr}
  r: {kind: router, stack: kernel}
  b: {stack: kernel}
links:
  near: {ends: [a, r], rate: 100 Mbit/s}
  far: {ends: [r, b], rate: 10 Mbit/s, delay: 5 ms}
bounds: {lateness: 100 s, rate: 100 %, delay: 100 %, starvation: 100 %, events: 100 s, starts: 100 s}
";

fn lab(clock: &str, timeline: &str) -> String {
    assert!(std::env::var_os("NETLOOM_KERNEL").is_some(), "NETLOOM_KERNEL names the kernel for these tests");
    format!("{}{timeline}", LAB.replace("CLOCK", clock))
}

/// Whether there is a process of the lab's kernels.
fn kernels_run(bed: &Bed) -> bool {
    kernels(bed).next().is_some()
}

/// The processes of the lab's kernels, but for those of the programs inside.
fn kernels(bed: &Bed) -> impl Iterator<Item = i32> {
    let folder = bed.path().join("runtime");
    let ours = move |pid: &i32| {
        let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let is_kernel = String::from_utf8_lossy(&command).contains("virtio_uml.device=");
        is_kernel && fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|place| place.starts_with(&folder))
    };
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|entry| entry.file_name().to_string_lossy().parse().ok()).filter(ours)
}

#[test]
fn programs_run_on_kernels_in_real_and_dilated_time() {
    for (user, clock) in User::all().into_iter().zip(["{dilation: 10}", "real"]) {
        let bed = Bed::new(user);
        let timeline = "
timeline:
  - {on: b, run: iperf3 -s, service: true, ready: {tcp: 5201}}
  - {on: b, run: 'touch made; sleep 100', as: maker, service: true, ready: {file: made}}
  - {on: a, run: ping -c 3 -i 0.1 b, save: ping.txt}
  - {on: a, run: 'iperf3 -c b -n 500K --json', save: iperf.json}
  - {on: a, run: 'echo $COLOUR $NETLOOM_NODE $(hostname) $(cat /proc/sys/net/ipv4/tcp_congestion_control)', save: facts}
  - {on: b, run: seq 1 300000, save: numbers}
  - {on: a, run: 'sleep 1; exit 3', as: odd}
expect:
  - odd.exit == 3
";
        bed.write("kernels.yaml", &lab(clock, timeline));
        bed.netloom(&["run", "kernels.yaml"]).expect_code(0);
        let saved = |name: &str| fs::read_to_string(bed.latest("kernels").join(name)).unwrap();
        assert_eq!(saved("facts"), "red a a bbr\n");
        assert!(saved("ping.txt").contains("3 received"), "{}", saved("ping.txt"));
        assert!(saved("iperf.json").contains("\"congestion\":\t\"bbr\"") || saved("iperf.json").contains("bbr"));
        let numbers: String = (1..=300_000).map(|number| format!("{number}\n")).collect();
        assert!(saved("numbers") == numbers, "{} bytes", saved("numbers").len());
        assert!(!bed.work().join("made").exists(), "a kernel node wrote to the machine's files");
        bed.assert_nothing_is_left("kernels");
        assert!(!kernels_run(&bed));
    }
}

#[test]
fn an_interactive_day_on_kernels() {
    for user in User::all() {
        let bed = Bed::new(user);
        bed.write("kernels.yaml", &lab("real", ""));
        bed.netloom(&["up", "kernels.yaml"]).expect_code(0);
        let shell = bed
            .netloom(&["exec", "kernels", "a", "--", "sh", "-c", "echo $COLOUR; pwd; echo err >&2; exit 42"])
            .expect_code(42);
        assert_eq!(shell.stdout, format!("red\n{}\n", bed.work().display()));
        assert_eq!(shell.stderr, "err\n");
        bed.netloom(&["exec", "kernels", "a", "--", "sh", "-c", "kill -9 $$"]).expect_code(128 + 9);
        let absent = bed.netloom(&["exec", "kernels", "a", "--", "no-such-program"]).expect_code(4);
        assert!(absent.stderr.contains("program not found: no-such-program"), "{absent:#?}");
        let ping = bed.netloom(&["exec", "kernels", "a", "--", "ping", "-c", "1", "b"]).expect_code(0);
        assert!(ping.stdout.contains("1 received"), "{ping:#?}");
        bed.netloom(&["down"]).expect_code(0);
        bed.assert_nothing_is_left("kernels");
        assert!(bed.runtime_files().is_empty() && !kernels_run(&bed));
    }
}

#[test]
fn a_killed_kernel_ends_the_run_with_eight_and_its_name() {
    let bed = Bed::new(User::Own);
    let timeline = "timeline: [{on: a, run: ping -i 0.1 b, may_fail: true}]\nduration: 600 s\n";
    bed.write("kernels.yaml", &lab("real", timeline));
    let mut child = bed.command(&["run", "kernels.yaml"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    within(Duration::from_secs(100), "the ping", || {
        fs::read_to_string(bed.latest("kernels").join("logs/01-a-ping.stdout")).is_ok_and(|text| text.contains("seq=3"))
    });
    let victim = kernels(&bed).min().unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(victim), nix::sys::signal::Signal::SIGKILL).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(8));
    let stderr = std::io::read_to_string(child.stderr.take().unwrap()).unwrap();
    assert!(stderr.contains("node `a`: its kernel was ended by signal 9"), "{stderr}");
    assert_eq!(bed.json("kernels", "report.json")["exit_code"], 8);
    bed.assert_nothing_is_left("kernels");
    assert!(!kernels_run(&bed));
}

#[test]
fn a_kernel_that_is_none_is_told() {
    let bed = Bed::new(User::Own);
    bed.write("kernels.yaml", &lab("real", ""));
    let mut command = bed.command(&["run", "kernels.yaml"]);
    let output = command.env("NETLOOM_KERNEL", "/bin/true").output().unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(String::from_utf8_lossy(&output.stderr).contains("/bin/true"), "{output:?}");
    bed.assert_nothing_is_left("kernels");
}

fn within(limit: Duration, what: &str, mut condition: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < limit, "not within {limit:?}: {what}");
        sleep(Duration::from_millis(20));
    }
}
