//! A TCP transfer by programs that write and read in blocks, and make few other system calls: what it takes is the network's.

/// Bytes of a block.
pub(super) const BYTES: u32 = 131_072;

const PERL: &str = "perl -MIO::Socket::INET -e";

/// A command that takes one transfer, answers when it is over, and stays.
pub(super) fn receive() -> String {
    format!(
        "{PERL} '$l = IO::Socket::INET->new(LocalPort => 5201, Listen => 1, ReuseAddr => 1); $s = $l->accept; \
         1 while sysread $s, $b, 1 << 20; print $s 1; sleep'"
    )
}

/// A command that sends so many blocks to a node and waits for the answer.
pub(super) fn send(to: &str, blocks: u32) -> String {
    format!(
        "{PERL} '$s = IO::Socket::INET->new(PeerAddr => \"{to}\", PeerPort => 5201) or die $!; $b = \"x\" x {BYTES}; \
         syswrite $s, $b for 1 .. {blocks}; shutdown $s, 1; read $s, $b, 1'"
    )
}
