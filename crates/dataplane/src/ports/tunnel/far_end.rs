//! The far end of a tunnel, as this end knows it: greetings, questions for the time, and what is heard of it.

mod frames;

use super::day::DayClock;
use super::heard::Heard;
use super::identity::{clock_identity, random};
use super::message::{GREETING, Greeting, HEADER, Message, PLAIN, SEALED, Stray, VERSION, between};
use super::numbers::Numbers;
use super::path::{Clocks, Common, Path, Sample};
use super::pieces::{Joining, Lengths};
use super::repair::{Kept, Missing};
use super::room::Room;
use super::seal::{MAC, SEAL, Seals, Unopened};
use super::socket::Socket;
use super::tracking::Tracker;
use super::{Refusal, SHORTEST, TunnelSettings};
pub(super) use frames::Come;
use netloom_figures::TunnelClocks;
use netloom_packet::{LARGE_FRAME, VIRTIO_HEADER_LEN};
use std::collections::VecDeque;
use std::io;
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
/// The time for which greetings with another key, or none, come before they are an error: the right ones may come, too.
const FOREIGN_FOR: u64 = 1_000_000_000;
/// Bytes of a frame before its IP packet: Ethernet header and a tag.
pub(super) const FRAME_HEADER: u32 = 18;

/// See the module.
pub(super) struct FarEnd {
    pub(super) socket: Socket,
    pub(super) settings: TunnelSettings,
    own: Greeting,
    /// The seals of datagrams; none: the tunnel has no key.
    seals: Option<Seals>,
    pub(super) room: Room,
    /// The token of a far end with the key that has greeted, and has not shown yet that it is there now.
    candidate: Option<u64>,
    /// The instant from which on greetings come that were not made with this end's key, and why the latest of them is none.
    foreign: Option<(u64, Refusal)>,
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
    /// How many frames were sent in this life of the far end, and when it is to hear that; never, if it has heard.
    frames: u64,
    says_at: u64,
    /// The time of day of this end.
    day: DayClock,
    pub(super) path: Path,
    pub(super) numbers: Numbers,
    /// Its frames that came in part.
    pub(super) joining: Joining,
    /// Its frames that did not come, and frames that were sent there.
    pub(super) missing: Missing,
    pub(super) kept: Kept,
    /// Until when the path is taken to lose frames.
    loses_until: u64,
    /// How many frames it had sent when, by its own report; the newest last.
    told: VecDeque<(u64, u64)>,
    /// How many of them count as sent.
    settled: u64,
    pub(super) heard_of: Heard,
}

impl FarEnd {
    pub(super) fn new(socket: UdpSocket, settings: TunnelSettings) -> io::Result<Self> {
        let socket = Socket::new(socket)?;
        let now = socket.now();
        let room = Room::new(&socket);
        let TunnelSettings { vni, mtu, key } = settings;
        let session = u64::from_ne_bytes(random()?).max(1);
        let (salt, mode) = (random()?, if key.is_some() { SEALED } else { PLAIN });
        Ok(Self {
            socket,
            settings,
            own: Greeting { session, clock: clock_identity(), vni, mtu, mode, longest: 0, salt },
            seals: key.map(|key| Seals::new(key, salt)),
            room,
            candidate: None,
            foreign: None,
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
            says_at: u64::MAX,
            day: DayClock::new()?,
            path: Path::default(),
            numbers: Numbers::default(),
            joining: Joining::default(),
            missing: Missing::default(),
            kept: Kept::default(),
            loses_until: 0,
            told: VecDeque::new(),
            settled: 0,
            heard_of: Heard::default(),
        })
    }

