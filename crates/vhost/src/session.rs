//! A connected guest: its messages, and the answers to them.

use crate::channel::Channel;
use crate::config;
use crate::error::PortError;
use crate::features::{Features, PROTOCOL_CONFIG, PROTOCOL_REPLY_ACK, offered, protocol_offered};
use crate::listener::Listener;
use crate::memory::{Memory, RegionSpec};
use crate::message::{Message, reply, reply_config, reply_state};
use crate::notify::{Call, NotifyBy};
use crate::poller::Poller;
use crate::queue::Queue;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// The queue with room for frames to the guest.
pub(crate) const TO_GUEST: usize = 0;
/// The queue with the guest's frames.
pub(crate) const FROM_GUEST: usize = 1;
/// Messages that are answered in one go, so that a guest that floods the port does not delay the others.
const BATCH: usize = 64;

/// See the module.
#[derive(Debug)]
pub(crate) struct Session {
    channel: Channel,
    poller: Arc<Poller>,
    token: u32,
    pub(crate) features: Features,
    acknowledges: bool,
    notify_by: NotifyBy,
    /// Whether the guest is offered to learn whether its link has a carrier.
    has_status: bool,
    /// Whether it wants to be told that the configuration has changed.
    reads_config: bool,
    has_carrier: bool,
    /// Kept open, since the guest would take its end for a failure.
    back_channel: Option<OwnedFd>,
    /// Whether there was ever room for a frame to the guest.
    pub(crate) was_up: bool,
    // Declared before the memory that they point into, and so dropped before it.
    pub(crate) queues: [Queue; 2],
    pub(crate) memory: Memory,
}

/// What a message is answered with.
enum Answer {
    /// Whether it was carried out, if it asks for that.
    Done,
    Number(u64),
    State(u32, u32),
    Config(u32, Vec<u8>),
}

impl Session {
    /// A guest has come to this listener. `has_carrier`: whether its link has one.
    pub(crate) fn new(
        socket: OwnedFd,
        poller: &Arc<Poller>,
        token: u32,
        listener: &Listener,
        has_carrier: bool,
    ) -> std::io::Result<Self> {
        Ok(Self {
            channel: Channel::new(poller.watch_socket(socket, token)?),
            poller: Arc::clone(poller),
            token,
            features: Features::default(),
            acknowledges: false,
            notify_by: listener.notify_by(),
            has_status: listener.has_status(),
            reads_config: false,
            has_carrier,
            back_channel: None,
            was_up: false,
            queues: [Queue::new(TO_GUEST), Queue::new(FROM_GUEST)],
            memory: Memory::default(),
        })
    }

