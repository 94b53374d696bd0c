//! A kernel node, seen from the lab process: boots it, and talks to the agent inside. It does what a namespace node
//! does, in the same words.

mod agent_messages;
mod boot;
mod channel;
mod connections;
mod ending;
mod handle;
mod heartbeat;
mod inspect;
mod machine;
mod processor_use;
mod pump;
mod serve;
mod sink;
mod source;
mod streams;
mod template;
pub mod trial;

pub use boot::{Boot, BootError};
pub use channel::{Channel, SocketChannel};
pub use handle::{KernelNode, Spawning};
pub use heartbeat::{Pulse, Standstill};
pub use machine::{Heard, Machine};
pub use processor_use::ProcessorUse;
pub use pump::{Pump, Rejoiner};
pub use template::{Late, Template};
