use super::*;

const ALLOWED: Allowed = Allowed {
    lateness_ns: 1_000_000,
    lateness_max_ns: 10_000_000,
    rate: 0.02,
    delay: 0.01,
    starvation: 0.1,
    standstill_ns: 100_000_000,
    events_ns: 10_000_000,
    starts_ns: 100_000_000,
    changes: false,
};

fn pipe() -> PipeEvidence {
    PipeEvidence {
        name: "backbone forward".into(),
        carried: true,
        lateness_p99_ns: 30_000,
        lateness_max_ns: 90_000,
        joined_in_kernel: false,
        delay_ns: Some(20_000_000),
        measured_delay_ns: 20_005_000,
        busy: Some(Busy { described_ns: 5_000_000_000, measured_ns: 5_010_000_000, bits_per_second: 100e6 }),
    }
}

/// An engine that never waited.
fn engine() -> EngineEvidence {
    EngineEvidence { waited_ns: vec![Some(0)], ..EngineEvidence::default() }
}

fn with(pipe: PipeEvidence) -> Evidence {
    Evidence { pipes: vec![pipe], engine: engine(), ..Evidence::default() }
}

#[test]
fn what_the_kernel_does_not_tell_is_noted() {
    let engine = EngineEvidence { waited_ns: vec![None], serves_kernels: true, ..EngineEvidence::default() };
    let verdict = judge(&ALLOWED, &Evidence { engine: engine.clone(), ..Evidence::default() });
    assert!(verdict.is_as_described());
    assert_eq!(verdict.notes.len(), 1);
    let engine = EngineEvidence { serves_kernels: false, ..engine };
    assert_eq!(judge(&ALLOWED, &Evidence { engine, ..Evidence::default() }).notes, [""; 0]);
}

#[test]
fn each_shard_of_the_engine_is_judged_by_itself() {
    let waited_ns = vec![Some(10_000_000), Some(400_000_000)];
    let engine =
        EngineEvidence { elapsed_ns: 1_000_000_000, waited_ns, serves_kernels: true, ..EngineEvidence::default() };
    let verdict = judge(&ALLOWED, &Evidence { engine, ..Evidence::default() });
    let subjects: Vec<&str> = verdict.findings.iter().map(|finding| finding.subject.as_str()).collect();
    assert_eq!(subjects, ["engine, shard 1"]);
}

#[test]
fn a_run_within_its_bounds_is_as_described() {
    let verdict = judge(&ALLOWED, &with(pipe()));
    assert_eq!(verdict, Verdict { judgement: Judgement::AsDescribed, ..Verdict::default() });
}

#[test]
fn late_packets_are_found_and_slowing_is_proposed() {
    let verdict = judge(&ALLOWED, &with(PipeEvidence { lateness_p99_ns: 3_200_000, ..pipe() }));
    assert!(!verdict.is_as_described());
    assert_eq!(
        verdict.headline(),
        "NOT as described: backbone forward: 1 % of its packets were more than 3.2 ms late, 1 ms is allowed"
    );
    assert_eq!(verdict.proposal().unwrap(), "a dilation of 4 would fit: --clock 4, or --auto-dilate");
}

#[test]
fn a_pipe_without_traffic_is_not_judged() {
    let idle = PipeEvidence { carried: false, lateness_p99_ns: u64::MAX, lateness_max_ns: u64::MAX, ..pipe() };
    let beside_another = Evidence { pipes: vec![idle.clone(), pipe()], ..with(pipe()) };
    assert!(judge(&ALLOWED, &beside_another).is_as_described());
    let alone = judge(&ALLOWED, &with(idle.clone()));
    assert_eq!(
        (alone.judgement, alone.headline().as_str()),
        (Judgement::NotJudged, "not judged: no link carried a packet")
    );
    // Findings against the run are reported all the same, and what is not measured on purpose is no reason to doubt.
    let engine = EngineEvidence { lost_arriving: 1, ..engine() };
    assert_eq!(judge(&ALLOWED, &Evidence { engine, ..with(idle.clone()) }).judgement, Judgement::NotAsDescribed);
    let joined = PipeEvidence { joined_in_kernel: true, ..idle };
    assert!(judge(&ALLOWED, &with(joined)).is_as_described());
}

