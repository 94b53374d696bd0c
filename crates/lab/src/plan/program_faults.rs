//! Faults of programs that the kernel of their node makes: system calls that fail, programs that get no processor, and turns by drawn
//! priorities.

use crate::words::{Words, words};
use netloom_units::{Bytes, Duration, Probability};
use std::fmt;

words! {
    /// A kind of system call, by the name of the one that is known best.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Call {
        /// Data is read from a file or a connection.
        Read = "read",
        /// Data is written to a file or a connection.
        Write = "write",
        /// A message is sent.
        Send = "send",
        /// A message is received.
        Recv = "recv",
        /// A file is flushed to its disk.
        Fsync = "fsync",
        /// A file is opened.
        Open = "open",
        /// A connection is opened.
        Connect = "connect",
        /// A connection is accepted.
        Accept = "accept",
        /// A socket gets an address.
        Bind = "bind",
        /// A socket accepts connections from then on.
        Listen = "listen",
        /// A socket is made.
        Socket = "socket",
        /// Memory or a file is mapped.
        Mmap = "mmap",
        /// The heap grows.
        Brk = "brk",
        /// A file gets another name.
        Rename = "rename",
        /// A file is removed.
        Unlink = "unlink",
        /// A folder is made.
        Mkdir = "mkdir",
        /// A file gets another length.
        Truncate = "truncate",
        /// A file gets space.
        Fallocate = "fallocate",
        /// A file's properties are read.
        Stat = "stat",
        /// A folder is listed.
        Getdents = "getdents",
        /// A file is locked.
        Flock = "flock",
        /// Descriptors are waited for.
        Poll = "poll",
        /// Time is waited for.
        Sleep = "sleep",
        /// A process or a thread is made.
        Fork = "fork",
        /// A program is started.
        Exec = "exec",
        /// Random numbers are read.
        Getrandom = "getrandom",
    }
}

impl Call {
    /// Whether it is about a file, so that a path can say which.
    pub fn has_path(self) -> bool {
        use Call::{
            Exec, Fallocate, Flock, Fsync, Getdents, Mkdir, Mmap, Open, Read, Rename, Stat, Truncate, Unlink, Write,
        };
        matches!(
            self,
            Read | Write
                | Fsync
                | Open
                | Mmap
                | Rename
                | Unlink
                | Mkdir
                | Truncate
                | Fallocate
                | Stat
                | Getdents
                | Flock
                | Exec
        )
    }

    /// Whether it moves a number of bytes, which can be smaller than it was asked for.
    pub fn has_length(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Send | Self::Recv | Self::Getrandom)
    }
}

/// Some kinds of system calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallSet(u64);

impl CallSet {
    /// Returns the kinds in the order of their declaration.
    pub fn calls(self) -> impl Iterator<Item = Call> {
        let all = Call::WORDS.iter().enumerate();
        all.filter(move |(place, _)| self.0 >> place & 1 == 1).map(|(_, (_, call))| *call)
    }
}

impl FromIterator<Call> for CallSet {
    fn from_iter<T: IntoIterator<Item = Call>>(calls: T) -> Self {
        let place = |call| Call::WORDS.iter().position(|(_, known)| *known == call).unwrap_or_default();
        Self(calls.into_iter().fold(0, |set, call| set | 1 << place(call)))
    }
}

words! {
    /// An error of a system call (errno(3)).
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum CallError {
        /// It may not be done.
        Perm = "EPERM",
        /// There is no such file.
        NoEnt = "ENOENT",
        /// A signal came.
        Intr = "EINTR",
        /// The device failed.
        Io = "EIO",
        /// It would have to wait.
        Again = "EAGAIN",
        /// There is no memory.
        NoMem = "ENOMEM",
        /// The user may not do it.
        Acces = "EACCES",
        /// Something else uses it.
        Busy = "EBUSY",
        /// There is such a file.
        Exist = "EEXIST",
        /// An argument is wrong.
        Inval = "EINVAL",
        /// The machine has too many files open.
        NFile = "ENFILE",
        /// The process has too many files open.
        MFile = "EMFILE",
        /// The file is too large.
        FBig = "EFBIG",
        /// The disk is full.
        NoSpc = "ENOSPC",
        /// The file system is read-only.
        RoFs = "EROFS",
        /// Nobody reads.
        Pipe = "EPIPE",
        /// The kernel does not know the call.
        NoSys = "ENOSYS",
        /// The user has used up what is allowed.
        DQuot = "EDQUOT",
        /// The address is in use.
        AddrInUse = "EADDRINUSE",
        /// The address cannot be had.
        AddrNotAvail = "EADDRNOTAVAIL",
        /// The network is down.
        NetDown = "ENETDOWN",
        /// The network cannot be reached.
        NetUnreach = "ENETUNREACH",
        /// The connection was aborted.
        ConnAborted = "ECONNABORTED",
        /// The connection was reset.
        ConnReset = "ECONNRESET",
        /// There is no room in buffers.
        NoBufs = "ENOBUFS",
        /// It took too long.
        TimedOut = "ETIMEDOUT",
        /// The connection was refused.
        ConnRefused = "ECONNREFUSED",
        /// The host cannot be reached.
        HostUnreach = "EHOSTUNREACH",
    }
}

