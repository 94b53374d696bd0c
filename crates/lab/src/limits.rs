//! How large a lab file may be. What is too large is refused before anything is made of it, so that reading it costs little.

/// Each link has two ports, and a lab's ports are numbered in 16 bits: more links wait for labs on several machines.
pub(crate) const MOST_LINKS: usize = 32_768;

/// Each node has an init process of its own, and Linux has 32,768 process numbers unless it is told otherwise.
pub(crate) const MOST_NODES: usize = 30_000;

/// The limits of a lab file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most nodes of the lab, with those that are generated.
    pub nodes: usize,
    /// The most links of the lab, with those that are generated.
    pub links: usize,
    /// The most values in the file's text, with what aliases copy; of those that its parameters take; and of what is generated.
    pub values: usize,
    /// The most bytes of texts that aliases copy, and of what is generated.
    pub bytes: usize,
}

impl Limits {
    /// The limits of what the program can handle at all. A lab of 10,000 links has a tenth of these values.
    pub const LARGEST: Self = Self { nodes: MOST_NODES, links: MOST_LINKS, values: 1_000_000, bytes: 256 << 20 };

    /// The limits for one user of a program that serves others, too: such a file is read within seconds, in tens of megabytes.
    pub const SERVED: Self = Self { nodes: 10_000, links: 10_000, values: 200_000, bytes: 32 << 20 };

    /// Whether these are more values than may be.
    pub(crate) fn against_values(&self, values: usize) -> Option<String> {
        (values > self.values).then(|| format!("a file has at most {} values together", self.values))
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::LARGEST
    }
}
