//! Programs of classic BPF (McCanne and Jacobson 1993), which say whether a packet is wanted: as `tcpdump -ddd` prints them. They
//! are verified before they run, so that they end and touch nothing but the packet and 16 words of memory.

use std::fmt;

/// As many instructions as Linux allows (`BPF_MAXINSNS`).
const MOST_INSTRUCTIONS: usize = 4_096;
/// Words of memory (`BPF_MEMWORDS`).
const MEMORY: usize = 16;

/// An instruction, with the field names of `struct sock_filter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Instruction {
    code: u16,
    jt: u8,
    jf: u8,
    k: u32,
}

/// A verified program of classic BPF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterProgram(Vec<Instruction>);

/// The reason why a text is not a valid program of classic BPF, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoProgram(String);

impl fmt::Display for NoProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoProgram {}

/// What an instruction does, by its code (linux/filter.h).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operation {
    Load(Size, From),
    LoadX(FromX),
    Store,
    StoreX,
    Compute(Arithmetic, Operand),
    Negate,
    Jump,
    JumpIf(Condition, Operand),
    Return(Operand),
    ReturnA,
    AToX,
    XToA,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Word = 4,
    Half = 2,
    Byte = 1,
}

/// Where a value for A comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum From {
    Constant,
    Packet,
    PacketAtX,
    Memory,
    Length,
}

/// Where a value for X comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FromX {
    Constant,
    Memory,
    Length,
    /// Four times the lower half of a byte: the length of an IPv4 header.
    HeaderLength,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Or,
    And,
    ShiftLeft,
    ShiftRight,
    Modulo,
    ExclusiveOr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    Equal,
    Greater,
    GreaterOrEqual,
    AnyOf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operand {
    K,
    X,
}

impl FilterProgram {
    /// Reads what `tcpdump -ddd` prints: the number of instructions, then a line for each with its four numbers.
    ///
    /// # Errors
    /// What is wrong with it, also if it is no program that ends.
    pub fn parse(text: &str) -> Result<Self, NoProgram> {
        let mut lines = text.lines();
        let wrong = |line: usize| NoProgram(format!("line {line} is not one of a program"));
        let count: usize = lines.next().and_then(|line| line.trim().parse().ok()).ok_or_else(|| wrong(1))?;
        let instruction = |(number, line): (usize, &str)| {
            let mut numbers = line.split_ascii_whitespace().map(str::parse::<u32>);
            let mut next = || numbers.next()?.ok();
            let parsed = (|| Some([next()?, next()?, next()?, next()?]))();
            let [code, jt, jf, k] = parsed.ok_or_else(|| wrong(number))?;
            let fits = |_| wrong(number);
            Ok(Instruction {
                code: code.try_into().map_err(fits)?,
                jt: jt.try_into().map_err(fits)?,
                jf: jf.try_into().map_err(fits)?,
                k,
            })
        };
        let all: Vec<Instruction> =
            (2..).zip(lines).take(MOST_INSTRUCTIONS + 1).map(instruction).collect::<Result<_, _>>()?;
        if all.len() != count {
            return Err(NoProgram(format!("there are {} instructions, not {count}", all.len())));
        }
        let program = Self(all);
        program.verify()?;
        Ok(program)
    }

    fn verify(&self) -> Result<(), NoProgram> {
        let all = &self.0;
        let wrong = |place: usize, what: &str| NoProgram(format!("instruction {place} {what}"));
        if all.len() > MOST_INSTRUCTIONS {
            return Err(NoProgram(format!("a program has at most {MOST_INSTRUCTIONS} instructions")));
        }
        for (place, instruction) in all.iter().enumerate() {
            let operation = instruction.operation().ok_or_else(|| wrong(place, "is unknown"))?;
            let behind = all.len() - place - 1;
            let reaches = |jump: usize| jump < behind;
            let (jt, jf, k) = (usize::from(instruction.jt), usize::from(instruction.jf), instruction.k as usize);
            match operation {
                Operation::Jump if !reaches(k) => return Err(wrong(place, "leads out of the program")),
                Operation::JumpIf(..) if !reaches(jt) || !reaches(jf) => {
                    return Err(wrong(place, "leads out of the program"));
                }
                Operation::Load(_, From::Memory)
                | Operation::LoadX(FromX::Memory)
                | Operation::Store
                | Operation::StoreX
                    if k >= MEMORY =>
                {
                    return Err(wrong(place, "uses memory that there is not"));
                }
                Operation::Compute(Arithmetic::Divide | Arithmetic::Modulo, Operand::K) if k == 0 => {
                    return Err(wrong(place, "divides by zero"));
                }
                _ => {}
            }
        }
        match all.last().and_then(|last| last.operation()) {
            Some(Operation::Return(_) | Operation::ReturnA) => Ok(()),
            _ => Err(NoProgram("it does not end".into())),
        }
    }

    /// Whether this packet, from the Ethernet header on, is wanted.
    pub fn wants(&self, packet: &[u8]) -> bool {
        // What reads behind the packet's end does not want it, as in the kernel.
        self.run(packet).is_some_and(|kept| kept > 0)
    }

