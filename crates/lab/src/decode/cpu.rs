//! The processor of a node in virtual time: what packets, system calls and computing cost, and what programs see of it.

use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::Errors;
use crate::fields::Fields;
use crate::forms::{OrZero, Word, forms};
use crate::keyed::{Keyed, sections};
use crate::plan::CpuPlan;
use crate::scalar::{cpus, duration_or_zero, quantity};
use crate::section::Kind;
use crate::words::words;
use crate::yaml::{Content, Node};
use netloom_units::{BranchCount, Computing, CpuCost, CpuLevel, Duration, TimePerBranch, TimePerByte};

words!(Option<CpuLevel> {
    "host" = None,
    "x86-64" = Some(CpuLevel::V1),
    "x86-64-v2" = Some(CpuLevel::V2),
    "x86-64-v3" = Some(CpuLevel::V3),
    "x86-64-v4" = Some(CpuLevel::V4),
});

words!(BranchCount { "processor" = Self::Processor, "steps" = Self::Steps });

forms! {
    /// A node's processor, with its place.
    pub(crate) struct Processor = Spanned<CpuPlan>, Cpu::KIND, noting processor;
    /// The cost of something that programs do all the time.
    pub(crate) struct Call = Duration, OrZero::<Duration>::KIND, call;
    pub(crate) struct Branch = TimePerBranch, TimePerByte::KIND, time_per_branch;
    OrZero<TimePerByte> = TimePerByte, Kind::OneOf(&[TimePerByte::KIND, Kind::Zero]), time_per_byte;
}

sections! {
    /// How long a node's only processor is busy with a packet that it receives or sends, and with what programs ask of its kernel;
    /// computing takes time only with `branch`.
    pub(crate) struct Cpu = "cpu" {
        /// The cost of a packet of any size; a super-packet counts as one. Default: 0.
        packet: OrZero<Duration>, "2 us";
        /// The cost of each byte of a packet from the IP header on, in whole picoseconds. Default: 0.
        byte: OrZero<TimePerByte>, "0.5 ns";
        /// For each system call of a program, at most 1 ms; with 0, a program that waits in a loop of them waits for ever. Default: 128 ns,
        /// and up to 5 us for a node that is busy for long without a pause.
        syscall: Call, "200 ns";
        /// The cost of a switch from one program or thread to another, at most 1 ms. Default: 128 ns.
        switch: Call, "1 us";
        /// The cost of each conditional branch that a program executes, in whole picoseconds, at most 1 us; it needs a processor that
        /// counts them, or `count: steps`. Default: computing takes no time.
        branch: Branch, "0.5 ns";
        /// Who counts the branches of `branch`: the processor, or Netloom, which then stops programs after each instruction; that takes
        /// about 10 us per instruction. Default: processor.
        count: Word<BranchCount>, "steps";
        /// The processor that programs see: this machine's, or a level that processors of many machines have, so that programs choose
        /// the same code on all of them. Default: host.
        level: Word<Option<CpuLevel>>, "x86-64-v2";
    }
}

fn processor(node: &Node, errors: &mut Errors) -> Option<Spanned<CpuPlan>> {
    match &node.content {
        Content::Text { text, .. } if cpus(node).is_ok() => {
            return errors.reject(node.error(format!(
                "a share of a processor is written `cpus: {text}`; `cpu` says what packets and system calls cost in virtual \
                 time, for example {{packet: 2 us}}"
            )));
        }
        Content::Map(entries) if entries.is_empty() => {
            return errors.reject(node.error(
                "this says nothing: write `packet`, `byte`, `syscall`, `switch`, `branch` or `level`, or leave `cpu` out",
            ));
        }
        _ => {}
    }
    let fields = Fields::open(node, &Cpu::SECTION, errors)?;
    let Cpu { packet, byte, syscall, switch, branch, count, level } = Cpu::read_keys(&fields, errors)?;
    if let (None, Some(place)) = (fields.get("branch"), fields.get("count")) {
        let message = "nothing is to be counted: write what a branch costs, too, for example `branch: 0.5 ns`";
        errors.push(place.error(message));
    }
    // Without `branch`, computing takes no time.
    let computing = branch.map(|branch| Computing { branch, count: count.unwrap_or_default() });
    let (packet, byte) = (packet.unwrap_or_default(), byte.unwrap_or_default());
    let cost = CpuCost { packet, byte, syscall, switch, computing };
    Some(node.spanned(CpuPlan { cost, level: level.flatten() }))
}

fn time_per_branch(node: &Node) -> Result<TimePerBranch, Diagnostic> {
    const MOST: TimePerBranch = TimePerBranch::from_picos(1_000_000);
    let cost = quantity(node)?;
    if cost == TimePerBranch::ZERO {
        return Err(node.error("computing takes no time without `branch`: leave it out"));
    }
    if cost > MOST {
        return Err(node.error(format!("no processor needs {cost} for a branch: write at most {MOST}")));
    }
    Ok(cost)
}

fn call(node: &Node) -> Result<Duration, Diagnostic> {
    const MOST: Duration = Duration::from_millis(1);
    let cost = duration_or_zero(node)?;
    if cost > MOST {
        return Err(node.error(format!("no kernel needs {cost} for that: write at most {MOST}")));
    }
    Ok(cost)
}

fn time_per_byte(node: &Node) -> Result<TimePerByte, Diagnostic> {
    if node.plain() == Some("0") { Ok(TimePerByte::ZERO) } else { quantity(node) }
}
