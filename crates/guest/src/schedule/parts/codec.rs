//! How messages between parts are written: numbers of fixed length, the least significant byte first.

use super::{Begun, Reported, Stated, Told};
use crate::schedule::{Device, NextWake, TimedFrame};
use netloom_packet::{LARGE_FRAME, MAX_HEAD, Pool, VIRTIO_HEADER_LEN, VirtioHeader};
use netloom_units::Instant;
use std::sync::Arc;

const BEGUN: u8 = 1;
const REPORTED: u8 = 2;
const STATED: u8 = 3;

/// Stands for what there is not.
const NONE: u64 = u64::MAX;
/// The same of a kernel that has powered itself off.
const OFF: u64 = u64::MAX - 1;

impl Told {
    /// Adds the message to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Begun(begun) => {
                out.push(BEGUN);
                let Begun { sync_round, end, leader, begin, until, is_alone, round, machines } = begun;
                let round = round.map_or(NONE, u64::from);
                let numbers = [*sync_round, end.as_nanos(), *leader as u64, begin.as_nanos(), until.as_nanos()];
                let rest = [u64::from(*is_alone), round, machines.len() as u64];
                let machines = machines.iter().map(|machine| *machine as u64);
                numbers.into_iter().chain(rest).chain(machines).for_each(|number| put(out, number));
            }
            Self::Reported(Reported { machine, until, next_wake, stopped, unheard, sent, inner }) => {
                out.push(REPORTED);
                let next_wake = match next_wake {
                    NextWake::At(at) => at.as_nanos(),
                    NextWake::Never => NONE,
                    NextWake::Off => OFF,
                };
                let stopped = stopped.map_or(NONE, Instant::as_nanos);
                let numbers = [*machine as u64, until.as_nanos(), next_wake, stopped, *unheard, sent.len() as u64];
                numbers.into_iter().for_each(|number| put(out, number));
                sent.iter().for_each(|frame| put_frame(out, frame, inner.contains(&frame.device)));
            }
            Self::Stated(Stated { machine, at, statement }) => {
                out.push(STATED);
                [*machine as u64, at.as_nanos()].into_iter().for_each(|number| put(out, number));
                out.extend_from_slice(statement);
            }
        }
    }

    /// Reads a message; none if these bytes are not exactly one.
    pub fn decode(bytes: &[u8], pool: &mut Pool) -> Option<Self> {
        let mut rest = bytes;
        let told = match take(&mut rest, 1)?[0] {
            BEGUN => Self::Begun(begun(&mut rest)?),
            REPORTED => Self::Reported(reported(&mut rest, pool)?),
            STATED => Self::Stated(stated(&mut rest)?),
            _ => return None,
        };
        rest.is_empty().then_some(told)
    }
}

fn begun(rest: &mut &[u8]) -> Option<Begun> {
    let [sync_round, end, leader, begin, until] = numbers(rest)?;
    let [is_alone, round, count] = numbers(rest)?;
    let round = if round == NONE { None } else { Some(u32::try_from(round).ok()?) };
    let count = usize::try_from(count).ok().filter(|count| *count <= rest.len() / 8)?;
    let machine = |_| number(rest).and_then(|machine| usize::try_from(machine).ok());
    let machines = (0..count).map(machine).collect::<Option<_>>()?;
    let [end, begin, until] = [end, begin, until].map(Instant::from_nanos);
    let leader = usize::try_from(leader).ok()?;
    (begin < until).then_some(Begun { sync_round, end, leader, begin, until, is_alone: is_alone != 0, round, machines })
}

fn reported(rest: &mut &[u8], pool: &mut Pool) -> Option<Reported> {
    let [machine, until, next_wake, stopped, unheard, count] = numbers(rest)?;
    let next_wake = match next_wake {
        NONE => NextWake::Never,
        OFF => NextWake::Off,
        at => NextWake::At(Instant::from_nanos(at)),
    };
    let stopped = (stopped != NONE).then(|| Instant::from_nanos(stopped));
    let sent = (0..count).map(|_| frame(rest, pool)).collect::<Option<_>>()?;
    let (machine, until) = (usize::try_from(machine).ok()?, Instant::from_nanos(until));
    Some(Reported { machine, until, next_wake, stopped, unheard, sent, inner: Arc::default() })
}

fn stated(rest: &mut &[u8]) -> Option<Stated> {
    let [machine, at] = numbers(rest)?;
    let statement = std::mem::take(rest).to_vec();
    Some(Stated { machine: usize::try_from(machine).ok()?, at: Instant::from_nanos(at), statement })
}

/// Writes a frame; of one that is `inner` nothing behind its headers, if that saves something.
fn put_frame(out: &mut Vec<u8>, TimedFrame { at, device, packet }: &TimedFrame, is_inner: bool) {
    let mut head = [0; MAX_HEAD];
    let parts = packet.write_head(&mut head);
    let (head, payload) = (&head[..parts.len], &packet.bytes()[parts.payload]);
    put(out, at.as_nanos());
    out.extend_from_slice(&device.0.to_le_bytes());
    out.extend_from_slice(&parts.virtio.bytes());
    let len = head.len() + payload.len();
    let headers = if is_inner { packet.headers_len() } else { None };
    let told = headers.unwrap_or(len).clamp(head.len(), len);
    for count in [len, told] {
        out.extend_from_slice(&u32::try_from(count).expect("a frame has less than 4 GB").to_le_bytes());
    }
    out.extend_from_slice(head);
    out.extend_from_slice(&payload[..told - head.len()]);
}

fn frame(rest: &mut &[u8], pool: &mut Pool) -> Option<TimedFrame> {
    let at = Instant::from_nanos(number(rest)?);
    let device = Device(u16::from_le_bytes(take(rest, 2)?.try_into().ok()?));
    let virtio = VirtioHeader::parse(take(rest, VIRTIO_HEADER_LEN)?.try_into().ok()?);
    let [len, told] =
        [take(rest, 4)?, take(rest, 4)?].map(|count| u32::from_le_bytes(count.try_into().expect("4 bytes")));
    let (len, told) = (len as usize, take(rest, told as usize)?);
    if !(1..=LARGE_FRAME).contains(&len) || told.len() > len {
        return None;
    }
    let packet = pool.fill_with(len, |buffer| {
        buffer[..told.len()].copy_from_slice(told);
        buffer[told.len()..len].fill(0);
        Some((len, virtio))
    })?;
    Some(TimedFrame { at, device, packet })
}

fn put(out: &mut Vec<u8>, number: u64) {
    out.extend_from_slice(&number.to_le_bytes());
}

fn number(rest: &mut &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(take(rest, 8)?.try_into().ok()?))
}

fn numbers<const COUNT: usize>(rest: &mut &[u8]) -> Option<[u64; COUNT]> {
    let mut all = [0; COUNT];
    for each in &mut all {
        *each = number(rest)?;
    }
    Some(all)
}

fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(len)?;
    *rest = left;
    Some(taken)
}
