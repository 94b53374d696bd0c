//! The shim as a program sees it that it is preloaded into. Each test starts this very test binary again, armed, and
//! has it run one probe. A probe asks the wrapped functions of the C library, asks the host itself by plain system calls
//! just before and after, and compares: both are exact integers, so no tolerance for a busy machine is needed.

mod probe;

use netloom_guest::read_files::ReadFiles;
use netloom_guest::shim::{COVERED, Files, Lapse, Orders, Shim};
use netloom_units::Dilation;
use std::path::Path;
use std::process::{Command, Output};
use std::rc::Rc;

fn millionths(millionths: u64) -> Dilation {
    Dilation::from_millionths(millionths).unwrap()
}

/// 1, 10, 100, 5/2, one that needs all its digits, and the largest.
fn dilations() -> [Dilation; 6] {
    [1_000_000, 10_000_000, 100_000_000, 2_500_000, 3_333_333, 10_000_000_000].map(millionths)
}

/// Runs a probe of [`probe`] with the shim and returns what it said, without the test harness's own lines.
fn run(shim: &Shim, orders: &Orders, probe: &str) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "--ignored", "--nocapture", "--test-threads=1", &format!("probe::{probe}")]);
    shim.arm(&mut command, orders);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{probe} under {orders:?}:\n{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("1 passed"), "no probe {probe}:\n{said}");
    said.lines().filter_map(|line| line.split_once("probe says: ")).map(|(_, said)| said.to_owned()).collect()
}

fn dilated(dilation: Dilation) -> Orders {
    Orders { lapse: Some(Lapse::from_now(dilation)), ..Orders::default() }
}

fn run_dilated(probe: &str) {
    let shim = Shim::in_memory().unwrap();
    for dilation in dilations() {
        run(&shim, &dilated(dilation), probe);
    }
}

#[test]
fn all_clocks_show_lab_time_exactly() {
    run_dilated("clocks::clocks");
}

#[test]
fn cpu_clocks_are_left_alone() {
    run_dilated("clocks::cpu_clocks");
}

#[test]
fn timers_run_on_lab_time() {
    run_dilated("timers::timers");
}

/// See `boot.c`. The first reading of the monotonic clock shows the instant at which the wall clock was read, and the
/// ticks begin only then.
#[test]
fn a_kernel_that_boots_loses_no_time() {
    for dilation in [Dilation::ONE, millionths(10_000_000)] {
        let (lapse, said, numbers) = booted(dilation, false);
        let [wall, held, first, released, second, wall_later] = &numbers[..] else { panic!("{said}") };
        let wall_at_epoch = i64::try_from(lapse.wall_ns).unwrap();
        assert_eq!(first[0], wall[0] - wall_at_epoch, "no time is lost:\n{said}");
        assert!(wall[0] - wall_at_epoch < second[0] && second[0] <= wall_later[0] - wall_at_epoch, "{said}");
        let factor = if dilation == Dilation::ONE { 1 } else { 10 };
        let tick = factor * 1_000_000_000;
        assert_eq!((held[1], released[1]), (1000 * tick, 1000 * tick), "{said}");
        assert!(held[0] <= 200_000_000, "a kernel that waits for a tick gets it:\n{said}");
        assert!(200_000_000 < released[0] && released[0] <= tick, "the tick has its own time again:\n{said}");
    }
}

/// A virtual machine reads all its clocks as they are, in whatever order.
#[test]
fn a_machine_that_boots_sees_the_clocks_at_once() {
    let (lapse, said, numbers) = booted(millionths(10_000_000), true);
    let [wall, held, first, ..] = &numbers[..] else { panic!("{said}") };
    assert!(first[0] > wall[0] - i64::try_from(lapse.wall_ns).unwrap(), "{said}");
    assert!(held[0] > 200_000_000, "the tick is not held back:\n{said}");
}

/// What `boot.c` says, and its numbers.
fn booted(dilation: Dilation, machine: bool) -> (Lapse, String, Vec<Vec<i64>>) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("boot");
    let mut compiler = Command::new("cc");
    compiler.args(["-O1", "-o"]).arg(&program).arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/probe/boot.c"));
    assert!(compiler.status().expect("the C compiler that Rust links with").success());
    let shim = Shim::in_memory().unwrap();
    let lapse = Lapse::from_now(dilation);
    let mut command = Command::new(&program);
    shim.arm(&mut command, &Orders { lapse: Some(lapse), seed: None, machine });
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let said = String::from_utf8(output.stdout).unwrap();
    let numbers_of = |line: &str| line.split(' ').skip(1).map(|number| number.parse().unwrap()).collect();
    let numbers = said.lines().map(numbers_of).collect();
    (lapse, said, numbers)
}

#[test]
fn sleeps_and_timeouts_are_never_early() {
    let shim = Shim::in_memory().unwrap();
    for dilation in [Dilation::ONE, millionths(10_000_000), millionths(2_500_000)] {
        run(&shim, &dilated(dilation), "waits::waits");
    }
}

