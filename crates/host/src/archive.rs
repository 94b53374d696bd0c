//! Files on their way out of a node: as a tar archive, which a program in the node writes to its standard output.
//!
//! So they leave a namespace and a kernel of its own in the same way, as programs' output does, and the same files give the
//! same bytes: folders are read in the order of their names.

mod glob;
mod pack;
mod unpack;

pub use pack::main;
pub(crate) use unpack::unpack;
pub use unpack::unpack_plainly;
