/// How large an image may become. What makes a small archive grow without end ends here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Entries of all layers together.
    pub entries: u64,
    /// Bytes of all files together, and of a layer when it is unpacked.
    pub bytes: u64,
    /// Bytes of the names of all folders together, which are kept in memory while an image is unpacked.
    pub folder_names: u64,
    /// Bytes that stay free on the file system.
    pub reserve: u64,
    /// Bytes of all files of a folder that is copied as an image. Whoever hands it on has it in memory.
    pub folder: u64,
}

impl Default for Limits {
    /// Ten times what the largest images in common use have, which are those with toolkits for machine learning.
    fn default() -> Self {
        Self {
            entries: 4_000_000,
            bytes: 256_000_000_000,
            folder_names: 256_000_000,
            reserve: 256_000_000,
            folder: 8_000_000_000,
        }
    }
}

/// Bytes of a manifest, an index or a configuration; those of real images have some ten thousand.
pub const LONGEST_DOCUMENT: u64 = 8_000_000;

/// Layers of an image. Docker makes at most 127.
pub(crate) const MOST_LAYERS: usize = 1_000;

/// Bytes of the headers that an entry of a layer has beside its first.
pub(crate) const LONGEST_HEADER: u64 = 1 << 20;

/// Bytes of a path (PATH_MAX of Linux).
pub(crate) const LONGEST_PATH: usize = 4096;

/// Folders inside one another.
pub(crate) const DEEPEST: usize = 200;
