//! The far end of a tunnel, as this end knows it: greetings, questions for the time, and what is heard of it.

use super::message::{Greeting, HEADER, Message, Stray, VERSION, between};
use super::numbers::Numbers;
use super::path::{Path, Sample};
use super::socket::Socket;
use super::{Refusal, TunnelSettings};
use netloom_figures::Distribution;
use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read};
use std::net::UdpSocket;

/// How often the far end is greeted while it has not answered, and asked for the time.
pub(super) const GREETED_EVERY: u64 = 50_000_000;
const ASKED_EVERY: u64 = 20_000_000;
/// Greetings are answered at once, but not more often than this.
const ANSWERED_EVERY: u64 = 5_000_000;
/// At the beginning it is asked more often, to know the path soon.
const ASKED_FIRST_EVERY: u64 = 2_000_000;
/// Who is not heard for so long is silent.
pub(super) const SILENT_AFTER: u64 = 1_000_000_000;
/// Frames that overtake one another do so within this: what has not come so long after those behind it is lost.
const SETTLES_WITHIN: u64 = 200_000_000;
/// Questions that wait for their answer, at most: of two seconds.
const ASKED: usize = 128;
/// Bytes of a frame before its IP packet: Ethernet header and a tag.
pub(super) const FRAME_HEADER: u32 = 18;

/// See the module.
pub(super) struct FarEnd {
    pub(super) socket: Socket,
    pub(super) settings: TunnelSettings,
    own: Greeting,
    /// Its greeting; none before it came.
    greeting: Option<Greeting>,
    /// Whether it knows this end's token.
    knows_us: bool,
    /// Whether its engine takes frames.
    is_ready: bool,
    /// Whether this end's does.
    pub(super) takes_frames: bool,
    has_left: bool,
    /// When it was heard last, greeted last and is asked next.
    heard: u64,
    greeted: u64,
    next_question: u64,
    questions: u64,
    /// How many frames were sent in this life of the far end.
    frames: u64,
    pub(super) path: Path,
    pub(super) numbers: Numbers,
    /// How many frames it had sent when, by its own report; the newest last.
    told: VecDeque<(u64, u64)>,
    /// How many of them count as sent.
    settled: u64,
    pub(super) heard_of: Heard,
}

/// What was found out about the far end and the path from there, for the report.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// How long datagrams took on the path.
    pub(super) took: Distribution,
    /// Frames that were sent there, in all of its lives.
    pub(super) sent: u64,
    /// Frames of earlier lives of the far end that came, were lost, came twice.
    pub(super) before: [u64; 3],
    /// Datagrams that were none of the far end's.
    pub(super) strays: u64,
    /// How often it was silent for a while and came back.
    pub(super) gaps: u64,
    pub(super) silent_ns: u64,
}

/// A frame that has come.
pub(super) struct Come<'a> {
    /// The instant of this end's clock at which it is to leave.
    pub(super) due: u64,
    pub(super) bytes: &'a [u8],
}

impl FarEnd {
    pub(super) fn new(socket: UdpSocket, settings: TunnelSettings) -> io::Result<Self> {
        let socket = Socket::new(socket)?;
        let now = socket.now();
        let TunnelSettings { vni, mtu } = settings;
        Ok(Self {
            socket,
            settings,
            own: Greeting { session: chosen_token()?, clock: clock_identity(), vni, mtu, mode: 0 },
            greeting: None,
            knows_us: false,
            is_ready: false,
            takes_frames: false,
            has_left: false,
            heard: now,
            greeted: 0,
            next_question: 0,
            questions: 0,
            frames: 0,
            path: Path::default(),
            numbers: Numbers::default(),
            told: VecDeque::new(),
            settled: 0,
            heard_of: Heard::default(),
        })
    }

    /// Whether both ends know one another and how long the path takes.
    pub(super) fn is_joined(&self) -> bool {
        self.greeting.is_some() && self.knows_us && self.path.is_known()
    }

    /// Whether it has greeted in some way.
    pub(super) fn is_heard(&self) -> bool {
        self.greeting.is_some()
    }

    /// Whether frames for it have somebody who takes them.
    pub(super) fn takes(&self, now: u64) -> bool {
        self.is_ready && !self.has_left && !self.is_silent(now)
    }

    /// Whether it took frames once.
    pub(super) fn was_ready(&self) -> bool {
        self.is_ready
    }

    /// Whether it said that it leaves.
    pub(super) fn has_left(&self) -> bool {
        self.has_left
    }

    pub(super) fn is_silent(&self, now: u64) -> bool {
        now.saturating_sub(self.heard) > SILENT_AFTER
    }

