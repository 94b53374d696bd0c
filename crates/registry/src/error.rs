use netloom_image::ImageError;
use std::fmt;

/// Why an image cannot be fetched. All texts are whole: what was attempted on which object, what happened, what to do.
#[derive(Debug)]
pub enum RegistryError {
    /// What names the image is not written as such names are.
    Reference(String),
    /// The registry has no such image.
    Missing(String),
    /// The registry wants other credentials, or any.
    Unauthorized(String),
    /// The user's credentials cannot be read.
    Credentials(String),
    /// The registry cannot be reached, not trusted, or fell silent.
    Network(String),
    /// The registry answers otherwise than its protocol says, or refuses.
    Answer(String),
    /// What came is no image for this machine, is damaged, or cannot be kept.
    Image(ImageError),
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image(error) => error.fmt(f),
            Self::Reference(text)
            | Self::Missing(text)
            | Self::Unauthorized(text)
            | Self::Credentials(text)
            | Self::Network(text)
            | Self::Answer(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for RegistryError {}

impl From<ImageError> for RegistryError {
    fn from(error: ImageError) -> Self {
        Self::Image(error)
    }
}
