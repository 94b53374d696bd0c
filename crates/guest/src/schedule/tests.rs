//! Scripted machines under the scheduler: order, ties, windows and faults.

mod carriers;
mod cpu;
mod devices;
mod equality;
mod exchange;
mod freeze;
mod heeding;
mod parts;
mod script;

use super::{Device, DevicePort, MachineError, Scheduler, SchedulerError, Stop};
use netloom_fabric::{Fabric, PipeId, PipeSpec, PortId};
use netloom_link::{PipeConfig, RateConfig};
use netloom_units::{Duration, Instant, Seed};
use script::{Act, Script, echo, frame, number, silent};

const NIC: Device = Device(1);

/// What a pipe from port `from` to port `to` is like.
fn spec(name: &str, from: u32, to: u32, config: PipeConfig) -> PipeSpec {
    let (from, to) = (PortId(from), PortId(to));
    PipeSpec { name: name.into(), config, coalesce: Duration::ZERO, from, filter: None, medium: Vec::new(), to }
}

fn delay(nanos: u64) -> PipeConfig {
    PipeConfig { delay: Duration::from_nanos(nanos).into(), ..PipeConfig::default() }
}

/// Two machines, each with one interface, at the ends of a link with this delay each way.
fn pair(nanos: u64, machines: [Script; 2]) -> Scheduler<Script> {
    let specs = [spec("there", 0, 1, delay(nanos)), spec("back", 1, 0, delay(nanos))];
    let device_port = |machine: u32| DevicePort { machine: machine as usize, device: NIC, port: PortId(machine) };
    Scheduler::new(Fabric::new(Seed::new(1), &specs), machines.into(), &[device_port(0), device_port(1)])
}

fn at(nanos: u64) -> Instant {
    Instant::from_nanos(nanos)
}

/// What machine `index` saw: instants and numbers.
fn seen(scheduler: &mut Scheduler<Script>, index: usize) -> Vec<(u64, u32)> {
    let script = scheduler.machines().nth(index).expect("few machines");
    script.seen.iter().map(|(at, _, number)| (at.as_nanos(), *number)).collect()
}

/// 1 ms there, 1 ms back, without a wait in between.
#[test]
fn an_echo_takes_two_delays() {
    let sender = Script::new(0, silent, &[(5, Act::Send(NIC, 7))]);
    let mut lab = pair(1_000_000, [sender, Script::new(1, echo, &[])]);
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    assert_eq!(seen(&mut lab, 1), [(1_000_005, 7)]);
    assert_eq!(seen(&mut lab, 0), [(2_000_005, 7)]);
    assert_eq!(lab.statistics().frames, 4);
    assert_eq!(lab.machine_statistics().map(|m| (m.sent, m.received)).collect::<Vec<_>>(), [(1, 1), (1, 1)]);
}

/// A frame of the limit's instant is handled by the next call.
#[test]
fn the_limit_itself_is_not_played() {
    let sender = Script::new(0, silent, &[(0, Act::Send(NIC, 7))]);
    let mut lab = pair(1_000, [sender, Script::new(1, silent, &[(5_000, Act::Send(NIC, 8))])]);
    assert!(matches!(lab.run_until(at(1_000)), Ok(Stop::Limit)));
    assert_eq!((lab.now(), seen(&mut lab, 1)), (at(1_000), vec![]));
    assert!(matches!(lab.run_until(at(1_001)), Ok(Stop::Limit)));
    assert_eq!((lab.now(), seen(&mut lab, 1)), (at(1_001), vec![(1_000, 7)]));
    assert!(matches!(lab.run_until(at(900)), Ok(Stop::Limit)));
    assert_eq!(lab.now(), at(1_001), "time does not go back");
    assert!(matches!(lab.run_until(at(50_000)), Ok(Stop::Idle)));
    assert_eq!((lab.now(), seen(&mut lab, 0)), (at(50_000), vec![(6_000, 8)]));
}

/// Ten frames in a window of a long link: one grant each for sender and receiver, but for the first.
#[test]
fn a_long_link_needs_few_windows() {
    let burst: Vec<_> = (0..100).map(|number| (u64::from(number) * 1_000 + 1, Act::Send(NIC, number))).collect();
    let mut lab = pair(10_000_000, [Script::new(0, silent, &burst), Script::new(1, silent, &[])]);
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    assert_eq!(seen(&mut lab, 1).len(), 100);
    assert!(lab.statistics().grants <= 4, "{:?}", lab.statistics());
    assert_eq!(lab.statistics().rounds, 0);
}

