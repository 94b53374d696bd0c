use super::*;
use netloom_fuzz::{fuzz, mutated};
use netloom_host::KernelError;
use netloom_host::guest::frames::LONGEST_FROM_GUEST;
use netloom_host::guest::message::Stream;
use netloom_host::node::{ProcessId, Reply};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};

/// An agent that says what it likes.
struct Said {
    frames: VecDeque<Vec<u8>>,
    fd: OwnedFd,
}

impl Channel for Said {
    fn send(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        Ok(self.frames.pop_front())
    }

    fn wait(&mut self, _: BorrowedFd<'_>, _: Duration) -> io::Result<()> {
        Ok(())
    }

    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn agent_messages(frames: impl IntoIterator<Item = Vec<u8>>) -> AgentMessages {
    let fd = std::fs::File::open("/dev/null").unwrap().into();
    AgentMessages::new(Box::new(Said { frames: frames.into_iter().collect(), fd }))
}

fn frames(messages: &[FromGuest]) -> Vec<Vec<u8>> {
    let mut fragmenter = Fragmenter::new(LONGEST_FROM_GUEST);
    messages.iter().flat_map(|message| fragmenter.cut(&message.encode()).collect::<Vec<_>>()).collect()
}

#[test]
fn there_is_one_answer_to_each_request() {
    let mut agent_messages =
        agent_messages(frames(&[FromGuest::Reply(Reply::Done), FromGuest::Reply(Reply::Yes(true))]));
    agent_messages.ask(Request::Configure).unwrap();
    assert_eq!(agent_messages.receive().unwrap(), Some(FromGuest::Reply(Reply::Done)));
    let error = agent_messages.receive().unwrap_err();
    assert!(error.to_string().contains("without a request"), "{error}");
}

/// What agents say, as it is on its way.
fn said() -> Vec<String> {
    let process = ProcessId::default();
    let messages = [
        FromGuest::Up,
        FromGuest::Reply(Reply::Prepared { notes: vec!["no IPv6".to_owned()] }),
        FromGuest::Reply(Reply::Started { process, session: 43 }),
        FromGuest::Reply(Reply::Yes(true)),
        FromGuest::Reply(Reply::Refused(KernelError::new("make a route", 17))),
        FromGuest::OutputEnds { process, stream: Stream::Error },
        FromGuest::InputTaken { process, bytes: 65_536 },
        FromGuest::InputUnwanted { process },
        FromGuest::Exited { process, status: 256, cpu_ns: 1_000_000 },
    ];
    messages.iter().map(|message| String::from_utf8(message.encode()[1..].to_vec()).expect("JSON")).collect()
}

/// A message that is nearly right: JSON alone, or with bytes of a stream and a length that may be wrong.
fn messages() -> impl Strategy<Value = Vec<u8>> {
    let output = r#"{"Output":{"process":1,"stream":"Output"}}"#;
    let plain = mutated(said()).prop_map(|json| [&[0], json.as_bytes()].concat());
    let streams = (mutated(vec![output.to_owned()]), any::<i8>(), 0..300_usize);
    let with_bytes = streams.prop_map(|(json, wrong, tail)| {
        let len = u16::try_from(json.len()).unwrap_or(u16::MAX);
        let len = if wrong < 64 { len } else { len.wrapping_add_signed(wrong.into()) };
        [&[1], &len.to_le_bytes()[..], json.as_bytes(), &vec![7; tail]].concat()
    });
    let nonsense = prop::collection::vec(any::<u8>(), 1..200);
    prop_oneof![4 => plain, 2 => with_bytes, 1 => nonsense]
}

/// Whatever comes in frames that keep to their format, and whatever comes otherwise: a message or an error, and an end.
#[test]
fn fuzz_messages_of_agents() {
    let strangers = prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 0..4);
    let flip = (any::<prop::sample::Index>(), 0..40_usize, any::<u8>());
    let inputs = (prop::collection::vec(messages(), 0..8), strangers, prop::collection::vec(flip, 0..3));
    fuzz("messages-of-agents", 500, &inputs, |(messages, others, flips)| {
        let mut fragmenter = Fragmenter::new(LONGEST_TO_GUEST);
        let cut = messages.iter().flat_map(|message| fragmenter.cut(message).collect::<Vec<_>>());
        let mut all: Vec<Vec<u8>> = cut.chain(others).collect();
        for (frame, byte, value) in flips {
            let frame = frame.index(all.len().max(1));
            if let Some(byte) = all.get_mut(frame).and_then(|frame| frame.get_mut(byte)) {
                *byte = value;
            }
        }
        let most = all.len();
        let mut agent_messages = agent_messages(all);
        agent_messages.ask(Request::Configure).expect("a channel that takes all");
        let told = (0..=most).take_while(|_| agent_messages.receive().is_ok_and(|message| message.is_some())).count();
        // Each message takes a frame at least.
        assert!(told <= most);
    });
}