#[test]
fn the_latest_packet_has_a_bound_of_its_own() {
    let late = |lateness_max_ns| judge(&ALLOWED, &with(PipeEvidence { lateness_max_ns, ..pipe() }));
    assert!(late(10_000_000).is_as_described());
    let found = "backbone forward: its latest packet was 300 ms late, 10 ms is allowed (`lateness_max`)";
    assert_eq!(late(300_000_000).headline(), format!("NOT as described: {found}"));
    // The percentile says the same, and more.
    let both = PipeEvidence { lateness_p99_ns: 3_200_000, lateness_max_ns: 300_000_000, ..pipe() };
    let verdict = judge(&ALLOWED, &with(both));
    assert_eq!(verdict.findings.len(), 1);
    assert!(verdict.findings[0].text.starts_with("1 % of its packets"));
}

#[test]
fn a_rate_that_is_not_reached_is_found() {
    let slow = Busy { described_ns: 2_000_000_000, measured_ns: 5_000_000_000, bits_per_second: 1e9 };
    let verdict = judge(&ALLOWED, &with(PipeEvidence { busy: Some(slow), ..pipe() }));
    assert_eq!(verdict.findings[0].text, "while packets waited it achieved 400 Mbit/s of the described 1 Gbit/s");
    assert_eq!(verdict.dilation, Some(3));
}

#[test]
fn a_rate_that_is_exceeded_is_found() {
    let fast = Busy { described_ns: 2_100_000_000, measured_ns: 2_000_000_000, bits_per_second: 1e8 };
    let verdict = judge(&ALLOWED, &with(PipeEvidence { busy: Some(fast), ..pipe() }));
    assert_eq!((verdict.findings.len(), verdict.findings[0].slowing), (1, None));
}

#[test]
fn a_short_busy_period_says_nothing() {
    let short = Busy { described_ns: 900_000_000, measured_ns: 1_800_000_000, bits_per_second: 1e8 };
    assert!(judge(&ALLOWED, &with(PipeEvidence { busy: Some(short), ..pipe() })).is_as_described());
}

#[test]
fn the_mean_delay_may_differ_by_its_bound_only() {
    let slow = PipeEvidence { measured_delay_ns: 21_100_000, ..pipe() };
    let verdict = judge(&ALLOWED, &with(slow.clone()));
    assert_eq!(verdict.findings[0].text, "its mean delay was 21.1 ms, 20 ms is described");
    let within = PipeEvidence { delay_ns: Some(200_000_000), measured_delay_ns: 201_900_000, ..pipe() };
    assert!(judge(&ALLOWED, &with(within)).is_as_described());
    let changed = PipeEvidence { delay_ns: None, ..slow };
    assert!(judge(&ALLOWED, &with(changed)).is_as_described());
}

#[test]
fn a_change_that_comes_too_late_is_found() {
    let late = |late_count| crate::Lateness {
        count: 21,
        late_count,
        worst_ns: Some(1_600_000_000),
        worst: Some("backbone at 3 s".into()),
    };
    let with = |late_count| {
        let events = Punctuality { link_changes: late(late_count), ..Punctuality::default() };
        judge(&ALLOWED, &Evidence { events, engine: engine(), ..Evidence::default() })
    };
    let found = "timeline: 1 of 21 changes of links happened too late: backbone at 3 s by 1.6 s, 10 ms is allowed";
    assert_eq!(with(1).headline(), format!("NOT as described: {found}"));
    assert_eq!(with(1).dilation, Some(160));
    assert!(with(0).is_as_described());
}

#[test]
fn a_single_packet_lost_outside_the_models_is_fatal() {
    let engine = EngineEvidence { lost_arriving: 1, ..engine() };
    let verdict = judge(&ALLOWED, &Evidence { engine, ..Evidence::default() });
    assert_eq!(verdict.findings[0].text, "packets lost outside the models: 1 on the way in, 0 on the way out");
    assert_eq!(verdict.dilation, Some(2));
}

