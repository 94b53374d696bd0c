use super::*;
use netloom_judge::examination::{Forwarding, Lateness};
use std::collections::BTreeMap;
use std::path::PathBuf;

pub(crate) const ROOT: Rights = Rights {
    root: true,
    privileged: true,
    max_user_namespaces: Some(15_000),
    unprivileged_userns_clone: None,
    apparmor_restrict_unprivileged_userns: None,
    seccomp_filter: false,
    root_is_no_mount: false,
};

pub(crate) fn late(p99_us: u64) -> Lateness {
    Lateness { count: 700, p50_ns: p99_us * 300, p99_ns: p99_us * 1_000, max_ns: p99_us * 9_000 }
}

pub(crate) fn timing() -> Timing {
    Timing {
        eco: late(120),
        balanced: late(40),
        exact: late(12),
        wake: Some(late(90)),
        policy: "real-time".into(),
        priority: true,
        contended: late(60),
        clock_reading_ns: 25,
        stolen: 0.0,
    }
}

pub(crate) fn facts() -> Facts {
    Facts {
        is_virtual: true,
        clock_source: Some("tsc".into()),
        realtime_runtime_us: Some(950_000),
        realtime_period_us: Some(1_000_000),
        load: Some(0.1),
        memory_total_bytes: Some(8_000_000_000),
        memory_available_bytes: Some(4_000_000_000),
        receive_buffer_bytes: Some(212_992),
        send_buffer_bytes: Some(212_992),
        open_files: Some(524_288),
        highest_pid: Some(4_194_304),
        network_namespaces: Some(30_000),
        neighbors: Some(1_024),
        distribution: vec!["debian".into()],
        ..Facts::default()
    }
}

pub(crate) fn carried() -> Outcome {
    Outcome::Carried(
        Forwarding {
            setup_ms: 42.0,
            lossless_packets_per_second: 312_400.0,
            flooded_packets_per_second: 401_000.0,
            tcp_bits_per_second: 14.2e9,
            plain_tcp_bits_per_second: 20e9,
            mean_sent_bytes: 42_000.0,
            mean_received_bytes: 40_000.0,
            node_memory_bytes: Some(1_000_000),
            files_per_node: 2.0,
        },
        None,
    )
}