    /// When it was heard last.
    pub(super) fn heard(&self) -> u64 {
        self.heard
    }

    /// How many of its frames have not come, of those that must have by now.
    pub(super) fn lost(&mut self, now: u64) -> u64 {
        self.settle(now);
        self.numbers.lost(self.settled)
    }

    fn settle(&mut self, now: u64) {
        while let Some((_, frames)) = self.told.front().filter(|(at, _)| now.saturating_sub(*at) > SETTLES_WITHIN) {
            self.settled = self.settled.max(*frames);
            self.told.pop_front();
        }
    }

    /// Wraps a frame, which leaves when the socket is flushed.
    pub(super) fn send(&mut self, due: u64, write: impl FnOnce(&mut Vec<u8>)) {
        let token = self.token();
        let frame = Message::Frame { number: self.frames, due, sent: self.socket.now(), bytes: &[] };
        (self.frames, self.heard_of.sent) = (self.frames + 1, self.heard_of.sent + 1);
        self.socket.push(|out| {
            frame.write(token, out);
            write(out);
        });
    }

    fn token(&self) -> u64 {
        self.greeting.map_or(0, |greeting| greeting.session)
    }

    /// When there is something to say next.
    pub(super) fn next(&self) -> u64 {
        self.next_question
    }

    /// Greets it and asks it for the time, as far as that is due.
    pub(super) fn speak(&mut self, now: u64) {
        if now < self.next_question {
            return;
        }
        let is_alone = self.greeting.is_none() || !self.knows_us || self.is_silent(now) || self.has_left;
        if is_alone && now >= self.greeted + GREETED_EVERY {
            self.greet(now);
        }
        let often = if self.path.is_known() { ASKED_EVERY } else { ASKED_FIRST_EVERY };
        self.next_question = now + if is_alone { GREETED_EVERY } else { often };
        if self.greeting.is_some() && !self.has_left {
            let (number, frames) = (self.questions << 1 | u64::from(self.takes_frames), self.frames);
            self.questions += 1;
            let (token, sent) = (self.token(), self.socket.now());
            self.say(&Message::Probe { number, sent, frames }, token);
        }
        self.socket.flush();
    }

    /// Once as long as the longest frame, to see that the path carries it, and once short, to be heard at all.
    fn greet(&mut self, now: u64) {
        self.greeted = now;
        let token = self.token();
        for len in [self.longest(), 0] {
            self.say(&Message::Hello { greeting: self.own, len, knows: self.knows_us }, token);
            // Apart, so that the refusal of the one is not that of the other.
            self.socket.flush();
        }
    }

    /// The longest datagram.
    fn longest(&self) -> usize {
        HEADER + usize::try_from(self.settings.mtu + FRAME_HEADER).expect("an MTU is small")
    }

    fn leave(&mut self) {
        if self.greeting.is_some() {
            let (token, frames) = (self.token(), self.frames);
            // A datagram may be lost; who does not hear it takes this end to be silent.
            (0..3).for_each(|_| self.say(&Message::Bye { frames }, token));
            self.socket.flush();
        }
    }

    fn say(&mut self, message: &Message<'_>, token: u64) {
        self.socket.push(|out| message.write(token, out));
    }

