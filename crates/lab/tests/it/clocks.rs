//! From lab files to plans: the clock, whose stack nodes have, and what that means for their settings.

use crate::labs::lab;
use netloom_lab::{Clock, Cpus, Lab, NodePlan, Stack, VmBegin};
use netloom_units::{BranchCount, Bytes, Computing, CpuCost, CpuLevel, Dilation, Duration, TimePerBranch, TimePerByte};

/// A lab of two nodes, of which `a` has these settings.
fn with(clock: &str, settings: &str) -> Lab {
    lab(&format!("clock: {clock}\nnodes: {{a: {{{settings}}}, b: {{}}}}\nlinks: {{l: {{ends: [a, b]}}}}\n"))
}

fn quietly(clock: &str, settings: &str) -> NodePlan {
    let Lab { plan, warnings, .. } = with(clock, settings);
    assert!(warnings.is_empty(), "{warnings}");
    plan.nodes[0].clone()
}

fn warnings(clock: &str, settings: &str) -> Vec<String> {
    with(clock, settings).warnings.lines().collect()
}

fn dilated(factor: u64) -> Clock {
    Clock::Dilated(Dilation::from_whole(factor).expect("a dilation"))
}

#[test]
fn a_lab_of_kernels_begins_on_the_day_that_it_names() {
    let day = |text: &str| lab(text).plan.start.map(|day| day.to_string());
    assert_eq!(day("nodes: [a]\nclock: virtual\n"), None);
    assert_eq!(day("nodes: [a]\nclock: virtual\nstart: 2027-03-01\n"), Some("2027-03-01".to_owned()));
    assert_eq!(day("nodes: {a: {stack: kernel}}\nstart: 2027-03-01\n"), Some("2027-03-01".to_owned()));
    let refused = |text: &str| netloom_lab::parse(text, "test.yaml").unwrap_err().to_string();
    let text = refused("nodes: {a: {stack: kernel}, b: {}}\nstart: 2027-03-01\n");
    assert!(text.contains("node b is a namespace node, which has this machine's time of day"), "{text}");
    let no_day = refused("nodes: [a]\nclock: virtual\nstart: 2027-02-30\n");
    assert!(no_day.contains("a day from 1970-01-01 to 2042-12-31 is needed here"), "{no_day}");
}

#[test]
fn a_kernel_node_has_room_for_a_thousand_interfaces() {
    let star = |size: usize, stack: &str| {
        let names: Vec<String> = (0..size).map(|number| format!("n{number}")).collect();
        let nodes: String = names.iter().map(|name| format!(", {name}: {{}}")).collect();
        let links: String = names.iter().map(|name| format!("  {name}: {{ends: [hub, {name}]}}\n")).collect();
        netloom_lab::parse(&format!("nodes: {{hub: {{stack: {stack}}}{nodes}}}\nlinks:\n{links}"), "test.yaml")
    };
    let plan = star(1000, "kernel").unwrap().plan;
    assert_eq!(plan.nodes[0].memory, Some(Bytes::new(128_000_000 + 968 * 1_000_000)));
    let text = star(1001, "kernel").unwrap_err().to_string();
    assert!(text.contains("the kernel of a node has at most 1000 interfaces, and hub has 1001"), "{text}");
    assert!(star(1001, "namespace").is_ok());
}

#[test]
fn the_clock_is_real_unless_the_file_says_otherwise() {
    assert_eq!(lab("nodes: [a]\n").plan.clock, Clock::Real);
    assert_eq!(lab("nodes: [a]\nclock: real\n").plan.clock, Clock::Real);
    assert_eq!(lab("nodes: [a]\nclock: virtual\n").plan.clock, Clock::Virtual);
    assert_eq!(lab("nodes: [a]\nclock: {dilation: 10}\n").plan.clock, dilated(10));
    let Clock::Dilated(factor) = lab("nodes: [a]\nclock: {dilation: 2.50}\n").plan.clock else {
        panic!("it is dilated")
    };
    assert_eq!((factor.numerator(), factor.denominator()), (5, 2));
}

#[test]
fn a_clock_is_shown_as_the_file_would_have_it() {
    for clock in ["real", "virtual", "{dilation: 2.5}", "{dilation: 10}"] {
        assert_eq!(lab(&format!("nodes: [a]\nclock: {clock}\n")).plan.clock.to_string(), clock);
    }
}

#[test]
fn the_clock_decides_whose_stack_nodes_have() {
    assert_eq!(quietly("real", "").stack, Stack::Namespace);
    assert_eq!(quietly("{dilation: 1}", "").stack, Stack::Kernel);
    assert_eq!(quietly("virtual", "").stack, Stack::Kernel);
    // In real time both kinds can be joined.
    let mixed = with("real", "stack: kernel").plan;
    assert_eq!([mixed.nodes[0].stack, mixed.nodes[1].stack], [Stack::Kernel, Stack::Namespace]);
}