/// A good machine, and what is wrong with it.
pub(crate) fn with<T>(
    (facts, rights, timing, trial): (&Facts, &Rights, &Timing, &Outcome),
    look: impl FnOnce(&Found<'_>) -> T,
) -> T {
    look(&Found {
        facts,
        rights,
        release: "6.1.0-9-amd64",
        processors: 2,
        timing,
        trial,
        cgroups: Ok(Hierarchy::V2 { base: PathBuf::from("/sys/fs/cgroup") }),
        kernel: Err(KernelMissing::None { need: netloom_guest::kernel::Need::Clock }),
        counter: Err(CannotCount::NoCounter),
        kvm: Kvm::None,
        missing_programs: Vec::new(),
    })
}

fn checks(facts: &Facts, rights: &Rights, timing: &Timing, trial: &Outcome) -> BTreeMap<String, Check> {
    with((facts, rights, timing, trial), all).into_iter().map(|check| (check.name.clone(), check)).collect()
}

#[test]
fn of_a_good_machine_only_what_is_not_there_is_named() {
    let checks = checks(&facts(), &ROOT, &timing(), &carried());
    let poor: Vec<&str> =
        checks.values().filter(|check| check.state != State::Fine).map(|check| &*check.name).collect();
    assert_eq!(poor, ["kernel of nodes"]);
    assert_eq!(checks["kernel of nodes"].change.as_deref(), Some("netloom kernel build"));
    assert_eq!(checks["namespaces"].result, "a lab of two nodes was made in 42 ms, as root");
    assert_eq!(checks["small packets"].result, "312,400/s without loss; 401,000/s came out of a flood");
    assert_eq!(checks["one TCP stream"].result, "14.2 Gbit/s, 0.71 of the 20 Gbit/s of a plain veth pair");
    assert_eq!(
        checks["real-time limit"].result,
        "the kernel suspends real-time programs, which this user may start, for 50 ms of every 1 s; the engine uses less"
    );
    assert!(checks.values().all(|check| check.change.is_some() == (check.state != State::Fine)));
}

#[test]
fn what_could_be_better_comes_with_its_command() {
    let poor_facts = Facts {
        governors: BTreeMap::from([("powersave".into(), 2)]),
        clock_source: Some("hpet".into()),
        clock_sources: vec!["hpet".into(), "tsc".into()],
        open_files: Some(1_024),
        load: Some(3.0),
        quota: Some(1.5),
        memory_available_bytes: Some(100_000_000),
        ..facts()
    };
    let user = Rights { root: false, privileged: false, ..ROOT };
    let poor_timing =
        Timing { policy: "ordinary".into(), priority: false, clock_reading_ns: 900, eco: late(900), ..timing() };
    let checks = checks(&poor_facts, &user, &poor_timing, &carried());
    let cases = [
        ("processor speed", "echo performance | sudo tee"),
        ("clock source", "echo tsc | sudo tee"),
        ("open files", "nofile 65536"),
        ("other load", "measure again"),
        ("processors", "lift the limit"),
        ("memory", "ps aux"),
        ("neighbours", "sudo sysctl -w net.ipv4.neigh.default.gc_thresh3=65536"),
        ("socket buffers", "sudo sysctl -w net.core.rmem_max=67108864"),
        ("priority", "rtprio 1"),
        ("sleeps (eco)", "when the machine is idle"),
    ];
    for (name, command) in cases {
        let check = &checks[name];
        assert_eq!(check.state, State::CouldBeBetter, "{check:?}");
        assert!(check.change.as_ref().unwrap().contains(command), "{check:?}");
    }
    assert!(!checks.contains_key("ordinary users"));
}

#[test]
fn the_policy_of_the_engine_is_named_with_what_it_comes_to() {
    let told = |policy: &str, priority, contended| {
        let timing = Timing { policy: policy.into(), priority, contended, ..timing() };
        checks(&facts(), &ROOT, &timing, &carried()).remove("priority").unwrap()
    };
    let fine = told("real-time", true, late(60));
    assert_eq!(fine.state, State::Fine);
    assert!(fine.result.contains("SCHED_FIFO") && fine.result.ends_with("within 60 us"), "{}", fine.result);
    let nice = told("nice", false, late(7_000));
    assert_eq!(nice.state, State::CouldBeBetter);
    assert!(nice.change.unwrap().contains("kernel.sched_rt_runtime_us"));
}

#[test]
fn a_kernel_node_is_praised_when_one_has_booted() {
    let Outcome::Carried(forwarding, _) = carried() else { unreachable!("it was carried") };
    let fails = Outcome::Carried(forwarding, Some(Err("start linux: Function not implemented".into())));
    let checks = checks(&facts(), &ROOT, &timing(), &fails);
    let check = &checks["kernel of nodes"];
    assert_eq!(check.state, State::Missing);
    assert!(check.change.as_ref().unwrap().contains("namespace nodes work"), "{check:?}");
}

#[test]
fn an_old_kernel_of_the_machine_is_named() {
    for (release, state) in [
        ("5.10.0-30-amd64", State::Fine),
        ("6.18.44", State::Fine),
        ("5.4.0-150-generic", State::CouldBeBetter),
        ("4.19.0", State::CouldBeBetter),
        ("unknown", State::Fine),
    ] {
        assert_eq!(machines_kernel(release).state, state, "{release}");
    }
}

#[test]
fn what_newer_kernels_add_is_listed_as_in_the_manual() {
    let lists = |release: &str| machines_kernel(release).result;
    assert_eq!(lists("6.12.0-1"), "Linux 6.12.0-1; 5.10 or newer will do");
    assert!(lists("6.1.0-30-amd64").ends_with("will do; newer ones add removal of the machine's folders in an ordinary user's namespace nodes (6.6), precise dilated time beside other programs (6.12)"));
    assert_eq!(lists("5.10.0-30-amd64").matches("(5.1").count(), 5);
    let manual = include_str!("../../../../docs/install.md");
    let rows: Vec<&str> = manual
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split([' ', '|']).next())
        .filter(|cell| cell.contains('.'))
        .collect();
    assert_eq!(rows, ADDED.map(|((major, minor), _)| format!("{major}.{minor}")));
}

#[test]
fn a_yardstick_that_stalled_is_not_fine() {
    let Outcome::Carried(forwarding, booted) = carried() else { unreachable!("it was carried") };
    let stalled = Outcome::Carried(Forwarding { plain_tcp_bits_per_second: 1.989e6, ..forwarding }, booted);
    let checks = checks(&facts(), &ROOT, &timing(), &stalled);
    assert_eq!(checks["one TCP stream"].state, State::CouldBeBetter, "{:?}", checks["one TCP stream"]);
}

#[test]
fn root_is_told_what_keeps_others_from_labs() {
    let ubuntu = Rights { apparmor_restrict_unprivileged_userns: Some(1), ..ROOT };
    let checks = checks(&facts(), &ubuntu, &timing(), &carried());
    let users = &checks["ordinary users"];
    assert_eq!(users.state, State::CouldBeBetter);
    assert!(users.change.as_ref().unwrap().contains("kernel.apparmor_restrict_unprivileged_userns=0"), "{users:?}");
}