/// Without delay an echo is back at the instant of the question, which is computed in rounds.
#[test]
fn a_link_without_delay_is_played_in_rounds() {
    let sender = Script::new(0, silent, &[(10, Act::Send(NIC, 1)), (10, Act::Send(NIC, 2)), (11, Act::Send(NIC, 3))]);
    let mut lab = pair(0, [sender, Script::new(1, echo, &[])]);
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    assert_eq!(seen(&mut lab, 0), [(10, 1), (10, 2), (11, 3)]);
    assert!(lab.statistics().rounds > 4);
}

/// An answer at the very end of a window belongs to the next one: sent one nanosecond before, received at its start.
#[test]
fn frames_at_the_edges_of_windows_are_on_time() {
    let plan = [(0, Act::Send(NIC, 1)), (99, Act::Send(NIC, 2)), (100, Act::Send(NIC, 3)), (101, Act::Send(NIC, 4))];
    let mut lab = pair(100, [Script::new(0, silent, &plan), Script::new(1, echo, &plan)]);
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    let both = [(100, 1), (199, 2), (200, 3), (201, 4)];
    assert_eq!(seen(&mut lab, 1), both);
    let echoes = [(200, 1), (299, 2), (300, 3), (301, 4)];
    let mut expected: Vec<_> = both.into_iter().chain(echoes).collect();
    // At 200 the own frame of the other entered the pipe at 100 before its echo: it was planned before.
    expected.sort_by_key(|(at, _)| *at);
    assert_eq!(seen(&mut lab, 0), expected);
}

/// Two frames of one instant come in order of machines, whoever reports first.
#[test]
fn ties_go_by_machine() {
    for eager in [true, false] {
        let specs = [spec("a", 0, 10, delay(1_000)), spec("b", 1, 11, delay(1_000))];
        let fabric = Fabric::new(Seed::new(1), &specs);
        let mut machines: Vec<_> = (0..2).map(|n| Script::new(n, silent, &[(3, Act::Send(NIC, n as u32))])).collect();
        machines.push(Script::new(2, silent, &[]));
        machines[1].is_eager = eager;
        let device_port = |machine, device, port| DevicePort { machine, device: Device(device), port: PortId(port) };
        let device_ports = [device_port(0, 1, 0), device_port(1, 1, 1), device_port(2, 2, 10), device_port(2, 1, 11)];
        let mut lab = Scheduler::new(fabric, machines, &device_ports);
        assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
        assert_eq!(seen(&mut lab, 2), [(1_003, 0), (1_003, 1)]);
    }
}

/// What agents say ends a window, and comes in order; messages to them arrive now.
#[test]
fn agents_talk_with_the_lab_process() {
    let talk = [(7, Act::Send(Device::AGENT, 1)), (3, Act::Send(Device::AGENT, 2)), (9_000, Act::Send(NIC, 3))];
    let mut lab = pair(1_000, [Script::new(0, echo, &talk), Script::new(1, silent, &talk[..1])]);
    let Ok(Stop::Agents(frames)) = lab.run_until(at(1_000_000)) else { panic!("agents spoke") };
    let told: Vec<_> = frames.iter().map(|f| (f.at.as_nanos(), f.machine, number(&f.packet))).collect();
    assert_eq!(told, [(3, 0, 2), (7, 0, 1), (7, 1, 1)]);
    let now = lab.now();
    assert!(now > at(7));
    let question = frame(lab.pool(), 40);
    assert!(lab.send_agent(0, question));
    let Ok(Stop::Agents(answers)) = lab.run_until(at(2_000_000)) else { panic!("the agent answers") };
    assert_eq!((answers[0].at, number(&answers[0].packet)), (now, 40));
    assert!(matches!(lab.run_until(at(2_000_000)), Ok(Stop::Idle)));
    assert_eq!(seen(&mut lab, 1), [(10_000, 3)]);
}

#[test]
fn a_machine_that_is_off_gets_nothing() {
    let late = Script::new(0, silent, &[(0, Act::Send(NIC, 1)), (10, Act::Send(NIC, 2))]);
    let mut lab = pair(1_000, [late, Script::new(1, echo, &[(1_005, Act::PowerOff), (5_000, Act::Send(NIC, 9))])]);
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    assert!(lab.is_off(1) && !lab.is_off(0));
    assert_eq!((seen(&mut lab, 1), seen(&mut lab, 0)), (vec![(1_000, 1)], vec![(2_000, 1)]));
    let question = frame(lab.pool(), 40);
    assert!(!lab.send_agent(1, question));
}

