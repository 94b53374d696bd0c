//! The messages of NBD that QEMU sends, and their answers.

use netloom_guest::disk::Request;
use std::io::{self, Error, ErrorKind, Read, Write};

const MAGIC: u64 = 0x4e42_444d_4147_4943;
const OPTION: u64 = 0x4948_4156_454f_5054;
const OPTION_REPLY: u64 = 0x0003_e889_0455_65a9;
const REQUEST: u32 = 0x2560_9513;
const REPLY: u32 = 0x6744_6698;

/// NBD_FLAG_FIXED_NEWSTYLE and NBD_FLAG_NO_ZEROES.
const HANDSHAKE: u16 = 3;
/// NBD_FLAG_HAS_FLAGS, NBD_FLAG_SEND_FLUSH and NBD_FLAG_SEND_FUA.
const TRANSMISSION: u16 = 1 | 1 << 2 | 1 << 3;
const FUA: u16 = 1;

const ABORT: u32 = 2;
const GO: u32 = 7;
const ACKNOWLEDGED: u32 = 1;
const INFO: u32 = 3;
const UNSUPPORTED: u32 = 1 << 31 | 1;

/// NBD_INFO_EXPORT and NBD_INFO_BLOCK_SIZE.
const EXPORT: u16 = 0;
const BLOCK_SIZE: u16 = 3;

/// The most bytes of a request, which QEMU never exceeds, and of an option.
const MOST: u32 = 32 << 20;
const MOST_OPTION: u32 = 64 << 10;

/// The wish of a client at the end of the handshake.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wish {
    Disk,
    Nothing,
}

/// A message behind the handshake.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Asked {
    For { handle: u64, request: Request },
    Nothing,
}

/// Agrees with a client on how to speak about a disk of this size.
pub(super) fn agree(reader: &mut impl Read, writer: &mut impl Write, size: u64) -> io::Result<Wish> {
    writer.write_all(&[&MAGIC.to_be_bytes()[..], &OPTION.to_be_bytes(), &HANDSHAKE.to_be_bytes()].concat())?;
    number::<4>(reader)?;
    loop {
        if u64::from_be_bytes(bytes(reader)?) != OPTION {
            return Err(wrong("no option"));
        }
        let (option, length) = (number::<4>(reader)?, number::<4>(reader)?);
        if length > MOST_OPTION {
            return Err(wrong("a long option"));
        }
        io::copy(&mut reader.by_ref().take(length.into()), &mut io::sink())?;
        match option {
            GO => {
                let export = [&EXPORT.to_be_bytes()[..], &size.to_be_bytes(), &TRANSMISSION.to_be_bytes()].concat();
                let sizes = [512, 4096, MOST].map(u32::to_be_bytes).concat();
                let sizes = [&BLOCK_SIZE.to_be_bytes()[..], &sizes].concat();
                let all = [(INFO, &export[..]), (INFO, &sizes), (ACKNOWLEDGED, &[])];
                writer.write_all(&all.map(|(kind, told)| option_reply(GO, kind, told)).concat())?;
                return Ok(Wish::Disk);
            }
            ABORT => {
                writer.write_all(&option_reply(ABORT, ACKNOWLEDGED, &[]))?;
                return Ok(Wish::Nothing);
            }
            other => writer.write_all(&option_reply(other, UNSUPPORTED, &[]))?,
        }
    }
}

fn option_reply(option: u32, kind: u32, told: &[u8]) -> Vec<u8> {
    let length = u32::try_from(told.len()).expect("answers are short");
    let words = [option, kind, length].map(u32::to_be_bytes).concat();
    [&OPTION_REPLY.to_be_bytes()[..], &words, told].concat()
}

/// Reads the next request.
pub(super) fn next(reader: &mut impl Read) -> io::Result<Asked> {
    if number::<4>(reader)? != REQUEST {
        return Err(wrong("no request"));
    }
    let [flags, kind] = [u16::from_be_bytes(bytes(reader)?), u16::from_be_bytes(bytes(reader)?)];
    let (handle, place, length) =
        (u64::from_be_bytes(bytes(reader)?), u64::from_be_bytes(bytes(reader)?), number::<4>(reader)?);
    if length > MOST {
        return Err(wrong("a long request"));
    }
    let length = length as usize;
    let request = match kind {
        0 => Request::Read { place, length },
        1 => {
            let mut written = vec![0; length];
            reader.read_exact(&mut written)?;
            Request::Write { place, bytes: written, is_durable: flags & FUA != 0 }
        }
        2 => return Ok(Asked::Nothing),
        3 => Request::Flush,
        _ => return Err(wrong("a request that was not offered")),
    };
    Ok(Asked::For { handle, request })
}

/// The answer to a request, with the bytes that were read; none if it has failed (EIO).
pub(super) fn reply(handle: u64, read: Option<&[u8]>) -> Vec<u8> {
    let error = if read.is_some() { 0 } else { libc::EIO as u32 };
    let head = [REPLY, error].map(u32::to_be_bytes).concat();
    [&head[..], &handle.to_be_bytes(), read.unwrap_or_default()].concat()
}

fn bytes<const COUNT: usize>(reader: &mut impl Read) -> io::Result<[u8; COUNT]> {
    let mut taken = [0; COUNT];
    reader.read_exact(&mut taken)?;
    Ok(taken)
}

fn number<const COUNT: usize>(reader: &mut impl Read) -> io::Result<u32> {
    Ok(bytes::<COUNT>(reader)?.iter().fold(0, |all, byte| all << 8 | u32::from(*byte)))
}

fn wrong(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("{what} of NBD"))
}