    /// Takes a datagram that came at `came`.
    ///
    /// # Errors
    /// Why the far end cannot be joined.
    pub(super) fn take<'a>(&mut self, bytes: &'a [u8], came: u64) -> Result<Option<Come<'a>>, Refusal> {
        let (message, borne) = match Message::parse(bytes, self.own.session) {
            Ok(parsed) => parsed,
            Err(Stray::Version(other)) => return Err(Refusal::Version { own: VERSION, other }),
            Err(_) => {
                self.heard_of.strays += 1;
                return Ok(None);
            }
        };
        if let Message::Hello { greeting, len, knows } = message {
            let welcome = self.welcome(greeting, borne, len, came);
            if (!knows || welcome.is_err()) && came > self.greeted + ANSWERED_EVERY {
                // It is answered, whatever is wrong with it: then it can report that, too.
                self.greet(came);
            }
            return welcome.map(|()| None);
        }
        self.hear(came);
        Ok(match message {
            Message::Frame { number, due, sent, bytes: frame } => self.frame(number, due, sent, frame, came),
            Message::Probe { number, sent, frames } => {
                self.is_ready |= number & 1 == 1;
                self.told_of(frames, came);
                let token = self.token();
                let now = self.socket.now();
                self.say(&Message::Echo { number, asked: sent, came, sent: now }, token);
                self.socket.flush();
                None
            }
            Message::Echo { asked, came: there, sent, .. } => {
                self.path.learn(Sample { asked, came: there, answered: sent, back: came });
                self.heard_of.took.record(between(0, self.path.took(sent, came)), 1);
                None
            }
            Message::Bye { frames } => {
                self.told_of(frames, came);
                self.has_left = true;
                None
            }
            Message::Hello { .. } => None,
        })
    }

    fn hear(&mut self, came: u64) {
        let pause = came.saturating_sub(self.heard);
        if pause > SILENT_AFTER && self.is_ready {
            self.heard_of.gaps += 1;
            self.heard_of.silent_ns += pause;
        }
        self.heard = self.heard.max(came);
    }

    fn told_of(&mut self, frames: u64, came: u64) {
        if self.told.len() == ASKED {
            self.told.pop_front().into_iter().for_each(|(_, early)| self.settled = self.settled.max(early));
        }
        self.told.push_back((came, frames));
        self.settle(came);
    }

    fn frame<'a>(&mut self, number: u64, due: u64, sent: u64, bytes: &'a [u8], came: u64) -> Option<Come<'a>> {
        if !self.takes_frames || !self.numbers.take(number) {
            return None;
        }
        self.heard_of.took.record(between(0, self.path.took(sent, came)), 1);
        Some(Come { due: self.path.here(due, came), bytes })
    }

    /// The far end greets: `borne` is the token that it takes this end to have.
    fn welcome(&mut self, greeting: Greeting, borne: u64, len: usize, came: u64) -> Result<(), Refusal> {
        let fits = self.check(&greeting);
        if fits.is_ok() && greeting.session == self.own.session {
            return Err(Refusal::Ourselves);
        }
        let is_new = self.greeting.is_none_or(|known| known.session != greeting.session);
        if is_new && self.greeting.is_some() && !self.has_left && !self.is_silent(came) {
            // While the far end that is known is there, nobody takes its place.
            self.heard_of.strays += 1;
            return Ok(());
        }
        if fits.is_ok() && is_new {
            self.begin_anew(greeting);
        }
        if fits.is_ok() {
            self.hear(came);
            // What comes in full length shows that the path carries the longest frames from there.
            self.knows_us |= borne == self.own.session && len >= self.longest();
        }
        fits
    }

    fn check(&self, greeting: &Greeting) -> Result<(), Refusal> {
        let Greeting { vni, mtu, mode, .. } = *greeting;
        if vni != self.own.vni {
            return Err(Refusal::Vni { own: self.own.vni, other: vni });
        }
        if mode != self.own.mode {
            return Err(Refusal::Mode);
        }
        if mtu != self.own.mtu { Err(Refusal::Mtu { own: self.own.mtu, other: mtu }) } else { Ok(()) }
    }

    /// Another life of the far end: what was counted of the one before stays counted.
    fn begin_anew(&mut self, greeting: Greeting) {
        if self.greeting.is_some() {
            self.settled = self.told.back().map_or(self.settled, |(_, frames)| self.settled.max(*frames));
            let before = [self.numbers.come(), self.numbers.lost(self.settled), self.numbers.repeated()];
            self.heard_of.before.iter_mut().zip(before).for_each(|(all, own)| *all = all.saturating_add(own));
            self.heard_of.gaps += u64::from(self.is_ready);
        }
        self.path = Path::new(greeting.clock == self.own.clock && greeting.clock != 0);
        self.greeting = Some(greeting);
        (self.knows_us, self.is_ready, self.has_left) = (false, false, false);
        (self.numbers, self.settled) = (Numbers::default(), 0);
        self.told.clear();
        (self.frames, self.next_question) = (0, 0);
    }
}

/// Who leaves says so, whatever ends it.
impl Drop for FarEnd {
    fn drop(&mut self) {
        self.leave();
    }
}

/// What nobody guesses.
fn chosen_token() -> io::Result<u64> {
    let mut bytes = [0; 8];
    fs::File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u64::from_ne_bytes(bytes).max(1))
}

/// What is the same only where `CLOCK_MONOTONIC` is: this boot of the kernel, and how far the time namespace is shifted; zero if that
/// cannot be read.
fn clock_identity() -> u64 {
    let Ok(boot) = fs::read("/proc/sys/kernel/random/boot_id") else { return 0 };
    // Kernels without time namespaces have no such file.
    let shift = fs::read("/proc/self/timens_offsets").unwrap_or_default();
    // FNV-1a, 64 bits (draft-eastlake-fnv, section 2).
    boot.iter()
        .chain(&shift)
        .fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