#[test]
fn a_virtual_machine_has_what_it_says_and_the_rest_by_default() {
    let node = quietly("real", "vm: {kernel: k, initrd: /i, memory: 1 GB}");
    let vm = node.vm.unwrap();
    assert_eq!((node.stack, node.memory, node.overlay), (Stack::Vm, None, true));
    assert_eq!((vm.memory, vm.cpus, vm.disk.as_ref()), (Bytes::new(1_000_000_000), 1, None));
    let VmBegin::Kernel { kernel, initrd, append } = vm.begin else { panic!("it has a kernel") };
    assert!(kernel.ends_with("k") && initrd == std::path::Path::new("/i") && append.is_empty());
    let disk = quietly("real", "vm: {disk: d, access: none}");
    assert!(!disk.takes_commands() && disk.vm.unwrap().is_closed());
    let open = quietly("real", "vm: {disk: d, firmware: uefi}");
    assert!(open.takes_commands() && !open.vm.unwrap().is_closed());
    assert_eq!(quietly("{dilation: 10}", "vm: {kernel: k, initrd: /i}").stack, Stack::Vm);
}

#[test]
fn only_kernel_nodes_have_memory() {
    assert_eq!(quietly("real", "").memory, None);
    assert_eq!(quietly("real", "stack: kernel").memory, Some(Bytes::new(128_000_000)));
    assert_eq!(quietly("virtual", "memory: 64 MiB").memory, Some(Bytes::new(67_108_864)));
    assert_eq!(quietly("virtual", "memory: 32 MB").memory, Some(Bytes::new(32_000_000)));
    let said = warnings("real", "memory: 64 MB");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("nodes.a.memory: a namespace node has no memory of its own"), "{said:?}");
    assert_eq!(with("real", "memory: 64 MB").plan.nodes[0].memory, None);
}

/// One file serves all clocks if a node says both what it may use and what packets cost.
#[test]
fn each_clock_has_its_own_limit_of_the_processor() {
    let cost = CpuCost { packet: Duration::from_micros(2), byte: TimePerByte::from_picos(80), ..CpuCost::default() };
    let both = "cpus: 0.5, cpu: {packet: 2 us, byte: 0.08 ns}";
    for (clock, cpus, cpu) in
        [("real", Some(500), None), ("{dilation: 4}", Some(500), None), ("virtual", None, Some(cost))]
    {
        let node = quietly(clock, both);
        assert_eq!((node.cpus.map(Cpus::thousandths), node.cpu.map(|own| own.cost)), (cpus, cpu), "{clock}");
    }
    let costs = |said: &str| quietly("virtual", said).cpu.unwrap().cost;
    assert_eq!(costs("cpu: {packet: 2 us}"), CpuCost { byte: TimePerByte::ZERO, ..cost });
    assert_eq!(costs("cpu: {packet: 0, byte: 80 ps}"), CpuCost { packet: Duration::ZERO, ..cost });
    let said = warnings("{dilation: 4}", "cpu: {packet: 2 us}");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].contains("nodes.a.cpu: this is for virtual time only"), "{said:?}");
    assert_eq!(with("{dilation: 4}", "cpu: {packet: 2 us}").plan.nodes[0].cpu, None);
}

#[test]
fn computing_costs_what_the_lab_file_says() {
    let computing = |cpu: &str| quietly("virtual", cpu).cpu.unwrap().cost.computing;
    let branch = TimePerBranch::from_picos(500);
    assert_eq!(computing("cpu: {packet: 2 us}"), None);
    assert_eq!(computing("cpu: {branch: 0.5 ns}"), Some(Computing { branch, count: BranchCount::Processor }));
    assert_eq!(computing("cpu: {branch: 500 ps, count: steps}"), Some(Computing { branch, count: BranchCount::Steps }));
}

#[test]
fn programs_see_the_processor_that_the_lab_file_names() {
    let level = |said: &str| quietly("virtual", said).cpu.unwrap().level;
    assert_eq!(level("cpu: {level: x86-64-v2}"), Some(CpuLevel::V2));
    assert_eq!(level("cpu: {level: x86-64, packet: 1 us}"), Some(CpuLevel::V1));
    assert_eq!(level("cpu: {level: host}"), None);
    assert!(quietly("virtual", "cpu: {level: x86-64-v3}").cpu.unwrap().cost.is_zero());
}

/// At dilation 4, one core of this machine is four of lab time.
#[test]
fn a_kernel_cannot_use_more_than_one_core() {
    assert_eq!(quietly("{dilation: 4}", "cpus: 4").cpus.map(Cpus::thousandths), Some(4_000));
    assert_eq!(quietly("real", "cpus: 4").cpus.map(Cpus::thousandths), Some(4_000));
    let said = warnings("{dilation: 4}", "cpus: 4.001");
    assert!(said[0].contains("4 of lab time under `clock: {dilation: 4}`: this limits nothing"), "{said:?}");
    assert_eq!(warnings("real", "stack: kernel, cpus: 1.5").len(), 1);
}