    fn run(&self, packet: &[u8]) -> Option<u32> {
        let (mut a, mut x, mut memory) = (0_u32, 0_u32, [0_u32; MEMORY]);
        let length = u32::try_from(packet.len()).unwrap_or(u32::MAX);
        let mut next = 0;
        loop {
            let instruction = self.0.get(next)?;
            let Instruction { jt, jf, k, .. } = *instruction;
            next += 1;
            let operand = |operand: Operand| if operand == Operand::K { k } else { x };
            match instruction.operation()? {
                Operation::Load(_, From::Constant) => a = k,
                Operation::Load(size, From::Packet) => a = load(packet, u64::from(k), size)?,
                Operation::Load(size, From::PacketAtX) => a = load(packet, u64::from(k) + u64::from(x), size)?,
                Operation::Load(_, From::Memory) => a = memory[k as usize],
                Operation::Load(_, From::Length) => a = length,
                Operation::LoadX(FromX::Constant) => x = k,
                Operation::LoadX(FromX::Memory) => x = memory[k as usize],
                Operation::LoadX(FromX::Length) => x = length,
                Operation::LoadX(FromX::HeaderLength) => x = 4 * (load(packet, u64::from(k), Size::Byte)? & 0xf),
                Operation::Store => memory[k as usize] = a,
                Operation::StoreX => memory[k as usize] = x,
                Operation::Compute(arithmetic, of) => a = arithmetic.of(a, operand(of))?,
                Operation::Negate => a = a.wrapping_neg(),
                Operation::Jump => next += k as usize,
                Operation::JumpIf(condition, of) => {
                    next += usize::from(if condition.holds(a, operand(of)) { jt } else { jf });
                }
                Operation::Return(of) => return Some(operand(of)),
                Operation::ReturnA => return Some(a),
                Operation::AToX => x = a,
                Operation::XToA => a = x,
            }
        }
    }
}

/// In the order of the network; none behind the end.
fn load(packet: &[u8], at: u64, size: Size) -> Option<u32> {
    let at = usize::try_from(at).ok()?;
    let bytes = packet.get(at..at.checked_add(size as usize)?)?;
    Some(bytes.iter().fold(0, |value, byte| value << 8 | u32::from(*byte)))
}

impl Arithmetic {
    /// None of a division by zero, which ends a program without wanting the packet.
    fn of(self, a: u32, b: u32) -> Option<u32> {
        Some(match self {
            Self::Add => a.wrapping_add(b),
            Self::Subtract => a.wrapping_sub(b),
            Self::Multiply => a.wrapping_mul(b),
            Self::Divide => a.checked_div(b)?,
            Self::Modulo => a.checked_rem(b)?,
            Self::Or => a | b,
            Self::And => a & b,
            Self::ExclusiveOr => a ^ b,
            Self::ShiftLeft => a.checked_shl(b).unwrap_or(0),
            Self::ShiftRight => a.checked_shr(b).unwrap_or(0),
        })
    }
}

impl Condition {
    fn holds(self, a: u32, b: u32) -> bool {
        match self {
            Self::Equal => a == b,
            Self::Greater => a > b,
            Self::GreaterOrEqual => a >= b,
            Self::AnyOf => a & b != 0,
        }
    }
}

impl Instruction {
    /// None of a code that means nothing.
    fn operation(self) -> Option<Operation> {
        let (class, rest) = (self.code & 0x07, self.code & !0x07);
        match class {
            0x00 => Some(Operation::Load(size(self.code)?, from(self.code)?)),
            0x01 => from_x(self.code).map(Operation::LoadX),
            0x02 if rest == 0 => Some(Operation::Store),
            0x03 if rest == 0 => Some(Operation::StoreX),
            0x04 if self.code == 0x84 => Some(Operation::Negate),
            0x04 => Some(Operation::Compute(arithmetic(self.code)?, operand(self.code))),
            0x05 if self.code == 0x05 => Some(Operation::Jump),
            0x05 => Some(Operation::JumpIf(condition(self.code)?, operand(self.code))),
            0x06 if self.code == 0x06 => Some(Operation::Return(Operand::K)),
            0x06 if self.code == 0x0e => Some(Operation::Return(Operand::X)),
            0x06 if self.code == 0x16 => Some(Operation::ReturnA),
            0x07 if self.code == 0x07 => Some(Operation::AToX),
            0x07 if self.code == 0x87 => Some(Operation::XToA),
            _ => None,
        }
    }
}

fn size(code: u16) -> Option<Size> {
    match code & 0x18 {
        0x00 => Some(Size::Word),
        0x08 => Some(Size::Half),
        0x10 => Some(Size::Byte),
        _ => None,
    }
}

fn from(code: u16) -> Option<From> {
    let is_word = code & 0x18 == 0;
    match code & 0xffe0 {
        0x00 if is_word => Some(From::Constant),
        0x20 => Some(From::Packet),
        0x40 => Some(From::PacketAtX),
        0x60 if is_word => Some(From::Memory),
        0x80 if is_word => Some(From::Length),
        _ => None,
    }
}

fn from_x(code: u16) -> Option<FromX> {
    match code {
        0x01 => Some(FromX::Constant),
        0x61 => Some(FromX::Memory),
        0x81 => Some(FromX::Length),
        0xb1 => Some(FromX::HeaderLength),
        _ => None,
    }
}

fn operand(code: u16) -> Operand {
    if code & 0x08 == 0 { Operand::K } else { Operand::X }
}

fn arithmetic(code: u16) -> Option<Arithmetic> {
    match code & 0xfff0 {
        0x00 => Some(Arithmetic::Add),
        0x10 => Some(Arithmetic::Subtract),
        0x20 => Some(Arithmetic::Multiply),
        0x30 => Some(Arithmetic::Divide),
        0x40 => Some(Arithmetic::Or),
        0x50 => Some(Arithmetic::And),
        0x60 => Some(Arithmetic::ShiftLeft),
        0x70 => Some(Arithmetic::ShiftRight),
        0x90 => Some(Arithmetic::Modulo),
        0xa0 => Some(Arithmetic::ExclusiveOr),
        _ => None,
    }
}

fn condition(code: u16) -> Option<Condition> {
    match code & 0xfff0 {
        0x10 => Some(Condition::Equal),
        0x20 => Some(Condition::Greater),
        0x30 => Some(Condition::GreaterOrEqual),
        0x40 => Some(Condition::AnyOf),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