/// A node whose interface has dropped so many packets.
fn dropping(sending: u64, receiving: u64) -> NodeEvidence {
    let dropped = vec![InterfaceDrops { interface: "eth0".into(), sending, receiving }];
    NodeEvidence { name: "r1".into(), dropped, ..NodeEvidence::default() }
}

#[test]
fn what_interfaces_of_links_drop_is_lost_and_what_others_drop_is_told() {
    let judged = |node| judge(&ALLOWED, &Evidence { nodes: vec![node], ..Evidence::default() });
    let both = judged(dropping(3, 5));
    let text = "packets dropped by its interfaces, outside the models: 8 (eth0: 3 when sending, 5 that came): a program of XDP \
                that sends frames on needs `offload: false` at the node";
    assert_eq!((both.findings[0].text.as_str(), both.dilation), (text, Some(2)));
    let came = judged(dropping(0, 5));
    assert!(came.findings[0].text.contains("5 (eth0: 5 that came): a program of XDP"), "{came:?}");
    assert_eq!(came.dilation, None);
    let NodeEvidence { dropped, .. } = dropping(4, 0);
    let elsewhere = judged(NodeEvidence { name: "leaf".into(), dropped_elsewhere: dropped, ..NodeEvidence::default() });
    assert!(elsewhere.is_as_described());
    let note = "what interfaces of node leaf dropped that belong to no described link: eth0: 4 when sending";
    assert_eq!(elsewhere.notes, [note]);
}

#[test]
fn the_port_that_lost_most_is_named() {
    let port = PortLoss { link: "l".into(), node: "a".into(), lost_arriving_packets: 7, lost_leaving_packets: 2 };
    let engine = EngineEvidence { lost_arriving: 8, lost_leaving: 2, worst_port: Some(port), ..engine() };
    let verdict = judge(&ALLOWED, &Evidence { engine: engine.clone(), ..Evidence::default() });
    let text = "packets lost outside the models: 8 on the way in, 2 on the way out; most between node a and link l: 9";
    assert_eq!(verdict.findings[0].text, text);
    let full = EngineEvidence { was_out_of_memory: true, ..engine };
    let out_of_memory = judge(&ALLOWED, &Evidence { engine: full, ..Evidence::default() });
    assert_eq!(out_of_memory.findings[0].text, format!("{text}; the engine had used all memory that it may use"));
    assert_eq!(out_of_memory.dilation, None);
}

/// In 10 s it did the work of 2 s, while every packet was later than the one before.
#[test]
fn an_engine_that_falls_behind_says_how_fast_it_is() {
    let engine = EngineEvidence { lab_ns: 10_000_000_000, behind_ns: 8_000_000_000, ..engine() };
    let late = PipeEvidence { lateness_p99_ns: 7_900_000_000, ..pipe() };
    let verdict = judge(&ALLOWED, &Evidence { pipes: vec![late], engine, ..Evidence::default() });
    assert_eq!(verdict.dilation, Some(10));
    assert_eq!(
        verdict.findings[1].text,
        "it cannot compute in time what the links describe: after 10 s of lab time it had computed 2 s"
    );
}

/// An engine that waited for a processor for a fifth of the time.
fn starved() -> EngineEvidence {
    EngineEvidence { elapsed_ns: 1_000_000_000, waited_ns: vec![Some(200_000_000)], ..engine() }
}

#[test]
fn an_engine_that_waited_and_was_on_time_did_what_was_described() {
    let verdict = judge(&ALLOWED, &Evidence { engine: starved(), ..with(pipe()) });
    assert_eq!(verdict, Verdict { judgement: Judgement::AsDescribed, ..Verdict::default() });
}