#[test]
fn a_failing_machine_is_named() {
    let failure = |act| {
        let mut lab =
            pair(1_000, [Script::new(0, silent, &[(1, Act::Send(NIC, 1))]), Script::new(1, echo, &[(5_000, act)])]);
        let Err(SchedulerError { machine: 1, error }) = lab.run_until(Instant::MAX) else { panic!("machine 1 fails") };
        // What the other did in that window counts.
        assert_eq!(lab.counters().next().map(|pipe| pipe.arrived.packets), Some(1));
        error
    };
    assert_eq!(failure(Act::Die), MachineError::Died(": Kernel panic".into()));
    assert_eq!(failure(Act::Stall), MachineError::Stalled(String::new()));
    let MachineError::Protocol(what) = failure(Act::SendInThePast(Duration::from_nanos(900))) else {
        panic!("the past is over")
    };
    assert_eq!(what, "it sent a frame at 4100 ns, where only 5000 ns and later, before 7000 ns, is right");
}

/// Two machines that answer at once, over links without delay, never come to an end.
#[test]
fn time_that_stands_still_is_an_error() {
    let mut lab = pair(0, [Script::new(0, echo, &[(5, Act::Send(NIC, 1))]), Script::new(1, echo, &[])]);
    let Err(error) = lab.run_until(Instant::MAX) else { panic!("frames go in circles") };
    assert!(error.to_string().contains("time stands still at 5 ns"), "{error}");
}

/// A change at a limit comes before what else happens at that instant, and not before what was sent earlier.
#[test]
fn changes_are_made_at_limits() {
    let sender = Script::new(0, silent, &[(0, Act::Send(NIC, 1)), (100, Act::Send(NIC, 2)), (200, Act::Send(NIC, 3))]);
    let mut lab = pair(1_000, [sender, Script::new(1, silent, &[])]);
    assert!(matches!(lab.run_until(at(100)), Ok(Stop::Limit)));
    let faster = netloom_link::PipeChange { delay: Some(Duration::from_nanos(50).into()), ..Default::default() };
    lab.change(PipeId(0), &faster);
    assert!(matches!(lab.run_until(at(200)), Ok(Stop::Limit)));
    lab.set_up(PipeId(0), false);
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    // Nothing overtakes: the second arrives with the first.
    assert_eq!(seen(&mut lab, 1), [(1_000, 1), (1_000, 2)]);
    assert_eq!(lab.counters().next().map(|pipe| pipe.dropped.down.packets), Some(1));
}

/// 125 bytes per microsecond at 1 Gbit/s: while a frame is on the transmitter, nothing else can come out.
#[test]
fn serialization_is_lookahead() {
    let fast =
        || PipeConfig { rate: RateConfig::Constant("1 Gbit/s".parse().expect("a rate")), ..PipeConfig::default() };
    let specs = [spec("there", 0, 1, fast()), spec("back", 1, 0, fast())];
    let device_port = |machine: u32| DevicePort { machine: machine as usize, device: NIC, port: PortId(machine) };
    let plan: Vec<_> = (0..50).map(|number| (0, Act::Send(NIC, number))).collect();
    let machines = vec![Script::new(0, silent, &plan), Script::new(1, silent, &[])];
    let mut lab = Scheduler::new(Fabric::new(Seed::new(1), &specs), machines, &[device_port(0), device_port(1)]);
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    assert_eq!(seen(&mut lab, 1).len(), 50);
    assert_eq!(seen(&mut lab, 1)[..2], [(800, 0), (800 + 808, 1)]);
}

/// A machine that computes for long, with a timer every 256 ns, and alone, runs until it sends: two windows for each frame.
#[test]
fn a_machine_that_is_alone_runs_on() {
    let sends = (0..10).map(|step| (step * 25_600, Act::Send(NIC, 7)));
    let ticks = (0..1_000).map(|step| (step * 256, Act::Tick));
    let plan: Vec<_> = ticks.chain(sends).collect();
    let mut lab = pair(0, [Script::new(0, silent, &plan), Script::new(1, silent, &[])]);
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    assert_eq!(seen(&mut lab, 1), (0..10).map(|step| (step * 25_600, 7)).collect::<Vec<_>>());
    assert!(lab.statistics().windows <= 22, "{:?}", lab.statistics());
}

