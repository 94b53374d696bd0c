//! Labs on a machine that refuses namespaces: kernel nodes in virtual time need none, and compute the same.

use crate::fixture::{Finished, Fixture, User, children, lab_of};
use crate::kills::sweep;
use crate::virtual_time::{TWIN, assert_same, results};
use netloom_testing::chance::Chance;
use nix::libc;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The system calls that Docker's default profile refuses a container without capabilities, of those that a lab or a kernel makes. Of clone(2) and personality(2), it depends on the first argument.
const REFUSED: &[libc::c_long] = &[
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_mount_setattr,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_sethostname,
    libc::SYS_chroot,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_add_key,
    libc::SYS_keyctl,
];

/// All of `CLONE_NEW*`, as the profile has them.
const NAMESPACES: u32 = 0x7e02_0000;

fn line(code: u32, yes: usize, no: usize, k: u32) -> libc::sock_filter {
    let short = |jump| u8::try_from(jump).unwrap();
    libc::sock_filter { code: u16::try_from(code).unwrap(), jt: short(yes), jf: short(no), k }
}

/// The filter as a program of classic BPF, over `struct seccomp_data`: the call's number is its first word, the lower half of its first argument the
/// fifth.
fn filter() -> Vec<libc::sock_filter> {
    let load = |offset| line(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, offset);
    let is = |yes, no, k| line(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, yes, no, k);
    let has = |yes, no, k| line(libc::BPF_JMP | libc::BPF_JSET | libc::BPF_K, yes, no, k);
    let answer = |k| line(libc::BPF_RET | libc::BPF_K, 0, 0, k);
    let refuse = |errno: i32| answer(libc::SECCOMP_RET_ERRNO | errno.cast_unsigned());
    let number = |call: libc::c_long| u32::try_from(call).unwrap();
    let mut all = vec![load(0)];
    for call in REFUSED {
        all.extend([is(0, 1, number(*call)), refuse(libc::EPERM)]);
    }
    // Libraries then fall back to clone(2), whose flags a filter can look at.
    all.extend([is(0, 1, number(libc::SYS_clone3)), refuse(libc::ENOSYS)]);
    all.extend([is(0, 4, number(libc::SYS_clone)), load(16), has(0, 1, NAMESPACES), refuse(libc::EPERM), load(0)]);
    // Address randomization cannot be turned off there.
    all.extend([is(0, 3, number(libc::SYS_personality)), load(16), is(1, 0, u32::MAX), refuse(libc::EPERM)]);
    all.push(answer(libc::SECCOMP_RET_ALLOW));
    all
}

/// Has a command run where namespaces, mounts and new privileges are refused.
fn refuse_namespaces(command: &mut Command) {
    let filter = filter();
    let install = move || {
        let program =
            libc::sock_fprog { len: u16::try_from(filter.len()).unwrap(), filter: filter.as_ptr().cast_mut() };
        // SAFETY: numbers, and a pointer to memory that outlives the call.
        let outcome = unsafe {
            libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
                | libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program)
        };
        if outcome == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
    };
    // SAFETY: between fork and exec only system calls are made, on memory that was made before the fork.
    unsafe { command.pre_exec(install) };
}

fn refused(fixture: &Fixture, arguments: &[&str]) -> Finished {
    let mut command = fixture.command(arguments);
    refuse_namespaces(&mut command);
    fixture.finish(command)
}

/// Takes the only statement that has to differ out of the results.
pub(crate) fn without_note(mut results: BTreeMap<String, Vec<u8>>) -> (BTreeMap<String, Vec<u8>>, String) {
    let verdict = results.remove("verdict.json").expect("every run has a verdict");
    (results, String::from_utf8(verdict).unwrap())
}

#[test]
fn a_machine_that_refuses_namespaces_gives_the_same_bytes() {
    for user in User::all() {
        let lab = TWIN.replace("SEED", "7");
        let play = |is_refused: bool| {
            let fixture = Fixture::with_kernel(user);
            fixture.write("lab.yaml", &lab);
            let arguments = ["run", "lab.yaml", "-q"];
            let finished = if is_refused { refused(&fixture, &arguments) } else { fixture.netloom(&arguments) };
            finished.expect_code(0);
            fixture.assert_nothing_is_left("twin");
            assert!(fixture.runtime_files().is_empty(), "{:?}", fixture.runtime_files());
            without_note(results(&fixture, "twin"))
        };
        let ((usual, verdict), (bare, told)) = (play(false), play(true));
        assert_same(&usual, &bare);
        assert!(!verdict.contains("without namespaces"), "{verdict}");
        assert!(
            told.contains("the lab ran without namespaces (make the lab's namespaces: Operation not permitted"),
            "{told}"
        );
    }
}