#[test]
fn an_engine_that_waited_is_named_as_the_cause_of_what_it_did() {
    let late = with(PipeEvidence { lateness_p99_ns: 1_500_000, ..pipe() });
    let verdict = judge(&ALLOWED, &Evidence { engine: starved(), ..late.clone() });
    assert_eq!((verdict.findings.len(), verdict.dilation), (1, Some(2)));
    assert_eq!(verdict.causes, ["the engine waited for a processor for 20.0 % of the time"]);
    assert_eq!(judge(&ALLOWED, &late).causes, [""; 0]);
}

/// Packets of kernels arrive when they are read: nothing else shows what the wait did to them.
#[test]
fn an_engine_that_let_kernels_wait_is_found() {
    let engine = EngineEvidence { serves_kernels: true, ..starved() };
    let verdict = judge(&ALLOWED, &Evidence { engine, ..Evidence::default() });
    assert_eq!(verdict.findings[0].text, "it waited for a processor for 20.0 % of the time, 10.0 % is allowed");
    assert_eq!(verdict.causes, [""; 0]);
}

#[test]
fn shares_of_a_moment_are_not_judged() {
    let waited_ns = vec![Some(1_900_000)];
    let engine = EngineEvidence { elapsed_ns: 2_000_000, waited_ns, serves_kernels: true, ..engine() };
    assert!(judge(&ALLOWED, &Evidence { engine, ..Evidence::default() }).is_as_described());
}

#[test]
fn the_worst_comes_first_and_sets_the_slowing() {
    let evidence = Evidence {
        pipes: vec![
            PipeEvidence { lateness_p99_ns: 2_000_000, ..pipe() },
            PipeEvidence { name: "worst".into(), lateness_p99_ns: 7_500_000, ..pipe() },
        ],
        ..Evidence::default()
    };
    let verdict = judge(&ALLOWED, &evidence);
    assert_eq!(verdict.findings[0].subject, "worst");
    assert_eq!(verdict.dilation, Some(8));
}

#[test]
fn a_bound_of_zero_gives_a_finite_excess() {
    let strict = Allowed { lateness_ns: 0, ..ALLOWED };
    let verdict = judge(&strict, &with(pipe()));
    assert!(verdict.findings[0].slowing.unwrap().is_finite());
}

#[test]
fn a_share_that_cannot_be_enforced_is_found_and_slowing_would_not_help() {
    let node =
        NodeEvidence { name: "r1".into(), unenforced_share: Some("no controller".into()), ..NodeEvidence::default() };
    let verdict = judge(&ALLOWED, &Evidence { nodes: vec![node], ..Evidence::default() });
    assert_eq!(verdict.headline(), "NOT as described: node r1: its CPU share could not be enforced: no controller");
    assert_eq!(verdict.dilation, None);
}

/// A node whose programs did this to its network; the first of each pair says whether it concerns a link.
#[test]
fn what_a_kernel_was_short_of_is_a_note() {
    let node =
        NodeEvidence { name: "a".into(), shortages: vec!["TCP ran short of memory once".into()], ..Default::default() };
    let judged = judge(&ALLOWED, &Evidence { nodes: vec![node], ..Evidence::default() });
    assert!(judged.notes.contains(&"node a: TCP ran short of memory once".to_owned()), "{:?}", judged.notes);
}

#[test]
fn what_a_kernel_discarded_is_a_note_unless_other_labs_had_filled_its_table_of_neighbours() {
    let discards = vec!["its kernel discarded 25 packets of IPv4 instead of sending them (OutDiscards)".to_owned()];
    let node = NodeEvidence { name: "b".into(), discards, ..NodeEvidence::default() };
    let evidence = Evidence { nodes: vec![NodeEvidence::default(), node], ..Evidence::default() };
    let alone = judge(&ALLOWED, &evidence);
    assert!(alone.findings.is_empty() && alone.notes.len() == 1, "{alone:?}");
    assert!(alone.notes[0].starts_with("node b: its kernel discarded 25 packets of IPv4"), "{:?}", alone.notes);
    let beside_others = judge(&ALLOWED, &Evidence { overflows: 40, ..evidence.clone() });
    let found: Vec<_> = beside_others.findings.iter().map(|finding| &*finding.subject).collect();
    assert_eq!((found, beside_others.notes.len()), (vec!["machine", "node b"], 0));
    assert!(beside_others.findings[1].text.ends_with("was full"), "{:?}", beside_others.findings);
    // A kernel of the node's own has a table of its own.
    let mut evidence = Evidence { overflows: 40, ..evidence };
    evidence.nodes[1].has_own_neighbors = true;
    let own = judge(&ALLOWED, &evidence);
    assert_eq!((own.findings.len(), &own.notes), (1, &alone.notes));
}

