//! The other parts while the lab is played: what they tell is read by a thread for each, and another one says that this part is alive.

use crate::part::Met;
use crate::seal::Sends;
use netloom_guest::backend::Ringer;
use netloom_guest::schedule::{Parted, Told, Wire};
use netloom_packet::Pool;
use std::collections::VecDeque;
use std::io;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How often a part says that it is alive.
const ALIVE_EVERY: Duration = Duration::from_millis(300);
/// A part that says nothing for so long, or takes nothing, is lost.
const SILENCE: Duration = Duration::from_millis(1500);
/// The bytes that are told at most before they are sent.
const MOST_UNTOLD: usize = 1 << 20;

/// The first byte of a record, which says that the part is alive; what it tells; or that it has ended, and why if it failed.
const ALIVE: u8 = 0;
const TOLD: u8 = 1;
const ENDED: u8 = 2;

/// The direction to another part.
struct Peer {
    stream: UnixStream,
    sends: Sends,
}

/// The news that a thread has read of a part.
enum Read {
    Told(Vec<u8>),
    Ended,
    Lost(String),
}

/// The connections to all other parts, which carry what schedulers tell.
pub struct Peers {
    peers: Vec<(usize, Arc<Mutex<Peer>>)>,
    names: Vec<String>,
    come: Receiver<(usize, Read)>,
    /// The parts that have come to their end.
    ended: Vec<usize>,
    /// Records of which something is left, with where that begins.
    unread: VecDeque<(usize, Vec<u8>, usize)>,
    untold: Vec<u8>,
    /// The sender that is dropped when the part ends, which ends the thread that says that it is alive.
    alive: Option<Sender<()>>,
    /// The reason why the run cannot go on, for the other parts.
    failed: Option<String>,
    unstarted: Vec<Met>,
    reads: Sender<(usize, Read)>,
}

impl Peers {
    pub(crate) fn new(met: Vec<Met>, names: &[String]) -> Self {
        let (reads, come) = channel();
        Self {
            peers: Vec::new(),
            names: names.to_vec(),
            come,
            ended: Vec::new(),
            unread: VecDeque::new(),
            untold: vec![TOLD],
            alive: None,
            failed: None,
            unstarted: met,
            reads,
        }
    }

    /// Starts the threads, which ring when something has come: in the process that plays the part.
    ///
    /// # Errors
    /// If this machine has no more threads or descriptors.
    pub fn start(&mut self, ringer: &Ringer) -> io::Result<()> {
        for Met { part, stream, sealed } in std::mem::take(&mut self.unstarted) {
            stream.set_read_timeout(Some(SILENCE))?;
            stream.set_write_timeout(Some(SILENCE))?;
            let (mut reader, mut takes) = (stream.try_clone()?, sealed.takes);
            let (reads, ringer) = (self.reads.clone(), ringer.clone());
            let read = move || {
                loop {
                    let read = takes.read(&mut reader).map_or_else(|error| Read::Lost(lost(&error)), told);
                    let Some(read) = read.into_news() else { continue };
                    let is_last = !matches!(read, Read::Told(_));
                    // Without a receiver, the part has ended.
                    let is_wanted = reads.send((part, read)).is_ok();
                    ringer.ring();
                    if is_last || !is_wanted {
                        return;
                    }
                }
            };
            thread::Builder::new().name(format!("part-{part}")).spawn(read)?;
            self.peers.push((part, Arc::new(Mutex::new(Peer { stream, sends: sealed.sends }))));
        }
        let (alive, ended) = channel::<()>();
        let peers: Vec<_> = self.peers.iter().map(|(_, peer)| Arc::clone(peer)).collect();
        let say = move || {
            while ended.recv_timeout(ALIVE_EVERY) == Err(RecvTimeoutError::Timeout) {
                // That a part takes nothing any more is found out by whoever has something to tell.
                peers.iter().for_each(|peer| drop(send(peer, &[ALIVE])));
            }
        };
        thread::Builder::new().name("alive".into()).spawn(say)?;
        self.alive = Some(alive);
        Ok(())
    }

    fn parted(&mut self, part: usize, why: &str) -> Parted {
        let what = format!("part `{}` of the lab is lost: {why}", self.names[part]);
        self.failed = Some(what.clone());
        Parted { part, what }
    }
}

/// Says why nothing comes from a part.
fn lost(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => "its process has ended".into(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
            format!("it has said nothing for {} s", SILENCE.as_secs_f64())
        }
        io::ErrorKind::InvalidData => "what comes from it was changed on its way".into(),
        _ => error.to_string(),
    }
}

fn told(record: Vec<u8>) -> Read {
    match record.first() {
        Some(&ENDED) if record.len() > 1 => Read::Lost(String::from_utf8_lossy(&record[1..]).into_owned()),
        Some(&ENDED) => Read::Ended,
        _ => Read::Told(record),
    }
}

impl Read {
    /// Returns it, if the scheduler has to know of it.
    fn into_news(self) -> Option<Self> {
        match &self {
            Self::Told(record) if record.first() != Some(&TOLD) => None,
            _ => Some(self),
        }
    }
}

fn send(peer: &Mutex<Peer>, record: &[u8]) -> io::Result<()> {
    let Peer { stream, sends } = &mut *peer.lock().unwrap_or_else(PoisonError::into_inner);
    sends.write(stream, record)
}