    /// Asks this one, too, how exact the time of day is.
    pub(super) fn ask_of_day(&mut self, tracker: Tracker) {
        self.day.ask(tracker);
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

    /// Returns why no far end was found so far, if there is one with another key or none.
    pub(super) fn refusal(&self, now: u64) -> Option<Refusal> {
        let (since, why) = self.foreign.filter(|_| self.greeting.is_none() && self.candidate.is_none())?;
        (now.saturating_sub(since) > FOREIGN_FOR).then_some(why)
    }

    /// How many of its frames have not come, of those that must have by now.
    pub(super) fn lost(&mut self, now: u64) -> u64 {
        self.settle(now);
        self.joining.expire(now, &mut self.numbers);
        self.numbers.lost(self.settled)
    }

    /// Returns what is known of the clocks of both ends.
    pub(super) fn clocks(&self) -> TunnelClocks {
        let Clocks { bound, asymmetry, jumps, contradict } = self.path.clocks();
        let bound = if self.path.is_common() { 0 } else { bound };
        let before = self.heard_of.jumps;
        TunnelClocks { bound: between(0, bound), asymmetry_ns: asymmetry, jumps: before + jumps, contradict }
    }

    fn settle(&mut self, now: u64) {
        while let Some((_, frames)) = self.told.front().filter(|(at, _)| now.saturating_sub(*at) > SETTLES_WITHIN) {
            self.settled = self.settled.max(*frames);
            self.told.pop_front();
        }
    }

    /// Bytes of a datagram beside the frame.
    fn overhead(&self) -> usize {
        HEADER + if self.seals.is_some() { SEAL } else { 0 }
    }

    /// The token that datagrams for this end bear.
    pub(super) fn own_token(&self) -> u64 {
        self.own.session
    }

    /// The token that datagrams for it bear.
    pub(super) fn token(&self) -> u64 {
        self.greeting.map_or(0, |greeting| greeting.session)
    }

    /// When there is something to say next.
    pub(super) fn next(&self) -> u64 {
        self.next_question.min(self.missing.asks_at()).min(self.says_at)
    }

    /// Greets it, and asks it for the time and for what has not come, as far as that is due.
    pub(super) fn speak(&mut self, now: u64) {
        if now >= self.missing.asks_at() {
            self.ask_again(now);
        }
        if now < self.next_question.min(self.says_at) {
            return;
        }
        self.says_at = u64::MAX;
        let is_alone = self.greeting.is_none() || !self.knows_us || self.is_silent(now) || self.has_left;
        if is_alone && now >= self.greeted + GREETED_EVERY {
            let token = self.candidate.unwrap_or_else(|| self.token());
            self.greet(now, token);
        }
        self.joining.expire(now, &mut self.numbers);
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

    /// Greets once as long as the longest datagram, to see that the path carries it, and once short, to be heard at all.
    fn greet(&mut self, now: u64, token: u64) {
        self.greeted = now;
        self.socket.is_narrower = false;
        self.room.ask(&self.socket);
        let longest = self.longest();
        let greeting = Greeting { longest: u32::try_from(longest).expect("a datagram"), ..self.own };
        for len in [longest, self.shortest()] {
            self.say(&Message::Hello { greeting, len, knows: self.knows_us }, token);
            // Apart, so that the refusal of the one is not that of the other.
            self.socket.flush();
        }
    }

    /// The longest datagram.
    pub(super) fn longest(&self) -> usize {
        (self.overhead() + self.longest_packet()).min(self.room.datagram())
    }

    /// The shortest greeting.
    fn shortest(&self) -> usize {
        HEADER + GREETING + if self.seals.is_some() { MAC } else { 0 }
    }

    /// The length of the longest packet, with its Ethernet header.
    pub(super) fn longest_packet(&self) -> usize {
        usize::try_from(self.settings.mtu + FRAME_HEADER).expect("an MTU is small")
    }

    /// The lengths of frames.
    pub(super) fn lengths(&self) -> Lengths {
        let shortest = VIRTIO_HEADER_LEN + SHORTEST;
        Lengths { packet: SHORTEST..=self.longest_packet(), train: shortest..=VIRTIO_HEADER_LEN + LARGE_FRAME }
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
        let seals = self.seals.as_mut();
        self.socket.push(|out| match seals {
            Some(seals) => seals.write(message, token, out),
            None => message.write(token, out),
        });
    }

    /// Takes a datagram that came at `came`.
    ///
    /// # Errors
    /// Why the far end cannot be joined.
    pub(super) fn take<'a>(&'a mut self, datagram: &'a mut [u8], came: u64) -> Result<Option<Come<'a>>, Refusal> {
        let opened = match &mut self.seals {
            Some(seals) => seals.open(datagram, self.own.session),
            None => Ok(&*datagram),
        };
        let bytes = match opened {
            Ok(bytes) => bytes,
            Err(why) => {
                self.unopened(why, came);
                return Ok(None);
            }
        };
        let (message, borne) = match Message::parse(bytes, self.own.session) {
            Ok(parsed) => parsed,
            Err(Stray::Version(other)) => return Err(Refusal::Version { own: VERSION, other }),
            Err(_) => {
                self.heard_of.strays += 1;
                return Ok(None);
            }
        };
        if let Message::Hello { greeting, len, knows } = message {
            return self.hear_greeting(greeting, (borne, len, knows), came).map(|()| None);
        }
        self.hear(came);
        Ok(match message {
            Message::Frame { number, due, sent, bytes: frame } => self.frame(number, due, sent, frame, came),
            Message::Piece { number, due, sent, piece } => self.piece(number, due, sent, piece, came),
            Message::Probe { number, sent, frames } => {
                self.is_ready |= number & 1 == 1;
                self.told_of(frames, came);
                if self.takes_frames {
                    self.missing.sent(frames, came);
                }
                let token = self.token();
                let (day, now) = (self.day.read(), self.socket.now());
                self.say(&Message::Echo { number, asked: sent, came, sent: now, day }, token);
                self.socket.flush();
                None
            }
            Message::Echo { asked, came: there, sent, day, .. } => {
                let common = day.zip(self.day.read()).and_then(|(far, own)| Common::of(own, far));
                self.path.learn(Sample { asked, came: there, answered: sent, back: came }, common);
                self.heard_of.took.record(between(0, self.path.took(sent, came)), 1);
                None
            }
            Message::Bye { frames } => {
                self.told_of(frames, came);
                self.has_left = true;
                None
            }
            Message::Again { first, bits } => {
                self.send_again(first, bits);
                None
            }
            Message::Hello { .. } => None,
        })
    }

    /// Counts what was not made with the key. Who greets so is greeted, to find out as well.
    fn unopened(&mut self, why: Unopened, came: u64) {
        let refusal = match why {
            Unopened::Stray => {
                self.heard_of.strays += 1;
                return;
            }
            Unopened::Replayed => {
                self.heard_of.replayed += 1;
                return;
            }
            Unopened::Forged => Refusal::OtherKey,
            Unopened::Plain => Refusal::KeyHere,
        };
        self.heard_of.forged += 1;
        if self.greeting.is_none() {
            let since = self.foreign.map_or(came, |(since, _)| since);
            self.foreign = Some((since, refusal));
            if came > self.greeted + ANSWERED_EVERY {
                self.greet(came, 0);
            }
        }
    }

    /// Takes a greeting, and answers it if its sender needs that: whatever is wrong with it, as then it can report that, too.
    fn hear_greeting(
        &mut self,
        greeting: Greeting,
        (borne, len, knows): (u64, usize, bool),
        came: u64,
    ) -> Result<(), Refusal> {
        // One of earlier may be repeated by anybody. Where there is a key, who bears this end's token is there now.
        let is_fresh = self.seals.is_none() || borne == self.own.session;
        let welcome = if is_fresh {
            self.welcome(greeting, borne, len, came)
        } else {
            self.candidate = Some(greeting.session);
            Ok(())
        };
        if welcome.is_ok() && borne == self.own.session && self.token() == greeting.session {
            let longest = self.longest();
            if knows {
                self.room.fits();
            } else {
                self.room.is_short(came, longest);
            }
        }
        if (!knows || welcome.is_err()) && came > self.greeted + ANSWERED_EVERY {
            let token = if self.seals.is_some() { greeting.session } else { self.token() };
            self.greet(came, token);
        }
        welcome
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
            if self.seals.as_mut().is_some_and(|seals| !seals.begin(&greeting)) {
                self.heard_of.replayed += 1;
                return Ok(());
            }
            self.begin_anew(greeting);
        }
        if fits.is_ok() {
            // With a key, a greeting of a far end that is known may be one of earlier.
            if self.seals.is_none() || !self.knows_us {
                self.hear(came);
            }
            // What comes in full length shows that the path carries the longest datagrams from there.
            self.knows_us |=
                borne == self.own.session && len >= usize::try_from(greeting.longest).unwrap_or(usize::MAX);
        }
        fits
    }

    fn check(&self, greeting: &Greeting) -> Result<(), Refusal> {
        let Greeting { vni, mtu, mode, .. } = *greeting;
        if vni != self.own.vni {
            return Err(Refusal::Vni { own: self.own.vni, other: vni });
        }
        if mode != self.own.mode {
            return Err(if mode == PLAIN { Refusal::KeyHere } else { Refusal::KeyThere });
        }
        if mtu != self.own.mtu { Err(Refusal::Mtu { own: self.own.mtu, other: mtu }) } else { Ok(()) }
    }

    /// Another life of the far end: what was counted of the one before stays counted.
    fn begin_anew(&mut self, greeting: Greeting) {
        self.joining.clear(&mut self.numbers);
        self.missing.begin_anew();
        self.kept.clear();
        self.room.fits();
        (self.candidate, self.foreign) = (None, None);
        if self.greeting.is_some() {
            self.settled = self.told.back().map_or(self.settled, |(_, frames)| self.settled.max(*frames));
            let before = [self.numbers.come(), self.numbers.lost(self.settled), self.numbers.repeated()];
            self.heard_of.before.iter_mut().zip(before).for_each(|(all, own)| *all = all.saturating_add(own));
            self.heard_of.gaps += u64::from(self.is_ready);
        }
        self.heard_of.jumps += self.path.clocks().jumps;
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