fn changed(changes: &[(bool, &str)]) -> Evidence {
    let change = |(alters_link, what): &(bool, &str)| NetworkChange { alters_link: *alters_link, what: (*what).into() };
    let changes = changes.iter().map(change).collect();
    let node = NodeEvidence { name: "a".into(), changes, ..NodeEvidence::default() };
    Evidence { nodes: vec![node], engine: engine(), ..Evidence::default() }
}

#[test]
fn a_queue_in_front_of_a_link_is_not_what_was_described() {
    let evidence = changed(&[(true, "eth0 was given the queueing discipline tbf"), (true, "eth1 was down")]);
    let verdict = judge(&ALLOWED, &evidence);
    assert_eq!((verdict.findings.len(), verdict.dilation), (1, None));
    assert!(verdict.findings[0].text.contains(": eth0 was given the queueing discipline tbf, eth1 was down ("));
    let allowing = judge(&Allowed { changes: true, ..ALLOWED }, &evidence);
    assert!(allowing.is_as_described());
    assert_eq!(allowing.notes.len(), 1);
}

#[test]
fn an_address_is_the_nodes_own_business_and_told() {
    let verdict = judge(&ALLOWED, &changed(&[(false, "eth0 was given the address 10.9.9.9")]));
    assert!(verdict.is_as_described());
    let note = "what the programs of node a did to its network: eth0 was given the address 10.9.9.9";
    assert_eq!(verdict.notes, [note]);
}

#[test]
fn an_address_that_was_lost_is_not_what_was_described() {
    let lost_leases = vec!["eth0 lost its address 10.0.0.3 and got no other".to_owned()];
    let node = NodeEvidence { name: "a".into(), lost_leases, ..NodeEvidence::default() };
    let verdict = judge(&ALLOWED, &Evidence { nodes: vec![node], engine: engine(), ..Evidence::default() });
    let start = "NOT as described: node a: eth0 lost its address 10.0.0.3 and got no other: the server was gone";
    assert!(verdict.headline().starts_with(start), "{}", verdict.headline());
    assert_eq!(verdict.dilation, None);
}

fn dilated(factor: u64) -> Clock {
    Clock::Dilated(netloom_units::Dilation::from_whole(factor).unwrap())
}

#[test]
fn what_is_proposed_is_relative_to_the_runs_own_dilation() {
    let twice_as_late = with(PipeEvidence { lateness_p99_ns: 2_000_000, ..pipe() });
    assert_eq!(judge(&ALLOWED, &Evidence { clock: dilated(10), ..twice_as_late.clone() }).dilation, Some(20));
    let hardly_late = with(PipeEvidence { lateness_p99_ns: 1_010_000, ..pipe() });
    assert_eq!(judge(&ALLOWED, &Evidence { clock: dilated(10), ..hardly_late.clone() }).dilation, Some(11));
    assert_eq!(judge(&ALLOWED, &Evidence { clock: dilated(1000), ..hardly_late.clone() }).dilation, Some(1010));
    assert_eq!(judge(&ALLOWED, &hardly_late).dilation, Some(2));
    assert_eq!(judge(&ALLOWED, &Evidence { clock: Clock::Virtual, ..twice_as_late }).dilation, None);
    let fractional = Clock::Dilated(netloom_units::Dilation::from_millionths(2_500_000).unwrap());
    assert_eq!(judge(&ALLOWED, &Evidence { clock: fractional, ..hardly_late }).dilation, Some(3));
}