    /// Answers what has come.
    pub(crate) fn service(&mut self) -> Result<(), PortError> {
        for _ in 0..BATCH {
            let Some(received) = self.channel.receive()? else { break };
            let (header, files) = (received.header, received.files);
            let message = Message::parse(header.request, received.payload).map_err(PortError::Message)?;
            let answer = self.obey(message, files);
            // After the message: User-Mode Linux wants the very message that agrees on answers to be answered.
            let acknowledge = header.needs_reply && self.acknowledges;
            match answer {
                Ok(Answer::Number(number)) => self.channel.reply(&reply(header.request, number))?,
                Ok(Answer::State(queue, number)) => self.channel.reply(&reply_state(header.request, queue, number))?,
                Ok(Answer::Config(offset, part)) => self.channel.reply(&reply_config(header.request, offset, &part))?,
                Ok(Answer::Done) if acknowledge => self.channel.reply(&reply(header.request, 0))?,
                Ok(Answer::Done) => {}
                Err(error) => {
                    // The guest gets an answer, so that it can report the error, too, instead of waiting.
                    if acknowledge {
                        self.channel.reply(&reply(header.request, 1))?;
                    }
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    fn obey(&mut self, message: Message, mut files: Vec<OwnedFd>) -> Result<Answer, PortError> {
        match message {
            Message::GetFeatures => return Ok(Answer::Number(offered(self.has_status))),
            Message::GetProtocolFeatures => return Ok(Answer::Number(protocol_offered(self.has_status))),
            Message::SetFeatures(chosen) => self.choose(chosen).map_err(PortError::Message)?,
            Message::SetProtocolFeatures(chosen) if chosen & !protocol_offered(self.has_status) == 0 => {
                self.acknowledges = chosen & PROTOCOL_REPLY_ACK != 0;
                self.reads_config = chosen & PROTOCOL_CONFIG != 0;
            }
            Message::GetConfig { offset, size } if self.reads_config => {
                return config::part(offset, size, self.has_carrier).map(|part| Answer::Config(offset, part));
            }
            Message::GetConfig { .. } => {
                return Err(PortError::Message("it asks for a configuration, which it did not accept to read".into()));
            }
            Message::SetProtocolFeatures(chosen) => {
                return Err(PortError::Message(format!(
                    "it accepts protocol features that were not offered: {chosen:#x}"
                )));
            }
            Message::SetOwner => {}
            Message::ResetOwner => self.queues.iter_mut().for_each(Queue::forget),
            Message::SetMemory(specs) => self.set_memory(specs, files).map_err(PortError::Message)?,
            Message::SetError { .. } => {}
            Message::SetBackChannel => self.back_channel = files.pop(),
            Message::SetSize { queue, size } => self.with(queue, |queue, _| queue.set_size(size))?,
            Message::SetBase { queue, base } => self.with(queue, |queue, _| queue.set_base(base))?,
            Message::SetAddresses { queue, addresses } => {
                self.with(queue, |queue, memory| queue.set_addresses(memory, addresses))?;
            }
            Message::GetBase { queue } => {
                let mut base = 0;
                self.with(queue, |queue, _| {
                    base = queue.stop();
                    Ok(())
                })?;
                return Ok(Answer::State(u32::try_from(queue).expect("checked to be 0 or 1"), u32::from(base)));
            }
            Message::SetKick { queue, file } => self.start(queue, files.pop().filter(|_| file))?,
            Message::SetCall { queue, file } => self.set_call(queue, files.pop().filter(|_| file))?,
            Message::Enable { queue, on } => self.with(queue, |queue, _| {
                queue.enable(on);
                Ok(())
            })?,
            Message::Unknown(request) => {
                return Err(PortError::Message(format!("request {request}, which no feature that was offered allows")));
            }
        }
        Ok(Answer::Done)
    }

    /// The guest's link has a carrier from now on, or none.
    pub(crate) fn set_carrier(&mut self, on: bool) -> Result<(), PortError> {
        let is_news = std::mem::replace(&mut self.has_carrier, on) != on;
        match &self.back_channel {
            Some(back_channel) if is_news && self.reads_config => config::announce(back_channel),
            _ => Ok(()),
        }
    }

    fn choose(&mut self, chosen: u64) -> Result<(), String> {
        self.features = Features::choose(chosen, offered(self.has_status))?;
        if !self.features.protocol() {
            // vhost-user.rst, "Ring states": then queues are enabled from the beginning.
            self.queues.iter_mut().for_each(|queue| queue.enable(true));
        }
        Ok(())
    }

    fn with(
        &mut self,
        queue: usize,
        change: impl FnOnce(&mut Queue, &Memory) -> Result<(), String>,
    ) -> Result<(), PortError> {
        let queue = self.queues.get_mut(queue).ok_or_else(|| no_queue(queue))?;
        change(queue, &self.memory).map_err(PortError::Message)
    }

    fn set_memory(&mut self, specs: Vec<RegionSpec>, files: Vec<OwnedFd>) -> Result<(), String> {
        if specs.len() != files.len() {
            return Err(format!("{} memory regions with {} files", specs.len(), files.len()));
        }
        let memory = Memory::map(specs.into_iter().zip(files).collect())?;
        // Rings that run move to the new mapping before the old one goes.
        self.queues.iter_mut().try_for_each(|queue| queue.remap(&memory))?;
        self.memory = memory;
        Ok(())
    }

    fn start(&mut self, queue: usize, kick: Option<OwnedFd>) -> Result<(), PortError> {
        let kick = kick.ok_or_else(|| PortError::Message("a queue without a kick descriptor, to be polled".into()))?;
        let kick = self.poller.watch_kick(kick, self.token);
        let kick = kick.map_err(PortError::system("watching a kick descriptor"))?;
        self.with(queue, |queue, memory| queue.start(memory, kick))
    }

    fn set_call(&mut self, queue: usize, file: Option<OwnedFd>) -> Result<(), PortError> {
        let call = file.map(|file| Call::new(file, self.notify_by)).transpose()?;
        self.with(queue, |queue, _| {
            queue.call = call;
            // What was published while there was nobody to notify is announced now.
            queue.published = true;
            queue.notify();
            Ok(())
        })
    }
}

fn no_queue(queue: usize) -> PortError {
    PortError::Message(format!("queue {queue}; there are 0 and 1"))
}
