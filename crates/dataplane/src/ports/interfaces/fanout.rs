//! How several packet sockets divide what arrives among them: by interface (Linux, packet(7), `PACKET_FANOUT`).
//!
//! The kernel asks a program which socket a packet is for, so that its cost does not grow with the number of sockets. The
//! program is one of the classic kind, which any user may give to the sockets of a namespace of his own.

use crate::sys::{check, set_option};
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

// linux/if_packet.h; libc lacks some of them.
const PACKET_FANOUT: i32 = 18;
const PACKET_FANOUT_DATA: i32 = 22;
const PACKET_FANOUT_CBPF: u32 = 6;
/// Any number: no other group is in the lab's network namespace.
const GROUP: u32 = 1;

// linux/bpf_common.h and linux/filter.h: what programs are made of.
pub(in crate::ports) const LOAD_WORD: u16 = 0x20;
pub(in crate::ports) const JUMP: u16 = 0x05;
pub(in crate::ports) const JUMP_IF_EQUAL: u16 = 0x15;
const JUMP_IF_AT_LEAST: u16 = 0x35;
pub(in crate::ports) const RETURN: u16 = 0x06;
pub(in crate::ports) const MOST_INSTRUCTIONS: usize = 4_096;
/// Where a program finds what is not in the packet: its kind, and the index of its interface.
const PACKET_TYPE: u32 = 0xffff_f004;
const INTERFACE_INDEX: u32 = 0xffff_f008;
/// The whole packet, or nothing of it.
pub(in crate::ports) const ALL: u32 = u32::MAX;
pub(in crate::ports) const NOTHING: u32 = 0;
/// A packet that leaves.
const OUTGOING: u32 = 4;
/// The loopback interface is the first of every network namespace.
const LOOPBACK: u32 = 1;

pub(in crate::ports) type Instruction = libc::sock_filter;

/// Lets a socket receive nothing.
pub(crate) fn mute(socket: BorrowedFd<'_>) -> io::Result<()> {
    give(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &mut [instruction(RETURN, 0, 0, NOTHING)])
}