#[test]
fn a_dilation_that_no_lab_can_have_is_not_advised() {
    let hopeless = with(PipeEvidence { lateness_p99_ns: 20_000_000_000, ..pipe() });
    let verdict = judge(&ALLOWED, &hopeless);
    assert_eq!(verdict.dilation, Some(20_000));
    // A stall of some seconds says nothing of how fast the machine is.
    let proposal = verdict.proposal().unwrap();
    assert!(!proposal.contains("20000") && proposal.contains("--clock virtual"), "{proposal}");
    let nearly = with(PipeEvidence { lateness_p99_ns: 50_000_000, ..pipe() });
    let slower = judge(&ALLOWED, &Evidence { clock: dilated(1000), ..nearly }).proposal().unwrap();
    assert!(slower.contains("dilation of 50000") && slower.contains("--clock virtual"), "{slower}");
}

/// A node whose kernel ran and waited for these shares of a second, in percent.
fn node_with(ran: u64, waited: u64) -> Evidence {
    let processor =
        ProcessorShare { elapsed_ns: 1_000_000_000, ran_ns: ran * 10_000_000, waited_ns: waited * 10_000_000 };
    let node = NodeEvidence { name: "a".into(), processor: Some(processor), ..NodeEvidence::default() };
    Evidence { nodes: vec![node], engine: engine(), clock: dilated(10), ..Evidence::default() }
}

#[test]
fn a_starved_kernel_is_found_and_the_smallest_dilation_follows() {
    let verdict = judge(&ALLOWED, &node_with(50, 30));
    assert_eq!(
        verdict.headline(),
        "NOT as described: node a: it waited for a processor for 30.0 % of the time, 10.0 % is allowed"
    );
    assert_eq!(verdict.dilation, Some(30));
}

#[test]
fn a_kernel_that_was_always_busy_is_found() {
    let verdict = judge(&ALLOWED, &node_with(88, 8));
    assert!(verdict.headline().contains("node a: its processor was busy for 96 % of the time"), "{verdict:?}");
    assert_eq!(verdict.dilation, Some(20));
    assert!(judge(&ALLOWED, &node_with(80, 8)).is_as_described());
}

/// A node that waited for no processor and yet did nothing for so many milliseconds, of which some are its share's.
fn still_node(lasted_ms: u64, described_ms: u64) -> Evidence {
    let standstill = Some(Standstill {
        began_ns: 1_500_000_000,
        lasted_ns: lasted_ms * 1_000_000,
        described_ns: described_ms * 1_000_000,
    });
    let node = NodeEvidence { name: "b".into(), standstill, ..NodeEvidence::default() };
    Evidence { nodes: vec![node], engine: engine(), clock: dilated(2), ..Evidence::default() }
}

#[test]
fn a_kernel_that_stood_still_is_found_whatever_the_cause() {
    let verdict = judge(&ALLOWED, &still_node(512, 0));
    let start = "NOT as described: node b: its kernel stood still for 512 ms or more, at 1.5 s, 100 ms is allowed";
    assert!(verdict.headline().starts_with(start), "{}", verdict.headline());
    assert_eq!(verdict.dilation, Some(11));
    assert!(judge(&ALLOWED, &still_node(100, 0)).is_as_described());
    assert!(judge(&ALLOWED, &still_node(190, 90)).is_as_described(), "its share is described");
    assert!(judge(&Allowed { standstill_ns: 1_000_000_000, ..ALLOWED }, &still_node(512, 0)).is_as_described());
}

#[test]
fn a_share_that_throttles_a_node_is_the_cause() {
    let share = Throttled { periods: 400, throttled_periods: 90, throttled_ns: 250_000_000 };
    let node = NodeEvidence { name: "a".into(), throttled: Some(share), ..NodeEvidence::default() };
    let late = with(PipeEvidence { lateness_p99_ns: 3_200_000, ..pipe() });
    let verdict = judge(&ALLOWED, &Evidence { nodes: vec![node.clone()], ..late });
    assert_eq!(verdict.causes, ["`cpus` of node a throttled it in 90 of 400 periods, for 250 ms of wall time"]);
    assert!(
        judge(&ALLOWED, &Evidence { nodes: vec![node], engine: engine(), ..Evidence::default() }).causes.is_empty()
    );
}

