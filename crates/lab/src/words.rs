//! Words that stand for the values of a type in lab files.

/// Declares the words that stand for the values of a type: of one that is there already, or of an enum of its own, which is displayed by
/// them. Values in a second group have a name that no lab file has.
macro_rules! words {
    ($type:ty { $($word:literal = $value:expr),+ $(,)? }) => {
        impl $crate::words::Words for $type {
            const NAMES: &'static [&'static str] = &[$($word),+];
            const WORDS: &'static [(&'static str, Self)] = &[$(($word, $value)),+];
        }
    };
    ($(#[$meta:meta])* $vis:vis enum $Type:ident {
        $($(#[$about:meta])* $Value:ident = $word:literal,)+
    } $({ $($(#[$more:meta])* $Other:ident = $name:literal,)+ })?) => {
        $(#[$meta])*
        $vis enum $Type {
            $($(#[$about])* $Value,)+
            $($($(#[$more])* $Other,)+)?
        }

        impl $Type {
            /// Returns the name in lab files.
            $vis fn name(self) -> &'static str {
                match self {
                    $(Self::$Value => $word,)+
                    $($(Self::$Other => $name,)+)?
                }
            }
        }

        impl std::fmt::Display for $Type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }

        $crate::words::words!($Type { $($word = Self::$Value),+ });
    };
}
pub(crate) use words;

/// A type whose values are words in lab files.
pub(crate) trait Words: Clone + PartialEq + 'static {
    /// All words.
    const NAMES: &'static [&'static str];
    /// Each word with what it stands for.
    const WORDS: &'static [(&'static str, Self)];

    /// Returns the value that a word stands for.
    fn named(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| *known == word).map(|(_, value)| value.clone())
    }

    /// Returns the word for the value.
    fn word(&self) -> &'static str {
        Self::WORDS.iter().find(|(_, value)| value == self).map_or("", |(word, _)| word)
    }
}