/// A caller that does not want to wait gets time back inside a window, and what comes of it is the same. What it asks of the
/// lab then happens when the window is over.
#[test]
fn a_caller_may_look_around_while_machines_compute() {
    let play = |delays: u32| {
        let sender = Script::new(0, silent, &[(0, Act::Send(NIC, 1)), (100, Act::Send(NIC, 2)), (5_000, Act::Tick)]);
        let mut lab = pair(1_000, [sender, Script::new(1, echo, &[(10, Act::Send(Device::AGENT, 9))])]);
        lab.machines().for_each(|machine| machine.delays = delays);
        let (mut pauses, mut spoken) = (0, Vec::new());
        loop {
            match lab.run_until_pause(at(4_000), std::time::Instant::now() + std::time::Duration::from_secs(100)) {
                Ok(Stop::Pause) if lab.awaited().is_some() => pauses += 1,
                Ok(Stop::Agents(frames)) => spoken.extend(frames.iter().map(|frame| (frame.machine, frame.at))),
                Ok(Stop::Limit) => break,
                other => panic!("{other:?}"),
            }
        }
        (pauses, spoken, seen(&mut lab, 0), seen(&mut lab, 1), lab.now())
    };
    let (pauses, spoken, first, second, now) = play(0);
    assert_eq!((pauses, &spoken[..], now), (0, &[(1, at(10))][..], at(4_000)));
    assert_eq!((&first[..], &second[..]), (&[(2_000, 1), (2_100, 2)][..], &[(1_000, 1), (1_100, 2)][..]));
    assert_eq!(play(3), (3, spoken, first, second, now));
}

#[test]
fn what_is_asked_inside_a_window_happens_behind_it() {
    let sender = Script::new(0, silent, &[(0, Act::Send(NIC, 1)), (1_500, Act::Send(NIC, 2)), (9_000, Act::Tick)]);
    let mut lab = pair(1_000, [sender, Script::new(1, silent, &[])]);
    lab.machines().next().expect("two machines").delays = 2;
    let soon = || std::time::Instant::now() + std::time::Duration::from_secs(100);
    assert!(matches!(lab.run_until_pause(at(1_000), soon()), Ok(Stop::Pause)));
    assert_eq!((lab.awaited(), lab.now()), (Some(0), at(0)));
    let packet = frame(lab.pool(), 7);
    assert!(lab.send_agent(1, packet));
    lab.set_up(PipeId(0), false);
    assert!(matches!(lab.run_until(at(1_000)), Ok(Stop::Limit)));
    assert!(matches!(lab.run_until(at(8_000)), Ok(Stop::Limit)));
    // The synchronization round from 0 to 1,000: what was sent in it came through, what was sent later did not.
    assert_eq!(seen(&mut lab, 1), [(1_000, 7), (1_000, 1)]);
    assert_eq!(lab.counters().next().map(|pipe| pipe.dropped.down.packets), Some(1));
}

/// Three machines in a row: the one that is slow to report holds up its neighbour, and not the neighbour of that for as long
/// as the links' delays allow. Agents are still served at the same instant.
#[test]
fn a_slow_machine_holds_up_only_whom_it_may_reach() {
    let play = |slow: usize, delays: u32| {
        let specs = [(0, 1), (1, 0), (2, 3), (3, 2)].map(|(from, to)| spec(&format!("{from}"), from, to, delay(1_000)));
        let device_port = |machine, device, port| DevicePort { machine, device: Device(device), port: PortId(port) };
        let device_ports = [device_port(0, 1, 0), device_port(1, 1, 1), device_port(1, 2, 2), device_port(2, 1, 3)];
        let ticks = |machine: usize| {
            let acts =
                (0..50).map(|step| (step * 100, if step == 31 { Act::Send(Device::AGENT, 5) } else { Act::Tick }));
            Script::new(machine as u64, silent, &acts.collect::<Vec<_>>())
        };
        let mut lab = Scheduler::new(Fabric::new(Seed::new(1), &specs), (0..3).map(ticks).collect(), &device_ports);
        lab.machines().nth(slow).expect("three").delays = delays;
        let reached: Vec<_> = if delays > 0 {
            let soon = std::time::Instant::now() + std::time::Duration::from_secs(100);
            while matches!(lab.run_until_pause(at(50_000), soon), Ok(Stop::Pause))
                && lab.machines().nth(slow).expect("three").delays > 1
            {}
            lab.machines().map(|machine| machine.grants.last().expect("it ran").as_nanos()).collect()
        } else {
            Vec::new()
        };
        let Ok(Stop::Agents(frames)) = lab.run_until(at(50_000)) else { panic!("agents spoke") };
        (reached, frames.iter().map(|frame| (frame.at, frame.machine)).collect::<Vec<_>>(), lab.now())
    };
    let (reached, spoken, now) = play(0, 20);
    // Nothing comes from the first after 0 that is not there by 1,000, and nothing from the second by 2,000.
    assert_eq!(reached, [1_000, 1_000, 2_000]);
    assert_eq!(spoken, [(at(3_100), 0), (at(3_100), 1), (at(3_100), 2)]);
    for (slow, delays) in [(0, 0), (1, 7), (2, 50)] {
        assert_eq!((&play(slow, delays).1, play(slow, delays).2), (&spoken, now));
    }
}

