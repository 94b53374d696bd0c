//! How User-Mode Linux and QEMU come, stop, come again and go.

use crate::frontend::{FROM_GUEST, Frontend, OFFERED, SIZE, TO_GUEST};
use crate::{Pair, path, state};
use netloom_packet::Pool;
use netloom_vhost::{Event, Listener, Poller, Port, PortError};
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;

#[test]
fn user_mode_linux_comes() {
    let mut pair = Pair::ready();
    // Its driver is unbound and bound again: queues are disabled, the rest begins anew.
    for queue in [1, 0] {
        pair.command(18, &state(queue, 0), &[]);
    }
    assert_eq!(pair.ask(1), OFFERED);
    assert!(!pair.port.is_ready());
    pair.set_memory();
    for queue in 0..2 {
        pair.set_up(queue);
        pair.start(queue);
    }
    assert!(pair.port.is_ready());
}

/// Describes, starts and enables both queues; the one from the guest begins at `base`.
fn start(pair: &mut Pair, base: u32) {
    let guest = &pair.guest;
    for queue in 0..2_usize {
        guest.send(8, 1, &state(queue, u32::from(SIZE)), &[]);
        guest.send(10, 1, &state(queue, if queue == FROM_GUEST { base } else { 0 }), &[]);
        guest.send(9, 1, &Frontend::addresses(queue), &[]);
        guest.send(12, 1, &(queue as u64).to_ne_bytes(), &[guest.kicks[queue].as_raw_fd()]);
    }
    for queue in 0..2_usize {
        guest.send(18, 1, &state(queue, 1), &[]);
    }
    pair.serve();
    assert!(pair.port.is_ready(), "{:?}", pair.port.error());
}

/// QEMU passes call descriptors first, asks for no acknowledgement of most messages, and enables queues at the end.
#[test]
fn qemu_comes_stops_and_goes_on() {
    let mut pair = Pair::connected();
    assert_eq!(pair.ask(1), OFFERED);
    assert_eq!(pair.ask(15), 8 | 32, "answers that are asked for, and a back channel");
    pair.guest.send(16, 1, &8_u64.to_ne_bytes(), &[]);
    pair.guest.send(3, 1, &[], &[]);
    let guest = &pair.guest;
    for queue in 0..2_usize {
        guest.send(13, 1, &(queue as u64).to_ne_bytes(), &[guest.calls[queue].as_raw_fd()]);
        guest.send(14, 1, &(queue as u64 | 1 << 8).to_ne_bytes(), &[]);
    }
    guest.send(2, 1, &OFFERED.to_ne_bytes(), &[]);
    guest.send(5, 9, &guest.memory_table(), &[guest.file.as_raw_fd()]);
    pair.serve();
    assert_eq!(pair.guest.answer(5), 0);
    start(&mut pair, 0);
    let mut pool = Pool::default();
    for base in 1..4 {
        pair.guest.transmit(&[0; 12], &[1; 60]);
        assert_eq!(pair.port.receive(&mut pool, 64, |_| ()), 1);
        // The machine is paused: QEMU asks where the queues stand, and sets them there later.
        for (queue, expected) in [(TO_GUEST, 0), (FROM_GUEST, base)] {
            pair.guest.send(11, 1, &state(queue, 0), &[]);
            pair.serve();
            let answer = pair.guest.answer(11);
            assert_eq!(answer, queue as u64 | u64::from(expected) << 32);
        }
        assert!(!pair.port.is_ready());
        start(&mut pair, base);
    }
}

/// What the guest reads of its configuration.
fn status(pair: &mut Pair) -> u16 {
    let asked = [6_u32, 2, 0].map(u32::to_ne_bytes).concat();
    pair.guest.send(24, 1, &[asked, vec![0; 2]].concat(), &[]);
    pair.serve();
    let answer = pair.guest.answer_of(24);
    assert_eq!(answer.len(), 14);
    u16::from_le_bytes([answer[12], answer[13]])
}

