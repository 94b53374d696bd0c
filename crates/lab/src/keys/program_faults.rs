//! The tables of entries that disturb programs by the kernel of their node.

use super::timeline::{LENGTH, NODES, WHEN};
use crate::forms::{AboveZero, Filled, OneOrMore, OrZero, Whole, Word, word_form};
use crate::keyed::{Keyed, sections};
use crate::plan::{Call, CallError};
use crate::section::{Form, Kind};
use netloom_units::{Bytes, Duration, Probability};

const PLACES: Kind = Kind::OneOf(&[NODES, Kind::list(&NODES, 1)]);
const PAIR_OF_TIMES: Kind = Kind::pair(&Duration::KIND);
/// More calls than a program makes.
const MOST_CALLS: u64 = 1_000_000_000_000;
/// The most changes of priorities that an entry draws.
const MOST_CHANGES: u64 = 1_000;

word_form! {
    /// The only way to choose priorities.
    pub(crate) struct DrawnPriorities = () { "random" = () }
}

sections! {
    /// Lets system calls of a node's programs fail, be late, or move fewer bytes than they were asked to.
    pub(crate) const FAIL_ENTRY = "fail_entry" {
        ..WHEN;
        /// The node, or several: a list, or a name with `*`, which stands for any letters.
        on = PLACES, required "client";
        /// Which calls, and what becomes of them; none ends all faults of system calls in the node.
        fail = Kind::OneOf(&[Kind::Word(&["none"]), Kind::Section(&FailKeys::SECTION)]), required "{call: fsync, error: EIO, nth: 3}";
        /// How long. Default: to the end of the run, or until `fail: none`.
        for = LENGTH, "10 s";
    }

    /// Which system calls fail, and how.
    pub(crate) struct FailKeys = "fail" {
        /// The call, or a list of them. Variants count as the same: pread and readv as read, fdatasync as fsync, openat as open.
        call: OneOrMore<Word<Call>>, required "[read, write]";
        /// The error that the program gets; the call is not made. Default: the call is made.
        error: Word<CallError>, "EIO";
        /// How many bytes a call moves at most, however many it was asked to: short reads and writes. Default: any number.
        most: Bytes, "1 B";
        /// How late the call is made or answered. Default: at once.
        delay: AboveZero<Duration>, "2 s";
        /// The first call that is met, of those that match. Default: 1.
        nth: Whole<u64, 1, MOST_CALLS>, "3";
        /// The number of calls that are met. Default: with `nth`, 1; otherwise all.
        times: Whole<u64, 1, MOST_CALLS>, "2";
        /// The share of matching calls that are met, drawn from the seed. Default: all.
        probability: OrZero<Probability>, "10 %";
        /// Only calls for files with this path, as the node's programs see it; `*` stands for any letters, also several folders. Default: all.
        path: Filled, "/var/lib/*";
        /// Only processes with this command line, its words with one space between them; `*` stands for any letters. Default: all.
        process: Filled, "\"postgres: checkpointer *\"";
        /// Only threads with this name (`comm`); `*` stands for any letters. Default: all.
        thread: Filled, "\"worker-*\"";
    }

    /// Gives programs no processor for a while, though they could run, while others do.
    pub(crate) const STARVE_ENTRY = "starve_entry" {
        ..WHEN;
        /// The node, or several: a list, or a name with `*`, which stands for any letters.
        on = PLACES, required "client";
        /// Which programs; true: all.
        starve = Kind::OneOf(&[Kind::True, Kind::Section(&StarveKeys::SECTION)]), required "{process: \"*worker*\"}";
        /// How long.
        for = LENGTH, required "50 ms";
    }

    /// Which programs are starved, and when.
    pub(crate) struct StarveKeys = "starve" {
        /// Only processes with this command line, its words with one space between them; `*` stands for any letters. Default: all.
        process: Filled, "\"postgres: checkpointer *\"";
        /// Only threads with this name (`comm`); `*` stands for any letters. Default: all.
        thread: Filled, "\"worker-*\"";
        /// The share of them that is starved, drawn anew from the seed for each span. Default: all of them, all the time.
        share: OrZero<Probability>, "10 %";
        /// The shortest and the longest span for which a share is starved; those between are the shortest times 2, 4, 8 and so on. Default: 1
        /// ms and 2 s.
        spans = PAIR_OF_TIMES, "[1 ms, 2 s]";
    }

    /// Lets programs of a node take turns by priorities that are drawn from the seed.
    pub(crate) const SCHEDULE_ENTRY = "schedule_entry" {
        ..WHEN;
        /// The node, or several: a list, or a name with `*`, which stands for any letters.
        on = PLACES, required "client";
        /// How.
        schedule = Kind::Section(&ScheduleKeys::SECTION), required "{priorities: random, changes: 3}";
        /// How long. Default: to the end of the run.
        for = LENGTH, "10 s";
    }

    /// How programs take turns.
    pub(crate) struct ScheduleKeys = "turns" {
        /// Each thread gets a priority by chance, and of those that can run the highest does.
        priorities = DrawnPriorities::KIND, "random";
        /// How often the one that runs drops to the lowest priority. Default: 3.
        changes: Whole<u32, 0, MOST_CHANGES>, "2";
        /// Within how many of their system calls it does, from the entry on. Default: 1,000.
        within: Whole<u32, 1, 1_000_000_000>, "200";
        /// Only processes with this command line, its words with one space between them; `*` stands for any letters. Default: all.
        process: Filled, "\"*worker*\"";
    }

    /// Lets the kernel of a node kill a process as if there were no memory left (OOM).
    pub(crate) const OOM_ENTRY = "oom_entry" {
        ..WHEN;
        /// The node, or several: a list, or a name with `*`, which stands for any letters.
        on = PLACES, required "client";
        /// The command line of the process, its words with one space between them; `*` stands for any letters. Of several, the one with the
        /// most memory is killed.
        oom: Filled, required "\"*worker*\"";
    }
}