impl Wire for Peers {
    fn tell(&mut self, told: &Told) -> Result<(), Parted> {
        let begin = self.untold.len();
        self.untold.extend_from_slice(&[0; 4]);
        told.encode(&mut self.untold);
        let len = u32::try_from(self.untold.len() - begin - 4).expect("a message has less than 4 GB");
        self.untold[begin..begin + 4].copy_from_slice(&len.to_le_bytes());
        if self.untold.len() >= MOST_UNTOLD { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), Parted> {
        if self.untold.len() <= 1 {
            return Ok(());
        }
        let failed = self.peers.iter().find_map(|(part, peer)| Some((*part, send(peer, &self.untold).err()?)));
        self.untold.truncate(1);
        // Of who has gone, the reader knows more: whether it had come to its end.
        match failed.filter(|(_, error)| error.kind() != io::ErrorKind::BrokenPipe) {
            Some((part, error)) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                Err(self.parted(part, &format!("it has taken nothing for {} s", SILENCE.as_secs_f64())))
            }
            Some((part, error)) if error.kind() != io::ErrorKind::ConnectionReset => {
                Err(self.parted(part, &error.to_string()))
            }
            _ => Ok(()),
        }
    }

    fn hear(&mut self, pool: &mut Pool) -> Result<Option<Told>, Parted> {
        while let Ok((part, read)) = self.come.try_recv() {
            match read {
                Read::Told(record) => self.unread.push_back((part, record, 1)),
                Read::Ended => self.ended.push(part),
                Read::Lost(why) => return Err(self.parted(part, &why)),
            }
        }
        let Some((part, record, begin)) = self.unread.front_mut() else { return Ok(None) };
        let (part, len) =
            (*part, record.get(*begin..*begin + 4).map(|len| u32::from_le_bytes([len[0], len[1], len[2], len[3]])));
        let end = len.map_or(usize::MAX, |len| *begin + 4 + len as usize);
        let told = record.get(*begin + 4..end).and_then(|message| Told::decode(message, pool));
        *begin = end;
        if record.len() <= end {
            self.unread.pop_front();
        }
        told.map(Some).ok_or_else(|| self.parted(part, "it says what this version of Netloom does not understand"))
    }

    fn ended(&mut self, part: usize) -> Option<Parted> {
        let has_ended = self.ended.contains(&part) && self.unread.iter().all(|(from, ..)| *from != part);
        has_ended.then(|| {
            let what = format!("part `{}` of the lab has come to its end, and this part has not", self.names[part]);
            self.failed = Some(what.clone());
            Parted { part, what }
        })
    }

    fn fail(&mut self, why: &str) {
        self.failed.get_or_insert_with(|| why.to_owned());
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        self.alive = None;
        let why = self.failed.as_deref().unwrap_or_default();
        let record = [&[ENDED][..], why.as_bytes()].concat();
        // Who has gone needs to know nothing.
        self.peers.iter().for_each(|(_, peer)| drop(send(peer, &record)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seal::{SALT, Sealed};
    use netloom_guest::backend::Doorbell;
    use netloom_guest::schedule::{NextWake, Reported};
    use netloom_units::Instant;
    use std::time;

    /// Two parts that have met.
    fn pair(doorbell: &Doorbell) -> [Peers; 2] {
        let (one, other) = UnixStream::pair().expect("there are descriptors");
        let names = ["a", "b"].map(str::to_owned);
        let ends = [(1, one, [1; SALT], [2; SALT]), (0, other, [2; SALT], [1; SALT])];
        ends.map(|(part, stream, here, there)| {
            let met = Met { part, stream, sealed: Sealed::new(&[7; 32], &here, &there) };
            let mut peers = Peers::new(vec![met], &names);
            peers.start(&doorbell.ringer()).expect("there are threads");
            peers
        })
    }

    /// Returns what `look` does, once that is something.
    fn wait<T>(mut look: impl FnMut() -> Option<T>) -> T {
        let end = time::Instant::now() + Duration::from_secs(10);
        loop {
            if let Some(come) = look() {
                return come;
            }
            assert!(time::Instant::now() < end, "nothing comes");
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_part_has_ended_when_all_was_heard_that_it_told() {
        let (doorbell, mut pool) = (Doorbell::new().unwrap(), Pool::default());
        let [mut here, mut there] = pair(&doorbell);
        let until = Instant::from_nanos(5);
        let told = Reported {
            machine: 3,
            until,
            next_wake: NextWake::Never,
            stopped: None,
            unheard: 0,
            sent: Vec::new(),
            inner: Arc::default(),
        };
        there.tell(&Told::Reported(told)).unwrap();
        there.flush().unwrap();
        assert_eq!(here.ended(1), None);
        drop(there);
        let heard = wait(|| here.hear(&mut pool).unwrap());
        assert!(matches!(heard, Told::Reported(Reported { machine: 3, .. })), "{heard:?}");
        let ended = wait(|| {
            assert!(here.hear(&mut pool).unwrap().is_none());
            here.ended(1)
        });
        assert!(ended.part == 1 && ended.what.contains("part `b` of the lab has come to its end"), "{ended}");
    }

    #[test]
    fn a_part_that_fails_says_why() {
        let (doorbell, mut pool) = (Doorbell::new().unwrap(), Pool::default());
        let [mut here, mut there] = pair(&doorbell);
        there.fail("its disk is full");
        drop(there);
        let lost = wait(|| here.hear(&mut pool).err());
        assert!(lost.part == 1 && lost.what.ends_with("part `b` of the lab is lost: its disk is full"), "{lost}");
        assert_eq!(here.ended(1), None);
    }
}
