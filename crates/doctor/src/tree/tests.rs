use super::*;

/// A machine that says what is written.
fn machine(files: &[(&str, &str)]) -> (tempfile::TempDir, Tree) {
    let root = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let tree = Tree::at(root.path());
    (root, tree)
}

#[test]
fn a_machine_that_tells_nothing_has_no_facts() {
    let (_root, tree) = machine(&[]);
    assert_eq!(tree.facts(), Facts::default());
    assert_eq!((tree.processor(), tree.ticks(), tree.memory_of_kernel()), (None, Ticks::default(), None));
}

#[test]
fn a_desktop_tells_everything() {
    let cpu = "sys/devices/system/cpu";
    let source = "sys/devices/system/clocksource/clocksource0";
    let (_root, tree) = machine(&[
        ("proc/cpuinfo", "processor\t: 0\nmodel name\t: Some Processor\nflags\t\t: fpu hypervisor sse\n"),
        (&format!("{cpu}/isolated"), "2-3,5\n"),
        (&format!("{cpu}/cpu0/cpufreq/scaling_governor"), "powersave\n"),
        (&format!("{cpu}/cpu1/cpufreq/scaling_governor"), "powersave\n"),
        (&format!("{cpu}/cpufreq/policy0"), ""),
        (&format!("{source}/current_clocksource"), "hpet\n"),
        (&format!("{source}/available_clocksource"), "tsc hpet acpi_pm \n"),
        ("proc/sys/kernel/sched_rt_runtime_us", "950000\n"),
        ("proc/sys/kernel/sched_rt_period_us", "1000000\n"),
        ("proc/loadavg", "1.52 0.9 0.4 2/300 12345\n"),
        ("proc/meminfo", "MemTotal:        8000000 kB\nMemFree: 1 kB\nMemAvailable:    4000000 kB\n"),
        ("proc/sys/net/core/rmem_max", "212992\n"),
        (
            "proc/self/limits",
            "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024    524288    files\nMax processes   unlimited unlimited processes\nMax realtime priority     0       95\n",
        ),
        ("proc/sys/user/max_net_namespaces", "31000\n"),
        ("etc/os-release", "NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=\"debian other\"\n"),
    ]);
    let facts = tree.facts();
    assert_eq!(facts.isolated, 3);
    assert_eq!(facts.governors, BTreeMap::from([("powersave".to_owned(), 2)]));
    assert!(facts.is_virtual);
    assert_eq!(facts.clock_source.as_deref(), Some("hpet"));
    assert_eq!(facts.clock_sources, ["tsc", "hpet", "acpi_pm"]);
    assert_eq!((facts.realtime_runtime_us, facts.realtime_period_us), (Some(950_000), Some(1_000_000)));
    assert_eq!((facts.realtime_priority, facts.load), (95, Some(1.52)));
    assert_eq!(facts.memory_available_bytes, Some(4_000_000 * 1_024));
    assert_eq!((facts.receive_buffer_bytes, facts.send_buffer_bytes), (Some(212_992), None));
    assert_eq!((facts.open_files, facts.processes), (Some(524_288), None));
    assert_eq!(facts.network_namespaces, Some(31_000));
    assert_eq!(facts.distribution, ["ubuntu", "debian", "other"]);
    assert_eq!(tree.processor().as_deref(), Some("Some Processor"));
}

#[test]
fn the_tightest_quota_counts() {
    let (_root, tree) = machine(&[
        ("proc/self/cgroup", "0::/a/b\n"),
        ("sys/fs/cgroup/a/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/a/b/cpu.max", "max 100000\n"),
    ]);
    assert_eq!(tree.facts().quota, Some(1.5));
    let (_old_root, old) = machine(&[
        ("proc/self/cgroup", "4:cpu,cpuacct:/docker/x\n1:name=systemd:/\n"),
        ("sys/fs/cgroup/cpu/docker/x/cpu.cfs_quota_us", "50000\n"),
        ("sys/fs/cgroup/cpu/docker/x/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n"),
        ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
    ]);
    assert_eq!(old.facts().quota, Some(0.5));
}

#[test]
fn stolen_time_is_a_share_of_all() {
    let at = |text: &str| machine(&[("proc/stat", text)]).1;
    // The folder must live while it is read.
    let (root, tree) = machine(&[("proc/stat", "cpu  100 0 50 800 20 0 10 20 5 5\ncpu0 1 2 3\n")]);
    assert_eq!(tree.ticks(), Ticks { all: 1_000, stolen: 20 });
    drop(root);
    assert_eq!(at("nonsense").ticks(), Ticks::default());
    let (earlier, later) = (Ticks { all: 1_000, stolen: 20 }, Ticks { all: 1_100, stolen: 25 });
    assert!((later.stolen_since(earlier) - 0.05).abs() < 1e-9);
}

#[test]
fn the_memory_of_nodes_is_the_kernels_and_their_own() {
    let (_root, tree) = machine(&[
        ("proc/meminfo", "Slab:  100 kB\nKernelStack: 20 kB\nPageTables: 3 kB\nPercpu: 400 kB\nAnonPages: 9 kB\n"),
        ("proc/7/smaps_rollup", "5581-7ffc ---p 00000000 00:00 0  [rollup]\nRss:  1800 kB\nPss:   300 kB\n"),
    ]);
    assert_eq!(tree.memory_of_kernel(), Some(523 * 1_024));
    assert_eq!((tree.memory_of_process(7), tree.memory_of_process(8)), (Some(300 * 1_024), None));
}