#[test]
fn without_namespaces_the_advice_is_the_kernels() {
    let refused = Outcome::Refused { what: "make namespaces: no".into(), advice: Some("ask root".into()), bare: None };
    let checks = checks(&facts(), &ROOT, &timing(), &refused);
    assert_eq!(checks["namespaces"].state, State::Missing);
    assert_eq!(checks["namespaces"].change.as_deref(), Some("ask root"));
    assert!(!checks.contains_key("small packets"));
}

#[test]
fn without_namespaces_virtual_time_is_named_if_a_kernel_booted() {
    let outcome = |bare| Outcome::Refused { what: "make namespaces: no".into(), advice: Some("ask root".into()), bare };
    let told = |bare| checks(&facts(), &ROOT, &timing(), &outcome(bare)).remove("namespaces").unwrap().change.unwrap();
    assert!(told(Some(Ok(120.0))).starts_with("this machine refuses namespaces; `--clock virtual` works"));
    assert!(told(Some(Ok(120.0))).ends_with("For real time: ask root"));
    assert_eq!(told(Some(Err("no".into()))), "ask root");
}

#[test]
fn what_is_there_and_does_not_work_is_named_with_its_reason() {
    let (facts, timing, trial) = (facts(), timing(), carried());
    let told = |tried: Kvm| {
        with((&facts, &ROOT, &timing, &trial), |found| {
            let (cgroups, counter) = (found.cgroups.clone(), found.counter.clone());
            kvm(&Found {
                kvm: tried,
                kernel: found_nothing(),
                cgroups,
                counter,
                missing_programs: Vec::new(),
                ..*found
            })
        })
    };
    assert_eq!(told(Kvm::Works).result, "a virtual machine was made");
    assert_eq!(told(Kvm::None).state, State::Fine);
    let fails = told(Kvm::Fails { why: "/dev/kvm is there, but".into(), change: "do this".into() });
    assert_eq!((fails.state, fails.change.as_deref()), (State::CouldBeBetter, Some("do this")));
    assert_eq!(fails.result, "/dev/kvm is there, but; kernel nodes do without");
}

#[test]
fn a_counter_of_branches_that_may_not_be_used_is_named_with_its_reason() {
    let (facts, timing, trial) = (facts(), timing(), carried());
    let told = |why: CannotCount| {
        with((&facts, &ROOT, &timing, &trial), |found| {
            let (cgroups, kernel) = (found.cgroups.clone(), found_nothing());
            branch_counter(&Found {
                counter: Err(why),
                kernel,
                cgroups,
                kvm: Kvm::None,
                missing_programs: Vec::new(),
                ..*found
            })
        })
    };
    assert_eq!(told(CannotCount::NoCounter).state, State::Fine);
    let forbidden = told(CannotCount::Forbidden { paranoid: Some(4) });
    assert_eq!(forbidden.state, State::CouldBeBetter);
    assert!(forbidden.result.starts_with("kernel.perf_event_paranoid is 4"), "{forbidden:?}");
    assert!(forbidden.change.as_ref().unwrap().contains("`count: steps`"), "{forbidden:?}");
}

#[test]
fn programs_that_are_missing_are_installed_by_name() {
    let (facts, timing, trial) = (facts(), timing(), carried());
    let check = with((&facts, &ROOT, &timing, &trial), |found| {
        tools(&Found {
            missing_programs: vec!["ping"],
            kvm: Kvm::None,
            kernel: found_nothing(),
            cgroups: found.cgroups.clone(),
            counter: found.counter.clone(),
            ..*found
        })
    });
    assert_eq!(check.state, State::Missing);
    assert_eq!(check.change.as_deref(), Some("sudo apt-get install iputils-ping"));
    assert!(check.result.starts_with("no ping; iperf3, tcpdump"), "{check:?}");
}

#[test]
fn nobody_is_told_to_build_a_kernel_that_does_not_exist_for_his_processor() {
    let check = with((&facts(), &ROOT, &timing(), &carried()), |found| {
        kernel_nodes(&Found {
            kernel: Err(KernelMissing::Processor),
            kvm: Kvm::None,
            cgroups: Ok(Hierarchy::V2 { base: PathBuf::from("/sys/fs/cgroup") }),
            missing_programs: Vec::new(),
            counter: found.counter.clone(),
            ..*found
        })
    });
    assert_eq!(check.state, State::Missing);
    assert!(check.change.is_some_and(|change| !change.contains("kernel build")));
}

fn found_nothing() -> Result<Kernel, KernelMissing> {
    Err(KernelMissing::None { need: netloom_guest::kernel::Need::Clock })
}