#[test]
fn names_lead_into_another_root_and_are_written_down() {
    let folder = tempfile::tempdir().unwrap();
    let base = folder.path().canonicalize().unwrap();
    let (root, other) = (base.join("root"), base.join("other"));
    for (place, text) in [(root.join("hello"), "of the root\n"), (other.join("file"), "of another place\n")] {
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::write(place, text).unwrap();
    }
    let record = Rc::new(ReadFiles::begin().unwrap());
    let text = format!("{}\n/over/there\n{}\n", root.display(), other.display());
    let files = Files { record: Some(Rc::clone(&record)), root: Some(text.into()) };
    let shim = Shim::in_memory().unwrap().with_files(files);
    let mut command = Command::new("cat");
    command.args(["/hello", "//over/there/file", "/over/thereafter", "/etc/passwd", "/proc/self/comm"]);
    shim.arm(&mut command, &Orders::default());
    let output = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "of the root\nof another place\ncat\n");
    let names = record.names().unwrap();
    let has = |name: &str| names.looked_at.contains(Path::new(name));
    assert!(has("/hello") && has("//over/there/file") && !has("/over/thereafter") && !has("/etc/passwd"), "{names:?}");
    assert!(names.is_complete && names.listed.is_empty());
}

#[test]
fn without_orders_nothing_changes() {
    run(&Shim::in_memory().unwrap(), &Orders::default(), "clocks::untouched");
}

#[test]
fn a_seed_gives_the_same_randomness_every_time_and_another_seed_another() {
    let shim = Shim::in_memory().unwrap();
    let drawn = |seed| run(&shim, &Orders { seed, ..Orders::default() }, "entropy::entropy");
    let seven = drawn(Some(7));
    assert!(seven.iter().any(|line| line.len() > 40), "{seven:?}");
    assert_eq!(seven, drawn(Some(7)));
    for other in [Some(8), Some(0), Some(u64::MAX), None] {
        for (line, of_seven) in drawn(other).iter().zip(&seven) {
            assert_ne!(line, of_seven, "seed {other:?}");
        }
    }
    assert_ne!(drawn(None), drawn(None), "without a seed randomness is real");
}

#[test]
#[cfg(target_arch = "x86_64")]
fn kernels_that_know_only_a_part_of_the_registers_can_set_them() {
    let said = run(&Shim::in_memory().unwrap(), &Orders::default(), "xstate::xstate");
    assert_eq!(said.len(), 1, "the size of the whole state");
}

#[test]
fn a_folder_serves_as_well_as_memory() {
    let folder = tempfile::tempdir().unwrap();
    let shim = Shim::in_folder(folder.path()).unwrap();
    assert_eq!(shim.descriptor(), None);
    run(&shim, &dilated(millionths(10_000_000)), "clocks::clocks");
    let refused = Shim::in_folder(&folder.path().join("two words")).unwrap_err();
    assert!(refused.to_string().contains("spaces"), "{refused}");
}

#[test]
fn wrong_orders_end_the_process() {
    let refuse = |variables: &[(&str, &str)]| -> Output {
        let shim = Shim::in_memory().unwrap();
        let mut command = Command::new("true");
        shim.arm(&mut command, &Orders::default());
        command.envs(variables.iter().copied()).output().unwrap()
    };
    let common = [("NETLOOM_EPOCH", "5"), ("NETLOOM_WALL", "5")];
    for wrong in ["10", "0/1", "1/0", "1000000000001/1", "-1/1", "1/1x", "", "ten/1"] {
        let output = refuse(&[common[0], common[1], ("NETLOOM_DILATION", wrong)]);
        assert_eq!(output.status.code(), Some(78), "{wrong:?}");
        assert!(String::from_utf8_lossy(&output.stderr).contains("NETLOOM_DILATION"), "{wrong:?}: {output:?}");
    }
    for wrong in [&[("NETLOOM_DILATION", "10/1")][..], &[("NETLOOM_SEED", "seven")], &[("NETLOOM_SEED", "-1")]] {
        assert_eq!(refuse(wrong).status.code(), Some(78), "{wrong:?}");
    }
    let late = [("NETLOOM_EPOCH", "9223372036854775808"), common[1], ("NETLOOM_DILATION", "10/1")];
    assert_eq!(refuse(&late).status.code(), Some(78));
}

#[test]
fn the_list_of_covered_functions_is_what_the_shim_exports() {
    let folder = tempfile::tempdir().unwrap();
    Shim::in_folder(folder.path()).unwrap();
    let mut nm = Command::new("nm");
    nm.args(["--dynamic", "--defined-only", "--format=posix"]).arg(folder.path().join("netloom-shim.so"));
    let output = nm.output().expect("nm of binutils, which every C compiler needs");
    let mut exported: Vec<String> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| line.split(' ').next().unwrap().into()).collect();
    exported.sort();
    assert_eq!(exported, COVERED);
}
