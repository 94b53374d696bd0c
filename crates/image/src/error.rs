use std::fmt;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Why an image cannot be had.
#[derive(Debug)]
pub enum ImageError {
    /// The system refused something.
    Io {
        /// What was attempted, on which object.
        attempted: String,
        /// Its answer.
        error: io::Error,
    },
    /// A file is not what its digest, its size or its format says.
    Damaged {
        /// Which file or part.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// What is in a layer would leave its folder, or goes beyond a bound.
    Refused {
        /// The entry of the layer.
        entry: String,
        /// Why.
        why: String,
    },
    /// It is in a form that this program does not read, or for another machine.
    Unsuitable(String),
    /// There is no such image, tag or file; the text says what there is.
    Missing(String),
    /// An image is not removed as long as a lab uses it.
    InUse(String),
    /// A folder changed while it was copied.
    Changed(PathBuf),
    /// The file system is full.
    NoRoom {
        /// Where.
        folder: PathBuf,
        /// How many bytes were wanted.
        wanted: u64,
    },
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { attempted, error } => write!(f, "{attempted}: {error}"),
            Self::Damaged { what, why } => write!(f, "{what} is damaged: {why}"),
            Self::Refused { entry, why } => write!(f, "`{entry}` of the image is refused: {why}"),
            Self::Unsuitable(text) | Self::Missing(text) | Self::InUse(text) => f.write_str(text),
            Self::Changed(folder) => {
                write!(f, "{} changed while it was copied: try again when nobody writes to it", folder.display())
            }
            Self::NoRoom { folder, wanted } => write!(
                f,
                "no room in {} for {wanted} more bytes of the image: free some, `netloom image remove` others, or set XDG_CACHE_HOME",
                folder.display()
            ),
        }
    }
}

impl std::error::Error for ImageError {}

impl ImageError {
    pub(crate) fn damaged(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self::Damaged { what: what.into(), why: why.into() }
    }

    /// About an entry of a layer, whose name may have any bytes.
    pub(crate) fn refused(entry: &[u8], why: impl Into<String>) -> Self {
        Self::Refused { entry: printable(entry), why: why.into() }
    }
}

/// Opens a file that a user names, or that is in a user's folder.
pub(crate) fn open_file(path: &Path) -> Result<File, ImageError> {
    netloom_regular::open(path).map_err(|error| match netloom_regular::is_refused(&error) {
        true => ImageError::Unsuitable(format!("{} is no file", path.display())),
        false => ImageError::Io { attempted: format!("open {}", path.display()), error },
    })
}

/// A name of a layer in words: cut if it is long, and without control characters.
pub(crate) fn printable(name: &[u8]) -> String {
    const LONGEST: usize = 200;
    let text = String::from_utf8_lossy(&name[..name.len().min(LONGEST)]);
    let mut shown: String = text.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    if name.len() > LONGEST {
        shown.push('…');
    }
    shown
}

/// Says at the place of a system call what it was for.
pub(crate) trait Attempted<T> {
    /// Turns an error of the system into an [`ImageError`].
    fn attempted<S: Into<String>>(self, what: impl FnOnce() -> S) -> Result<T, ImageError>;

    /// The same for a file or folder.
    fn at(self, verb: &str, path: &Path) -> Result<T, ImageError>
    where
        Self: Sized,
    {
        self.attempted(|| format!("{verb} {}", path.display()))
    }
}

impl<T, E: Into<io::Error>> Attempted<T> for Result<T, E> {
    fn attempted<S: Into<String>>(self, what: impl FnOnce() -> S) -> Result<T, ImageError> {
        self.map_err(|error| ImageError::Io { attempted: what().into(), error: error.into() })
    }
}