#[test]
fn an_engine_that_gave_its_priority_up_is_a_cause() {
    let hungry = EngineEvidence { elapsed_ns: 1_000_000_000, gave_way_ns: 400_000_000, ..engine() };
    let late = with(PipeEvidence { lateness_p99_ns: 3_200_000, ..pipe() });
    let causes = judge(&ALLOWED, &Evidence { engine: hungry.clone(), ..late }).causes;
    assert!(causes.iter().any(|cause| cause.contains("no real-time priority for 40.0 %")), "{causes:?}");
    assert!(judge(&ALLOWED, &Evidence { engine: hungry, ..with(pipe()) }).causes.is_empty());
}

#[test]
fn a_lab_may_allow_kernels_to_be_busy_and_starved() {
    let lax = Allowed { starvation: 1.0, ..ALLOWED };
    // Times that are read one after the other make more than all of the time.
    for (ran, waited) in [(60, 40), (60, 41), (0, 101)] {
        assert!(judge(&lax, &node_with(ran, waited)).is_as_described(), "{ran} % and {waited} %");
    }
}

#[test]
fn the_doctor_is_quoted_where_the_machine_explains_the_findings() {
    let late = with(PipeEvidence { lateness_p99_ns: 3_200_000, ..pipe() });
    let said = |evidence: &Evidence| judge(&ALLOWED, evidence).machine;
    assert!(said(&late).unwrap().contains("`netloom doctor`"));
    let known = Examination { date_utc: "2026-11-21T20:00:00Z".into(), ..Examination::default() };
    let quoted = said(&Evidence { examination: Some(known), ..late.clone() }).unwrap();
    assert!(quoted.starts_with("netloom doctor of 2026-11-21 measured"), "{quoted}");
    assert_eq!(said(&with(pipe())), None);
    assert_eq!(said(&Evidence { clock: Clock::Virtual, ..late }), None);
    let unenforced = NodeEvidence { unenforced_share: Some("no cgroup".into()), ..NodeEvidence::default() };
    assert_eq!(said(&Evidence { nodes: vec![unenforced], engine: engine(), ..Evidence::default() }), None);
}

#[test]
fn what_clients_change_is_not_described_and_what_else_they_do_is_noted() {
    let change = |alters_link, what: &str| NetworkChange { alters_link, what: what.into() };
    let interventions =
        vec![change(true, "l set to {\"loss\":\"30 %\"} at 1.2 s"), change(false, "program ping started in a at 2 s")];
    let evidence = Evidence { interventions, ..with(pipe()) };
    let verdict = judge(&ALLOWED, &evidence);
    assert!(!verdict.is_as_described() && verdict.dilation.is_none());
    assert!(verdict.findings[0].text.contains("l set to {\"loss\":\"30 %\"} at 1.2 s"), "{}", verdict.findings[0].text);
    assert_eq!(verdict.notes.len(), 1);
    assert!(verdict.notes[0].ends_with("program ping started in a at 2 s"), "{}", verdict.notes[0]);
    // The lab file may allow it.
    let lax = judge(&Allowed { changes: true, ..ALLOWED }, &evidence);
    assert!(lax.is_as_described());
    assert!(lax.notes[0].contains("30 %") && lax.notes[0].contains("ping"), "{}", lax.notes[0]);
}

#[test]
fn a_full_table_of_neighbours_is_found() {
    let verdict = judge(&ALLOWED, &Evidence { overflows: 7, ..with(pipe()) });
    assert_eq!(verdict.findings.len(), 1);
    assert!(verdict.findings[0].text.contains("was full 7 times"), "{}", verdict.findings[0].text);
}
