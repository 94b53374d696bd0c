//! Doorbell, mailbox and waker under loom: in every order in which their threads can meet, and with every value that the memory model
//! allows them to read. It is the code of the engine, with another `sync` below it.

#[path = "../../src/doorbell.rs"]
mod doorbell;
mod sync;
#[path = "../../src/waker.rs"]
mod waker;

use doorbell::{Doorbell, Mailbox};
use loom::sync::mpsc::{Sender, channel};
use loom::thread;
use netloom_units::Instant;
use std::sync::Arc;
use sync::{AtomicBool, AtomicU64, Ordering};
use waker::Waker;

fn mailbox() -> (Sender<u32>, Mailbox<u32>) {
    let (sender, messages) = channel();
    (sender, Mailbox { messages, doorbell: Arc::new(Doorbell::new().expect("a doorbell")) })
}

/// Takes messages, and sleeps while there is none; loom says if it never wakes up.
fn take(mailbox: &mut Mailbox<u32>, count: usize) -> Vec<u32> {
    let mut taken = Vec::new();
    while taken.len() < count {
        match mailbox.next() {
            Some(message) => taken.push(message),
            None => {
                mailbox.doorbell.event().wait();
                // Between the event and the flag of a ring it looks in vain, until the ringer goes on.
                thread::yield_now();
            }
        }
    }
    taken
}

/// Whoever is rung for wakes up and finds what was sent, in order; and when all was seen, nothing is left that would wake it for
/// ever.
#[test]
fn a_doorbell_wakes_and_falls_silent() {
    loom::model(|| {
        let (sender, mut mailbox) = mailbox();
        let doorbell = Arc::clone(&mailbox.doorbell);
        let ringer = thread::spawn(move || {
            for message in 0..2 {
                sender.send(message).expect("a mailbox");
                doorbell.ring();
            }
            sender
        });
        assert_eq!(take(&mut mailbox, 2), [0, 1]);
        // In the middle of the last ring, perhaps.
        assert_eq!(mailbox.next(), None);
        let _sender = ringer.join().expect("a thread");
        assert_eq!(mailbox.next(), None);
        assert!(!mailbox.doorbell.is_rung() && !mailbox.doorbell.event().is_signalled());
    });
}

/// Two who ring at once. Three times a thread may be interrupted where it need not be: that is enough for nearly all faults, and
/// without a bound this takes ten seconds.
#[test]
fn no_ring_of_two_is_lost() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let (sender, mut mailbox) = mailbox();
        let ringers: Vec<_> = (0..2)
            .map(|number| {
                let (own, doorbell) = (sender.clone(), Arc::clone(&mailbox.doorbell));
                thread::spawn(move || {
                    own.send(number).expect("a mailbox");
                    doorbell.ring();
                })
            })
            .collect();
        let mut taken = take(&mut mailbox, 2);
        taken.sort_unstable();
        assert_eq!(taken, [0, 1]);
        ringers.into_iter().for_each(|ringer| ringer.join().expect("a thread"));
        drop(sender);
    });
}

/// A queue as far as sleeping is concerned: what the producer wrote last, and the consumer reads (as `rtrb` does).
struct Queue(AtomicBool);

/// What is put in while somebody goes to sleep is seen, or wakes it.
#[test]
fn nobody_sleeps_over_what_has_come() {
    loom::model(|| {
        let doorbell = Arc::new(Doorbell::new().expect("a doorbell"));
        let waker = Arc::new(Waker::new(Arc::clone(&doorbell)));
        let queue = Arc::new(Queue(AtomicBool::new(false)));
        let giver = {
            let (waker, queue) = (Arc::clone(&waker), Arc::clone(&queue));
            thread::spawn(move || {
                queue.0.store(true, Ordering::Release);
                waker.wake();
            })
        };
        if waker.may_sleep(Instant::from_nanos(100), || !queue.0.load(Ordering::Acquire)) {
            doorbell.event().wait();
            assert!(waker.is_awake(), "who wakes it sees that it is awake");
            assert!(queue.0.load(Ordering::Acquire), "it was woken for something");
        }
        giver.join().expect("a thread");
    });
}

/// What is announced while somebody goes to sleep for longer is seen, or wakes it; what comes later does not.
#[test]
fn nobody_sleeps_past_what_was_announced() {
    const UNTIL: Instant = Instant::from_nanos(100);
    for (next, is_sooner) in [(50, true), (150, false)] {
        loom::model(move || {
            let doorbell = Arc::new(Doorbell::new().expect("a doorbell"));
            let waker = Arc::new(Waker::new(Arc::clone(&doorbell)));
            let announced = Arc::new(AtomicU64::new(u64::MAX));
            let notifier = {
                let (waker, announced) = (Arc::clone(&waker), Arc::clone(&announced));
                thread::spawn(move || {
                    announced.store(next, Ordering::Release);
                    waker.wake_before(Instant::from_nanos(next));
                })
            };
            let may = waker.may_sleep(UNTIL, || announced.load(Ordering::Acquire) >= UNTIL.as_nanos());
            if may && is_sooner {
                doorbell.event().wait();
            }
            notifier.join().expect("a thread");
            assert!(is_sooner || (may && !doorbell.event().is_signalled()), "what comes later wakes nobody");
        });
    }
}
