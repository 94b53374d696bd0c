//! Ports of programs that send and receive frames, which this test plays. Nothing here needs a privilege.

mod fixture;

use fixture::frontend::FROM_GUEST;
use fixture::{DELAY, boot, guest, snapshot_when, start};
use netloom_dataplane::{Act, Engine, IfLate, PortConfig, ScheduledEvent, Task};
use netloom_fabric::{PipeId, PortId};
use netloom_testing::streams::Stream;
use netloom_units::Duration;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, recv, send, socketpair};
use nix::sys::socket::{MsgFlags, setsockopt, sockopt::ReceiveTimeout};
use nix::sys::time::TimeVal;
use std::os::fd::{AsRawFd, OwnedFd};
use std::thread;
use std::time::Instant as RealInstant;

/// How long anything may take on a machine that is busy with other things.
const PATIENCE: i64 = 20;

/// A port, and the program's end of its socket.
fn program(number: u32, kind: SockType) -> (PortConfig, OwnedFd) {
    let (socket, far) = socketpair(AddressFamily::Unix, kind, None, SockFlag::SOCK_CLOEXEC).expect("a pair of sockets");
    setsockopt(&far, ReceiveTimeout, &TimeVal::new(PATIENCE, 0)).expect("an option of all sockets");
    (PortConfig::Socket { port: PortId(number), socket }, far)
}

fn programs(kind: SockType) -> (Engine, [OwnedFd; 2]) {
    let (first, second) = (program(0, kind), program(1, kind));
    (start(1, vec![first.0, second.0]).expect("no privilege is needed"), [first.1, second.1])
}

fn tell(program: &OwnedFd, frame: &[u8]) {
    assert_eq!(send(program.as_raw_fd(), frame, MsgFlags::MSG_NOSIGNAL), Ok(frame.len()));
}

fn receive(program: &OwnedFd) -> Vec<u8> {
    let mut frame = vec![0; 70_000];
    let len = recv(program.as_raw_fd(), &mut frame, MsgFlags::empty()).expect("a frame in time");
    frame.truncate(len);
    frame
}

#[test]
fn frames_cross_both_ways_after_the_described_delay() {
    for kind in [SockType::Datagram, SockType::SeqPacket] {
        let (mut engine, [left, right]) = programs(kind);
        for (from, to, pipe) in [(&left, &right, 0), (&right, &left, 1)] {
            let before = engine.now();
            for frame in [&[1; 60][..], &[2; 1_514], &[3; 65_000], &[4; 14]] {
                tell(from, frame);
                assert_eq!(receive(to), frame);
            }
            assert!(engine.now().since(before) >= DELAY * 4);
            let last = snapshot_when(&mut engine, "the record", |snapshot| snapshot.pipes[pipe].delay.count() == 4);
            assert!(last.pipes[pipe].delay.max().expect("a value") >= Duration::from_micros(4_950));
            assert_eq!((last.engine.lost_sending, last.engine.lost_receiving, last.engine.unheard), (0, 0, 0));
        }
    }
}

/// The engine looks for frames when an event is long due, as after a time without a processor. Nobody knows which of them came before
/// the event; none may be sent on sooner than it came.
#[test]
fn frames_beside_an_overdue_event_are_not_too_early() {
    const FRAMES: usize = 300;
    let (mut engine, [left, right]) = programs(SockType::SeqPacket);
    let begin = engine.now() + Duration::from_millis(2);
    // The first takes so long that the second is overdue when the engine looks for frames.
    let long = Task::Acts(vec![(PipeId(0), Act::SetUp(true)); 300_000]);
    let event = |number, at, task| ScheduledEvent { number, at, task };
    let short = Task::Acts(vec![(PipeId(0), Act::SetUp(true))]);
    let both = vec![event(0, begin, long), event(1, begin + Duration::from_micros(1), short)];
    engine.plan(both, IfLate::Execute).expect("a running engine");
    let origin = RealInstant::now();
    let micros = || u64::try_from(origin.elapsed().as_micros()).expect("a short test");
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..FRAMES {
                tell(&left, &[&[0; 56][..], &micros().to_be_bytes()].concat());
                thread::sleep(std::time::Duration::from_micros(50));
            }
        });
        for number in 0..FRAMES {
            let frame = receive(&right);
            let arrived = micros();
            let sent = u64::from_be_bytes(frame[56..].try_into().expect("eight bytes"));
            // Each of two readings cuts off less than a microsecond.
            assert!(
                arrived + 1 >= sent + DELAY.as_nanos() / 1_000,
                "frame {number}: sent at {sent} us, there at {arrived}"
            );
        }
    });
}