/// Divides what arrives among sockets that are bound and muted; each receives from the interfaces with these indices
/// from now on. What arrives at other interfaces may reach any of them.
///
/// # Errors
/// What the kernel says; or that the interfaces of different sockets alternate too often to be told apart.
pub(crate) fn divide<I: Iterator<Item = u32>>(sockets: Vec<(BorrowedFd<'_>, I)>) -> io::Result<()> {
    let mut owners: Vec<(u32, u32)> = Vec::new();
    let mut members = Vec::new();
    for ((socket, indices), number) in sockets.into_iter().zip(0..) {
        set_option(&socket, libc::SOL_PACKET, PACKET_FANOUT, &(GROUP | PACKET_FANOUT_CBPF << 16))?;
        owners.extend(indices.map(|index| (index, number)));
        members.push(socket);
    }
    let Some(first) = members.first() else { return Ok(()) };
    owners.sort_unstable();
    give(*first, libc::SOL_PACKET, PACKET_FANOUT_DATA, &mut chooser(&owners)?)?;
    // The frames that keep the path warm pass the loopback interface. They would wake threads that sleep, and the
    // kernel's code is warm without that.
    let mut listen = [
        instruction(LOAD_WORD, 0, 0, PACKET_TYPE),
        instruction(JUMP_IF_EQUAL, 3, 0, OUTGOING),
        instruction(LOAD_WORD, 0, 0, INTERFACE_INDEX),
        instruction(JUMP_IF_EQUAL, 1, 0, LOOPBACK),
        instruction(RETURN, 0, 0, ALL),
        instruction(RETURN, 0, 0, NOTHING),
    ];
    members.into_iter().try_for_each(|socket| give(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, &mut listen))
}

/// The program that returns the number of the socket for a packet. `owners`: indices of interfaces in order, and the socket of each.
fn chooser(owners: &[(u32, u32)]) -> io::Result<Vec<Instruction>> {
    // Where the next socket's turn begins; indices between two interfaces are not used.
    let mut turns: Vec<(u32, u32)> = Vec::new();
    for (index, number) in owners {
        if turns.last().is_none_or(|(_, last)| last != number) {
            turns.push((*index, *number));
        }
    }
    let mut program = vec![instruction(LOAD_WORD, 0, 0, INTERFACE_INDEX)];
    choose(&turns, &mut program);
    if program.len() > MOST_INSTRUCTIONS {
        let message = format!(
            "the ports of different shards alternate {} times, more often than a filter of {MOST_INSTRUCTIONS} \
             instructions can tell apart",
            turns.len()
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    Ok(program)
}

/// Finds the turn by halves. Only the long jump reaches over many instructions.
fn choose(turns: &[(u32, u32)], program: &mut Vec<Instruction>) {
    match turns {
        [] => program.push(instruction(RETURN, 0, 0, 0)),
        [(_, number)] => program.push(instruction(RETURN, 0, 0, *number)),
        _ => {
            let (lower, upper) = turns.split_at(turns.len() / 2);
            program.push(instruction(JUMP_IF_AT_LEAST, 0, 1, upper[0].0));
            let jump = program.len();
            program.push(instruction(JUMP, 0, 0, 0));
            choose(lower, program);
            program[jump].k = u32::try_from(program.len() - jump - 1).expect("a program is short");
            choose(upper, program);
        }
    }
}

pub(in crate::ports) fn instruction(code: u16, jt: u8, jf: u8, k: u32) -> Instruction {
    Instruction { code, jt, jf, k }
}

/// Has the socket receive only what this program returns anything for.
pub(in crate::ports) fn filter(socket: BorrowedFd<'_>, program: &mut [Instruction]) -> io::Result<()> {
    give(socket, libc::SOL_SOCKET, libc::SO_ATTACH_FILTER, program)
}

/// Gives a program to a socket.
fn give(socket: BorrowedFd<'_>, level: i32, name: i32, program: &mut [Instruction]) -> io::Result<()> {
    let len = u16::try_from(program.len()).expect("checked when it was made");
    let described = libc::sock_fprog { len, filter: program.as_mut_ptr() };
    let size = libc::socklen_t::try_from(size_of_val(&described)).expect("a small structure");
    // SAFETY: the pointer and the length describe `described`, and that describes `program`; both live through the call,
    // and the kernel copies the program.
    check(unsafe { libc::setsockopt(socket.as_raw_fd(), level, name, std::ptr::from_ref(&described).cast(), size) })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the program returns for a packet of this interface.
    fn run(program: &[Instruction], index: u32) -> u32 {
        let (mut at, mut word) = (0, 0);
        loop {
            let Instruction { code, jt, jf, k } = program[at];
            at += 1;
            match code {
                LOAD_WORD if k == INTERFACE_INDEX => word = index,
                JUMP => at += k as usize,
                JUMP_IF_AT_LEAST => at += usize::from(if word >= k { jt } else { jf }),
                RETURN => return k,
                _ => panic!("no such instruction: {code}"),
            }
        }
    }

    #[test]
    fn every_interface_is_found() {
        for (count, turn) in [(1, 1), (7, 1), (1_000, 1), (60_000, 100), (60_000, 20_000)] {
            let owners: Vec<(u32, u32)> = (0..count).map(|port| (3 + 2 * port, port / turn % 5)).collect();
            let program = chooser(&owners).expect("few enough turns");
            assert!(owners.iter().all(|(index, number)| run(&program, *index) == *number), "{count} by {turn}");
        }
    }

    #[test]
    fn too_many_turns_are_refused() {
        let owners: Vec<(u32, u32)> = (0..2_000).map(|port| (port, port % 2)).collect();
        assert!(chooser(&owners).unwrap_err().to_string().contains("2000 times"));
    }
}