#[test]
fn congestion_control_is_a_kernel_setting() {
    let setting = |value: &str| ("net.ipv4.tcp_congestion_control".to_owned(), value.to_owned());
    assert_eq!(quietly("real", "congestion: bbr").sysctls, [setting("bbr")]);
    let node = quietly("virtual", "congestion: bic, sysctl: {net.ipv4.tcp_sack: 0}");
    assert_eq!(node.sysctls, [("net.ipv4.tcp_sack".to_owned(), "0".to_owned()), setting("bic")]);
    let said = warnings("real", "congestion: bbrr");
    assert!(
        said[0].contains("only a kernel with a module of its own has a congestion control `bbrr`: did you mean `bbr`?"),
        "{said:?}"
    );
    assert!(warnings("real", "congestion: xyz")[0].contains("Linux has reno, cubic, bbr"));
}

#[test]
fn precision_means_nothing_in_virtual_time() {
    let text = |clock: &str| format!("nodes: [a]\nprecision: exact\nclock: {clock}\n");
    assert!(lab(&text("{dilation: 10}")).warnings.is_empty());
    let said: Vec<String> = lab(&text("virtual")).warnings.lines().collect();
    assert_eq!(
        said,
        ["test.yaml:2: precision: in virtual time every packet leaves at its exact instant: leave it out"]
    );
}

/// What a rerun with another clock needs.
#[test]
fn a_file_can_be_read_as_if_its_clock_were_another() {
    let text = "nodes: [a]\nclock: real\n";
    let slow = netloom_lab::parse_with_clock(text, "test.yaml", dilated(10)).expect("a lab").plan;
    assert_eq!((slow.clock, slow.nodes[0].stack), (dilated(10), Stack::Kernel));
    let wrong = netloom_lab::parse_with_clock("nodes: {a: {stack: namespace}}\n", "test.yaml", Clock::Virtual);
    assert!(wrong.is_err_and(|wrong| wrong.to_string().contains("Under `clock: virtual` write `stack: kernel`")));
}

#[test]
fn a_dilated_plan_tells_clock_and_stack() {
    let plan = with("{dilation: 2.5}", "cpus: 0.5").plan;
    let text = plan.text().to_string();
    assert!(text.starts_with("Lab test: 2 nodes, 1 link, seed 1, dilation 2.5, balanced\n"), "{text}");
    assert!(text.contains("  a  host  kernel, 128 MB, 0.5 cores  eth0"), "{text}");
    let value = plan.describe();
    assert_eq!((&value["clock"], &value["dilation"]), (&"dilated".into(), &2.5.into()));
    assert_eq!(value["nodes"][0]["stack"], "kernel");
    assert_eq!(value["nodes"][0]["memory_bytes"], 128_000_000);
    assert_eq!(value["nodes"][0]["cpus_thousandths"], 500);
}

#[test]
fn a_virtual_plan_tells_what_packets_cost() {
    let plan = with("virtual", "cpu: {packet: 2 us, byte: 80 ps}, memory: 64 MB").plan;
    let text = plan.text().to_string();
    assert!(text.starts_with("Lab test: 2 nodes, 1 link, seed 1, virtual time\n"), "{text}");
    assert!(text.contains("  a  host  kernel, 64 MB, 2 us per packet, 80 ps per byte  eth0"), "{text}");
    let value = plan.describe();
    assert_eq!(value["clock"], "virtual");
    assert!(value["dilation"].is_null());
    let cost = serde_json::json!({"packet_ns": 2_000, "byte_ps": 80, "syscall_ns": null, "switch_ns": null,
        "branch_ps": null, "count": null, "level": null});
    assert_eq!(value["nodes"][0]["cpu"], cost);
}

#[test]
fn a_virtual_plan_tells_what_computing_costs() {
    let plan = with("virtual", "cpu: {branch: 0.5 ns, count: steps}").plan;
    assert!(plan.text().to_string().contains("  a  host  kernel, 128 MB, 500 ps per branch  eth0"), "{}", plan.text());
    let cost = &plan.describe()["nodes"][0]["cpu"];
    assert_eq!((&cost["branch_ps"], &cost["count"]), (&500.into(), &"steps".into()));
}

#[test]
fn a_plan_in_real_time_says_so() {
    let value = with("real", "").plan.describe();
    assert_eq!((&value["clock"], &value["dilation"]), (&"real".into(), &1.0.into()));
    assert_eq!(value["nodes"][0]["stack"], "namespace");
    assert!(value["nodes"][0]["memory_bytes"].is_null() && value["nodes"][0]["cpu"].is_null());
}