/// A program knows nothing of trains, nor of checksums that are left to others.
#[test]
fn what_a_kernel_sends_as_a_train_comes_as_complete_packets() {
    let (kernel_port, path) = guest(0);
    let (port, far) = program(1, SockType::SeqPacket);
    let _engine = start(1, vec![kernel_port, port]).expect("no privilege is needed");
    let mut near = boot(&path);
    let stream = stream(3_000);
    let (virtio, frame) = stream.super_packet();
    let mut header = [0; 12];
    header[..10].copy_from_slice(&virtio.bytes());
    near.transmit(&header, &frame);
    near.kick(FROM_GUEST);
    let wire = stream.wire();
    assert_eq!(wire.len(), 3);
    for segment in wire {
        assert_eq!(receive(&far), segment);
    }
}

/// A socket holds a few frames; the others wait until the program reads, and none is lost.
#[test]
fn frames_wait_for_a_program_that_does_not_read() {
    const COUNT: u32 = 2_000;
    for kind in [SockType::Datagram, SockType::SeqPacket] {
        let (mut engine, [left, right]) = programs(kind);
        let frame = |number: u32| [&[0; 56][..], &number.to_be_bytes(), &[7; 1_000]].concat();
        (0..COUNT).for_each(|number| tell(&left, &frame(number)));
        let waiting = snapshot_when(&mut engine, "all frames", |snapshot| {
            snapshot.pipes[0].counters.departed.packets == u64::from(COUNT)
        });
        assert!(waiting.pipes[0].delay.count() < u64::from(COUNT), "a socket does not hold so many");
        (0..COUNT).for_each(|number| assert_eq!(receive(&right), frame(number)));
        let last =
            snapshot_when(&mut engine, "the record", |snapshot| snapshot.pipes[0].delay.count() == u64::from(COUNT));
        assert_eq!((last.engine.lost_sending, last.engine.unheard), (0, 0));
    }
}

#[test]
fn what_is_no_frame_is_counted_and_harms_nobody() {
    let (mut engine, [left, right]) = programs(SockType::Datagram);
    for len in [0, 1, 13, 70_000] {
        tell(&left, &vec![1; len]);
    }
    tell(&left, &[2; 60]);
    assert_eq!(receive(&right), [2; 60]);
    let last = engine.snapshot().expect("a running engine");
    let port = last.engine.ports.iter().find(|port| port.port == PortId(0)).expect("the port");
    assert_eq!((port.received, port.lost_receiving, last.engine.lost_receiving), (5, 4, 4));
    assert_eq!(last.engine.ended_ports, []);
}

#[test]
fn a_program_that_goes_is_told_of_and_hears_nothing() {
    for kind in [SockType::Datagram, SockType::SeqPacket] {
        let (mut engine, [left, right]) = programs(kind);
        drop(right);
        if kind == SockType::SeqPacket {
            // There is a connection, which ends; a datagram fails when it is sent, as nobody is there.
            snapshot_when(&mut engine, "the end", |snapshot| !snapshot.engine.ended_ports.is_empty());
        }
        tell(&left, &[1; 60]);
        let last = snapshot_when(&mut engine, "a frame for nobody", |snapshot| snapshot.engine.unheard == 1);
        let ended: Vec<PortId> = last.engine.ended_ports.iter().map(|(port, _)| *port).collect();
        assert_eq!((ended, last.engine.lost_sending), (vec![PortId(1)], 0), "{kind:?}");
        // The engine goes on.
        tell(&left, &[1; 60]);
        snapshot_when(&mut engine, "another", |snapshot| snapshot.engine.unheard == 2);
    }
}

#[test]
fn a_socket_without_messages_is_refused() {
    let (port, _far) = program(0, SockType::Stream);
    let refused = start(1, vec![port]).err().expect("a stream has no frames").to_string();
    assert_eq!(
        refused,
        "preparing the sockets of programs: the socket of port 0 has no messages: it must be SOCK_DGRAM or SOCK_SEQPACKET"
    );
}

fn stream(payload: usize) -> Stream {
    Stream {
        v6: false,
        vlans: Vec::new(),
        ip_options: 0,
        extensions: Vec::new(),
        id: 9,
        tcp: true,
        tcp_options: 3,
        sequence: 77,
        flags: 0x18,
        accurate_ecn: false,
        payload: (0..payload).map(|at| u8::try_from(at % 251).expect("below 251")).collect(),
        segment_size: 1_000,
    }
}