/// Kernels that come up by themselves do not run before their next wake.
#[test]
fn machines_may_come_up_without_a_grant() {
    let mut lab = pair(1_000, [Script::new(0, silent, &[(500, Act::Send(NIC, 1))]), Script::new(1, silent, &[])]);
    lab.boot().expect("both come up");
    assert!(matches!(lab.run_until(Instant::MAX), Ok(Stop::Idle)));
    assert_eq!(seen(&mut lab, 1), [(1_500, 1)]);
    assert_eq!(lab.machines().map(|machine| machine.grants.len()).collect::<Vec<_>>(), [1, 1]);
}

/// Of machines that share a processor a few run at a time; who computes is known all the same.
#[test]
fn machines_that_share_a_processor_wait_for_each_other() {
    let ticks: Vec<_> = (0..20).map(|step| (step * 700, Act::Tick)).collect();
    let specs: Vec<_> = (0..12).map(|n| spec(&format!("{n}"), n, (n + 1) % 12, delay(1_000))).collect();
    let device_ports: Vec<_> =
        (0..12).map(|n| DevicePort { machine: n as usize, device: Device(1), port: PortId(n) }).collect();
    let machines = (0..12).map(|n| Script::new(n, silent, &ticks)).collect();
    let mut lab = Scheduler::new(Fabric::new(Seed::new(1), &specs), machines, &device_ports);
    lab.set_processors(&[0; 12]);
    lab.machines().for_each(|machine| machine.delays = 3);
    let soon = std::time::Instant::now() + std::time::Duration::from_secs(100);
    assert!(matches!(lab.run_until_pause(at(50_000), soon), Ok(Stop::Pause)));
    assert_eq!(
        (lab.machines().filter(|machine| !machine.grants.is_empty()).count(), lab.awaited().is_some()),
        (8, true)
    );
    while matches!(lab.run_until_pause(at(50_000), soon), Ok(Stop::Pause)) {}
    assert!(lab.machines().all(|machine| !machine.grants.is_empty()));
    assert_eq!(lab.now(), at(50_000));
}

/// Of machines on two processors those that compute most are on one at first.
#[test]
fn machines_leave_a_processor_that_has_more_to_do() {
    let ticks: Vec<_> = (0..2_000).map(|step| (step * 100_000, Act::Tick)).collect();
    let specs: Vec<_> = (0..8).map(|n| spec(&format!("{n}"), n, (n + 1) % 8, delay(1_000))).collect();
    let device_ports: Vec<_> =
        (0..8).map(|n| DevicePort { machine: n as usize, device: Device(1), port: PortId(n) }).collect();
    // Odd ones take five times as long (`Script::processor_time`).
    let machines = (0..8).map(|n| Script::new(1 - n / 4, silent, &ticks)).collect();
    let mut lab = Scheduler::new(Fabric::new(Seed::new(1), &specs), machines, &device_ports);
    lab.set_processors(&[0, 0, 0, 0, 1, 1, 1, 1]);
    assert!(matches!(lab.run_until(at(190_000_000)), Ok(Stop::Limit)));
    let moves: Vec<u32> = lab.machines().map(|machine| machine.moves).collect();
    assert!(moves[..4].iter().sum::<u32>() >= 2, "two of those that compute much: {moves:?}");
    assert_eq!(lab.statistics().moves, u64::from(moves.iter().sum::<u32>()));
}