impl CallError {
    /// Returns the number that Linux has for the error on x86-64 and AArch64.
    pub fn number(self) -> i32 {
        match self {
            Self::Perm => 1,
            Self::NoEnt => 2,
            Self::Intr => 4,
            Self::Io => 5,
            Self::Again => 11,
            Self::NoMem => 12,
            Self::Acces => 13,
            Self::Busy => 16,
            Self::Exist => 17,
            Self::Inval => 22,
            Self::NFile => 23,
            Self::MFile => 24,
            Self::FBig => 27,
            Self::NoSpc => 28,
            Self::RoFs => 30,
            Self::Pipe => 32,
            Self::NoSys => 38,
            Self::AddrInUse => 98,
            Self::AddrNotAvail => 99,
            Self::NetDown => 100,
            Self::NetUnreach => 101,
            Self::ConnAborted => 103,
            Self::ConnReset => 104,
            Self::NoBufs => 105,
            Self::TimedOut => 110,
            Self::ConnRefused => 111,
            Self::HostUnreach => 113,
            Self::DQuot => 122,
        }
    }
}

/// A pattern that is short enough to be a part of a value that is copied, in which `*` stands for any letters.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ShortPattern {
    bytes: [u8; Self::LONGEST],
    length: u8,
}

impl ShortPattern {
    /// The most bytes that a pattern has.
    pub const LONGEST: usize = 63;

    /// Returns the pattern; none if it is too long.
    pub fn new(text: &str) -> Option<Self> {
        let mut bytes = [0; Self::LONGEST];
        bytes.get_mut(..text.len())?.copy_from_slice(text.as_bytes());
        Some(Self { bytes, length: u8::try_from(text.len()).ok()? })
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..usize::from(self.length)]).unwrap_or_default()
    }
}

impl fmt::Debug for ShortPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

/// System calls that fail, are late, or move fewer bytes than they were asked to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallFailure {
    /// The kinds of calls.
    pub calls: CallSet,
    /// The path of the file; none: any file, or none.
    pub path: Option<ShortPattern>,
    /// The name of the thread; none: any.
    pub thread: Option<ShortPattern>,
    /// The error; none: the call is made.
    pub error: Option<CallError>,
    /// The most bytes that a call moves; none: as many as it was asked to.
    pub most: Option<Bytes>,
    /// How late the call is made or answered; zero: at once.
    pub delay: Duration,
    /// The first call that is met, of those that match.
    pub nth: u64,
    /// The number of calls that are met; none: all.
    pub times: Option<u64>,
    /// The share of calls that are met.
    pub probability: Probability,
}

/// Programs that get no processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Starvation {
    /// The name of the thread; none: any.
    pub thread: Option<ShortPattern>,
    /// The share of threads that get none, in spans of time from the first to the second; none: all, all the time.
    pub spans: Option<(Probability, Duration, Duration)>,
}

/// Turns that threads take by priorities that are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turns {
    /// How often the one that runs drops to the lowest priority,
    pub changes: u32,
    /// within so many of their system calls.
    pub within: u32,
}

impl fmt::Display for CallFailure {
    /// As the lab file has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.calls.calls().map(Call::name).collect();
        let calls = if let [only] = names[..] { only.to_owned() } else { format!("[{}]", names.join(", ")) };
        let is_sure = self.probability == Probability::ONE;
        let parts = [
            Some(format!("call: {calls}")),
            self.error.map(|error| format!("error: {}", error.name())),
            self.most.map(|most| format!("most: {most}")),
            (!self.delay.is_zero()).then(|| format!("delay: {}", self.delay)),
            (self.nth > 1).then(|| format!("nth: {}", self.nth)),
            self.times.map(|times| format!("times: {times}")),
            (!is_sure).then(|| format!("probability: {}", self.probability)),
            self.path.map(|path| format!("path: {}", path.as_str())),
            self.thread.map(|thread| format!("thread: {}", thread.as_str())),
        ];
        f.pad(&format!("{{{}}}", parts.into_iter().flatten().collect::<Vec<String>>().join(", ")))
    }
}

impl fmt::Display for Starvation {
    /// As the lab file has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            self.thread.map(|thread| format!("thread: {}", thread.as_str())),
            self.spans.map(|(share, least, longest)| format!("share: {share}, spans: [{least}, {longest}]")),
        ];
        f.pad(&format!("{{{}}}", parts.into_iter().flatten().collect::<Vec<String>>().join(", ")))
    }
}

impl fmt::Display for Turns {
    /// As the lab file has it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{{priorities: random, changes: {}, within: {}}}", self.changes, self.within))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_calls_keep_their_members() {
        let all: CallSet = Call::WORDS.iter().map(|(_, call)| *call).collect();
        assert_eq!(all.calls().count(), Call::WORDS.len());
        let some: CallSet = [Call::Getrandom, Call::Read].into_iter().collect();
        assert_eq!(some.calls().collect::<Vec<_>>(), [Call::Read, Call::Getrandom]);
    }

    #[test]
    fn patterns_are_short() {
        let longest = "é".repeat(31) + "x";
        assert_eq!(ShortPattern::new(&longest).map(|pattern| pattern.as_str().to_owned()), Some(longest));
        assert_eq!(ShortPattern::new(&"x".repeat(64)), None);
    }
}