#[test]
fn a_guest_learns_of_its_carrier() {
    const STATUS: u64 = 1 << 16;
    let mut pair = Pair::at(Listener::with_status);
    assert_eq!((pair.ask(1), pair.ask(15)), (OFFERED | STATUS, 8 | 32 | 1 << 9));
    // What was before it came, it reads.
    pair.port.set_carrier(false);
    pair.guest.send(16, 1, &(8_u64 | 32 | 1 << 9).to_ne_bytes(), &[]);
    let (ours, theirs) = UnixStream::pair().expect("two sockets");
    pair.guest.send(21, 1, &[], &[theirs.as_raw_fd()]);
    pair.serve();
    assert_eq!(status(&mut pair), 0);
    ours.set_nonblocking(true).expect("a socket");
    let heard = || {
        let mut bytes = [0; 64];
        (&ours).read(&mut bytes).map_or(0, |length| length / 12)
    };
    for (on, news) in [(false, 0), (true, 1), (true, 0), (false, 1)] {
        pair.port.set_carrier(on);
        assert_eq!((heard(), status(&mut pair)), (news, u16::from(on)));
    }
    // One that never reads hears no more, and keeps nobody waiting.
    let changes = (0..100_000).take_while(|n| {
        pair.port.set_carrier(n % 2 == 0);
        pair.port.error().is_none()
    });
    assert!(changes.count() < 100_000);
    assert!(matches!(pair.port.error(), Some(PortError::Message(_))));
}

#[test]
fn a_guest_that_was_not_offered_a_configuration_gets_none() {
    let mut pair = Pair::ready();
    pair.port.set_carrier(false);
    pair.guest.send(24, 1, &[[6_u32, 2, 0].map(u32::to_ne_bytes).concat(), vec![0; 2]].concat(), &[]);
    pair.serve();
    assert!(matches!(pair.port.error(), Some(PortError::Message(_))));
}

/// QEMU sends the whole table again when memory is plugged in, while queues run.
#[test]
fn memory_may_be_mapped_anew_while_queues_run() {
    let mut pair = Pair::ready();
    pair.set_memory();
    pair.guest.transmit(&[0; 12], &[1; 60]);
    assert_eq!(pair.port.receive(&mut Pool::default(), 64, |_| ()), 1);
    // A table without the queues ends the port.
    let mut table = pair.guest.memory_table();
    table[16..24].copy_from_slice(&0x1000_u64.to_ne_bytes());
    pair.guest.send(5, 9, &table, &[pair.guest.file.as_raw_fd()]);
    pair.serve();
    assert_eq!(pair.guest.answer(5), 1);
    assert!(matches!(pair.port.error(), Some(PortError::Message(_))));
}

#[test]
fn a_poller_tells_who_comes_rings_and_goes() {
    let path = path();
    let poller = Poller::new().expect("a poller");
    let listener = Listener::bind(&path).expect("a free path");
    assert!(Listener::bind(&path).is_err());
    let mut port = Port::new(listener, &poller, 3).expect("a port");
    let told = || {
        let mut events = Vec::new();
        poller.drain(|event| events.push(event)).expect("a poller");
        events
    };
    assert_eq!(told(), []);
    let guest = Frontend::connect(&path);
    assert_eq!(told(), [Event::Message(3)]);
    port.service();
    assert_eq!(told(), []);
    drop(guest);
    assert_eq!(told(), [Event::Message(3)]);
    port.service();
    assert!(matches!(port.error(), Some(PortError::Closed)));
    assert_eq!(told(), []);
    drop(port);
    assert!(!path.exists());
}

#[test]
fn kicks_are_told_once_each() {
    let mut pair = Pair::ready();
    assert_eq!(pair.events(), []);
    pair.guest.kick(FROM_GUEST);
    pair.guest.kick(FROM_GUEST);
    assert_eq!(pair.events(), [Event::Kick(7)]);
    assert_eq!(pair.events(), []);
    pair.guest.kick(FROM_GUEST);
    assert_eq!(pair.events(), [Event::Kick(7)]);
    // A stopped queue rings nobody, though the guest has its descriptor still.
    pair.guest.send(11, 1, &state(FROM_GUEST, 0), &[]);
    pair.serve();
    pair.guest.kick(FROM_GUEST);
    assert_eq!(pair.events(), []);
}

/// A machine whose process ends may be booted anew, whether its driver had begun or not.
#[test]
fn a_machine_that_hung_or_crashed_comes_again() {
    let path = path();
    let poller = Poller::new().expect("a poller");
    let listener = Listener::bind(&path).expect("a free path").again().with_counters();
    let mut port = Port::new(listener, &poller, 7).expect("a port");
    for _ in 0..2 {
        let mut guest = Frontend::connect(&path);
        guest.send(1, 1, &[], &[]);
        port.service();
        assert_eq!(guest.answer(1), OFFERED);
        drop(guest);
        port.service();
        assert!(port.error().is_none(), "{:?}", port.error());
    }
    let guest = Frontend::connect(&path);
    let mut pair = Pair { poller, port, guest }.started();
    for _ in 0..2 {
        // The process of the one before ends here.
        pair.guest = Frontend::connect(&path);
        pair.serve();
        assert!(pair.port.error().is_none() && !pair.port.is_ready(), "{:?}", pair.port);
        pair = pair.started();
    }
    assert!(pair.port.is_ready());
}
