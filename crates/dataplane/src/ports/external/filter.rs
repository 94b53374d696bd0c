//! What of an interface the kernel need not copy: frames for others, and VLANs that are nobody's.

use super::super::interfaces::fanout::{
    ALL, Instruction, JUMP, JUMP_IF_EQUAL, LOAD_WORD, MOST_INSTRUCTIONS, NOTHING, RETURN, filter, instruction,
};
use std::io;
use std::os::fd::BorrowedFd;

// linux/bpf_common.h
const LOAD_HALF: u16 = 0x28;
const LOAD_BYTE: u16 = 0x30;
const AND: u16 = 0x54;
const JUMP_IF_SET: u16 = 0x45;
/// Where a program finds what is not in the packet (linux/filter.h): the tag of its VLAN, and whether it has one.
const VLAN_TAG: u32 = 0xffff_f02c;
const HAS_VLAN_TAG: u32 = 0xffff_f030;
/// The twelve bits of a tag that are its VLAN.
const VLAN_BITS: u32 = 0x0fff;

/// Has the socket receive only frames for these hardware addresses or for groups, and only of these VLANs. None: of all. With so
/// many that a filter cannot tell them apart, it receives all.
pub(super) fn give(socket: BorrowedFd<'_>, only: Option<&[[u8; 6]]>, vlans: Option<&[u16]>) -> io::Result<()> {
    let mut program = program(only, vlans);
    if program.len() > MOST_INSTRUCTIONS {
        return Ok(());
    }
    filter(socket, &mut program)
}

fn program(only: Option<&[[u8; 6]]>, vlans: Option<&[u16]>) -> Vec<Instruction> {
    let behind = of_vlans(vlans);
    let mut program = only.map_or_else(Vec::new, for_addresses);
    program.extend(behind);
    program
}

/// Goes on behind these instructions with a frame for one of these addresses or for a group.
fn for_addresses(only: &[[u8; 6]]) -> Vec<Instruction> {
    const EACH: usize = 5;
    let count = 3 + EACH * only.len() + 1;
    // The first bit of the destination that is sent says that it is a group.
    let on = |at: usize| instruction(JUMP, 0, 0, u32::try_from(count - at - 1).expect("a program is short"));
    let mut program = vec![instruction(LOAD_BYTE, 0, 0, 0), instruction(JUMP_IF_SET, 0, 1, 1), on(2)];
    for [a, b, c, d, e, f] in only.iter().copied() {
        program.push(instruction(LOAD_WORD, 0, 0, 0));
        program.push(instruction(JUMP_IF_EQUAL, 0, 3, u32::from_be_bytes([a, b, c, d])));
        program.push(instruction(LOAD_HALF, 0, 0, 4));
        program.push(instruction(JUMP_IF_EQUAL, 0, 1, u32::from(u16::from_be_bytes([e, f]))));
        program.push(on(program.len()));
    }
    program.push(instruction(RETURN, 0, 0, NOTHING));
    program
}

fn of_vlans(vlans: Option<&[u16]>) -> Vec<Instruction> {
    let Some(vlans) = vlans else { return vec![instruction(RETURN, 0, 0, ALL)] };
    let mut program = vec![
        instruction(LOAD_WORD, 0, 0, HAS_VLAN_TAG),
        instruction(JUMP_IF_EQUAL, 0, 1, 0),
        instruction(RETURN, 0, 0, NOTHING),
        instruction(LOAD_WORD, 0, 0, VLAN_TAG),
        instruction(AND, 0, 0, VLAN_BITS),
    ];
    for vlan in vlans {
        program.push(instruction(JUMP_IF_EQUAL, 0, 1, u32::from(*vlan)));
        program.push(instruction(RETURN, 0, 0, ALL));
    }
    program.push(instruction(RETURN, 0, 0, NOTHING));
    program
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the program lets a frame through that is for this address, with this tag.
    fn lets(program: &[Instruction], to: [u8; 6], tag: Option<u16>) -> bool {
        let (mut at, mut word) = (0, 0);
        loop {
            let Instruction { code, jt, jf, k } = program[at];
            at += 1;
            let mut go = |is: bool| at += usize::from(if is { jt } else { jf });
            match (code, k) {
                (LOAD_WORD, HAS_VLAN_TAG) => word = u32::from(tag.is_some()),
                (LOAD_WORD, VLAN_TAG) => word = u32::from(tag.unwrap_or_default()),
                (LOAD_WORD, 0) => word = u32::from_be_bytes([to[0], to[1], to[2], to[3]]),
                (LOAD_HALF, 4) => word = u32::from(u16::from_be_bytes([to[4], to[5]])),
                (LOAD_BYTE, 0) => word = u32::from(to[0]),
                (AND, _) => word &= k,
                (JUMP, _) => at += k as usize,
                (JUMP_IF_EQUAL, _) => go(word == k),
                (JUMP_IF_SET, _) => go(word & k != 0),
                (RETURN, _) => return k == ALL,
                other => panic!("no such instruction: {other:?}"),
            }
        }
    }

    const OWN: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 7, 2]];
    const OTHER: [u8; 6] = [2, 0, 0, 0, 7, 1];

    #[test]
    fn frames_for_own_addresses_and_groups_pass() {
        let program = program(Some(&OWN), None);
        assert!(OWN.iter().all(|own| lets(&program, *own, None)));
        assert!(lets(&program, [0xff; 6], Some(3)) && lets(&program, [1, 0, 0, 0, 0, 0], None));
        assert!(!lets(&program, OTHER, None) && !lets(&program, [2, 0, 0, 1, 0, 1], None));
    }

    #[test]
    fn own_vlans_pass_whatever_their_priority() {
        let program = program(None, Some(&[100, 4_094]));
        assert!(lets(&program, OTHER, Some(100)) && lets(&program, OTHER, Some(0xe000 | 4_094)));
        assert!(!lets(&program, OTHER, Some(101)) && !lets(&program, OTHER, None));
    }

    #[test]
    fn both_conditions_hold_together() {
        let program = program(Some(&OWN), Some(&[100]));
        assert!(lets(&program, OWN[1], Some(100)) && lets(&program, [0xff; 6], Some(100)));
        assert!(!lets(&program, OWN[1], None) && !lets(&program, OTHER, Some(100)));
    }
}