/// Nobody's programs look for the names of the lab in files of the machine, and write to none.
#[test]
fn the_machine_is_protected_without_mounts() {
    for user in User::some() {
        let fixture = Fixture::with_kernel(user);
        let file = fixture.write("precious", "as it was\n");
        let script = format!(
            "mkdir /m && mount -t hostfs none /m && cd /m{0} && for attempt in 'echo x > precious' 'rm precious' 'mv precious gone' \
             'chmod 777 precious' 'ln precious another' 'mkdir folder' 'truncate -s 0 precious'; do eval \"$attempt\" 2>&1 && echo \
             allowed $attempt; done; cat precious; getent hosts b",
            fixture.work().display()
        );
        fixture.write("attack.sh", &script);
        fixture.write(
            "lab.yaml",
            "name: attack\nclock: virtual\nnodes: {a: {}, b: {}}\nlinks: {l: {ends: [a, b]}}\ntimeline:\n  - {on: a, run: sh attack.sh, as: attack}\n",
        );
        refused(&fixture, &["run", "lab.yaml", "-q"]).expect_code(0);
        let said = std::fs::read_to_string(fixture.latest("attack").join("logs/01-a-attack.stdout")).unwrap();
        assert!(said.contains("as it was") && said.contains(" b") && !said.contains("allowed"), "{said}");
        assert_eq!(std::fs::read_to_string(file).unwrap(), "as it was\n");
        for name in ["gone", "another", "folder"] {
            assert!(!fixture.work().join(name).exists(), "{name}");
        }
    }
}

#[test]
fn a_lab_that_needs_namespaces_is_told_of_virtual_time() {
    let fixture = Fixture::new(User::Own);
    fixture.write("lab.yaml", "nodes: [a, b]\nlinks: {l: {ends: [a, b]}}\n");
    let finished = refused(&fixture, &["run", "lab.yaml"]).expect_code(4);
    assert!(
        finished.stderr.contains("this machine refuses namespaces; `--clock virtual` works without any"),
        "{finished:#?}"
    );
}

#[test]
fn a_lab_without_namespaces_comes_up_and_goes_down() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write(
        "up.yaml",
        "name: bare-up\nclock: virtual\nnodes: {a: {}, b: {}}\nlinks: {l: {ends: [a, b], delay: 5 ms}}\n",
    );
    refused(&fixture, &["up", "up.yaml", "-q"]).expect_code(0);
    refused(&fixture, &["advance", "bare-up", "1s"]).expect_code(0);
    // Programs run as soon as its time goes on.
    refused(&fixture, &["resume", "bare-up"]).expect_code(0);
    let said = refused(&fixture, &["exec", "bare-up", "a", "--", "getent", "hosts", "b"]).expect_code(0).stdout;
    assert!(said.contains(" b"), "{said}");
    refused(&fixture, &["down", "bare-up"]).expect_code(0);
    fixture.assert_nothing_is_left("bare-up");
    assert!(fixture.runtime_files().is_empty(), "{:?}", fixture.runtime_files());
}

const VICTIM: &str = "
name: bare-victim
clock: virtual
nodes: {a: {}, r: {kind: router}, b: {}}
links: {l: {ends: [a, r], delay: 1 ms}, m: {ends: [r, b], rate: 10 Mbit/s}}
timeline:
  - {on: b, run: 'while :; do sleep 1 & done', as: many, service: true}
  - {on: a, run: ping -c 4000 -i 0.05 b, for: 100 s}
";

/// Kills the guard, the lab, a kernel, or guard and lab in one blow, `round` after `round`.
fn strike(fixture: &Fixture, round: usize, guard: i32) -> Vec<i32> {
    let lab = lab_of(guard);
    let victims = match (round % 4, lab) {
        (0, _) | (_, None) => vec![guard],
        (1, Some(lab)) => vec![lab],
        (2, Some(lab)) => vec![children(lab).first().copied().unwrap_or(lab)],
        (_, Some(lab)) => vec![guard, lab],
    };
    for pid in &victims {
        let _ = kill(Pid::from_raw(*pid), Signal::SIGKILL);
    }
    if victims.len() > 1 {
        sweep(fixture, &victims);
    }
    victims
}

#[test]
fn a_kill_leaves_nothing_of_a_lab_without_namespaces() {
    for (user, seed) in User::all().into_iter().zip([1, 2]) {
        let fixture = Fixture::with_kernel(user);
        fixture.write("victim.yaml", VICTIM);
        let mut chance = Chance::new(seed);
        for round in 0..12 {
            let moment = chance.span(Duration::from_millis(900));
            let mut command = fixture.command(&["run", "victim.yaml", "--results", "r"]);
            command.env("NETLOOM_NAMESPACES", "none").stdout(Stdio::null()).stderr(Stdio::null());
            let begun = Instant::now();
            let mut child = command.spawn().unwrap();
            sleep(moment.saturating_sub(begun.elapsed()));
            let killed = strike(&fixture, round, child.id().cast_signed());
            eprintln!("round {round}: {killed:?} killed after {moment:?}");
            // A kernel that nobody needs any more, as one that was copied, may be missed by nobody: then the guard is killed, too.
            let limit = Instant::now() + Duration::from_secs(5);
            while child.try_wait().unwrap().is_none() {
                if Instant::now() > limit {
                    let _ = child.kill();
                }
                sleep(Duration::from_millis(20));
            }
            fixture.assert_nothing_is_left("bare-victim");
            fixture.netloom(&["ps"]).expect_code(0);
            assert!(fixture.runtime_files().is_empty(), "round {round}: {:?}", fixture.runtime_files());
        }
    }
}
