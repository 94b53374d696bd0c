//! The tables of the timeline's entries about disks.

use super::timeline::{LENGTH, NODE_PATTERNS, WHEN};
use crate::forms::{AboveZero, Filled, OneOrMore, Whole, Word, word_form};
use crate::keyed::sections;
use crate::plan::DiskCall;
use crate::section::Kind;
use netloom_units::Duration;

word_form! {
    /// Requests that move sectors.
    pub(crate) struct TransferCall = DiskCall { "read" = DiskCall::Read, "write" = DiskCall::Write }
}

word_form! {
    /// Requests that a disk can say to have done without having done them.
    pub(crate) struct LostCall = DiskCall { "write" = DiskCall::Write, "flush" = DiskCall::Flush }
}

word_form! {
    /// Where a bit comes out wrong; none: in what is stored.
    pub(crate) struct Flipped = Option<DiskCall> {
        "read" = Some(DiskCall::Read), "write" = Some(DiskCall::Write), "stored" = None
    }
}

/// The first and the last of some sectors.
const SECTORS: Kind = Kind::Text("^[0-9]+-[0-9]+$");

sections! {
    /// Disturbs disks of nodes: exactly one of error, slow, flip, misdirect, tear, lose, hang, read_only, full and works.
    pub(crate) const DISK_ENTRY = "disk_entry" {
        ..WHEN;
        /// The node whose disk it is, or a name with `*`, which stands for any letters; or a list of them.
        disk = NODE_PATTERNS, required "client";
        /// These requests fail (EIO): read, write or flush, or a list of them.
        error: OneOrMore<Word<DiskCall>>, "flush";
        /// Requests take so much longer.
        slow: AboveZero<Duration>, "20 ms";
        /// Which requests are slow. Default: all.
        calls: OneOrMore<Word<DiskCall>>, "[read, write]";
        /// A bit comes out wrong: of each such read or write; or, stored, of what is on the disk by then, once.
        flip: Flipped, "read";
        /// These requests read from, or write to, a place up to 4 MB away.
        misdirect: OneOrMore<TransferCall>, "write";
        /// Writes put only their first sectors on the disk, drawn, and say that they are done.
        tear: bool, "true";
        /// These requests do nothing and say that they are done: write or flush, or a list of them.
        lose: OneOrMore<LostCall>, "flush";
        /// The disk does nothing for a while: all requests end so much later.
        hang: bool, "true";
        /// The file system becomes read-only (EROFS).
        read_only: bool, "true";
        /// The file system has no room any more (ENOSPC).
        full: bool, "true";
        /// All faults of the disk end.
        works: bool, "true";
        /// It begins with the n-th of these requests. Default: 1.
        nth: Whole<u64, 1, { u64::MAX }>, "3";
        /// It meets so many of these requests, or bits. Default: all that come; of what is stored, 1.
        count: Whole<u64, 1, { u64::MAX }>, "1";
        /// Only requests about these sectors of 512 bytes: the first and the last. Default: all.
        sectors = SECTORS, "2048-4095";
        /// Only requests about the sectors that this file has then, below the folder of the disk. Default: all.
        path: Filled, "/var/lib/etcd/member/wal/0.wal";
        /// How long. Default: for ever, or until `works`.
        for = LENGTH, "2 s";
    }
}
