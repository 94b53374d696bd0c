//! What sections of keys consist of, which schema, tables of forms and decoders are made of.

use crate::errors::Errors;
use crate::yaml::Node;

/// A group of keys that stand together.
pub(crate) struct Section {
    /// Its name in the schema.
    pub(crate) name: &'static str,
    /// What it describes.
    pub(crate) doc: &'static str,
    /// Its own keys and those that it shares with others, in their order.
    pub(crate) groups: &'static [Group],
}

/// A key of a section, or the keys of another one that are its own, too.
pub(crate) enum Group {
    Key(Key),
    Keys(&'static Section),
}

impl Section {
    /// The word of its key `kind`, which says that a map is of this section; empty if it has none.
    pub(crate) fn kind(&self) -> &'static str {
        let word = |key: &Key| if let Kind::Word([word]) = key.kind { Some(word) } else { None };
        self.keys().find(|key| key.name == "kind").and_then(word).copied().unwrap_or_default()
    }

    /// All its keys.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &'static Key> + use<> {
        let mut keys = Vec::new();
        self.gather(&mut keys);
        keys.into_iter()
    }

    fn gather(&self, keys: &mut Vec<&'static Key>) {
        for group in self.groups {
            match group {
                Group::Key(key) => keys.push(key),
                Group::Keys(others) => others.gather(keys),
            }
        }
    }
}

/// A key.
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// A value as the lab file would have it.
    pub(crate) example: &'static str,
    /// The purpose of the key, with unit, range and default.
    pub(crate) doc: &'static str,
    pub(crate) required: bool,
}

/// What a key accepts.
pub(crate) enum Kind {
    /// A text that matches a regular expression.
    Text(&'static str),
    /// Any value.
    Any,
    /// Any text, number or truth value, taken as text.
    Scalar,
    /// A whole number.
    Integer { least: u64, most: u64 },
    /// A number above zero.
    Positive,
    /// A number of either sign.
    Coordinate,
    /// A number, with or without decimals.
    Number { least: u64, most: u64 },
    /// `true` or `false`.
    Flag,
    /// `true` and nothing else.
    True,
    /// One of these words.
    Word(&'static [&'static str]),
    /// The name of something in the lab.
    Name(Named),
    /// A number with a unit.
    Quantity(Quantity),
    /// The bare number zero: zero is zero in every unit.
    Zero,
    /// A group of keys.
    Section(&'static Section),
    /// The same, or nothing at all.
    Optional(&'static Section),
    /// Names, each with a value.
    Map { names: &'static str, values: &'static Kind },
    /// A list of so many items.
    List { items: &'static Kind, least: u64, most: Option<u64> },
    /// One of these.
    OneOf(&'static [Kind]),
    /// One of these groups of keys.
    Sections(&'static [&'static Section]),
}

impl Kind {
    /// A list of these without a greatest length.
    pub(crate) const fn list(items: &'static Self, least: u64) -> Self {
        Self::List { items, least, most: None }
    }

    /// The first and the last of something.
    pub(crate) const fn pair(items: &'static Self) -> Self {
        Self::List { items, least: 2, most: Some(2) }
    }
}

/// What a name can be of.
#[derive(Clone, Copy)]
pub(crate) enum Named {
    Node,
    Link,
    Command,
    /// A link, or one direction of it.
    Pipe,
}

impl Named {
    /// Returns what is named, as the schema says it, and a regular expression that its names match.
    const fn about(self) -> (&'static str, &'static str) {
        match self {
            Self::Node => ("node", "^[a-zA-Z][a-zA-Z0-9-]{0,30}$"),
            Self::Link => ("link", "^[a-zA-Z][a-zA-Z0-9_-]{0,30}$"),
            Self::Command => ("command", "^[a-zA-Z][a-zA-Z0-9_-]{0,62}$"),
            Self::Pipe => ("pipe", "^[a-zA-Z][a-zA-Z0-9_-]{0,30}(\\.(forward|backward))?$"),
        }
    }

    /// Returns what is named, as the schema says it.
    pub(crate) fn word(self) -> &'static str {
        self.about().0
    }

    /// A regular expression that its names match.
    pub(crate) const fn pattern(self) -> &'static str {
        self.about().1
    }
}

/// A kind of quantity.
#[derive(Clone, Copy)]
pub(crate) enum Quantity {
    Rate,
    Duration,
    TimePerByte,
    Probability,
    Size,
    Limit,
    Correlation,
    SignedDuration,
    Drift,
}

impl Quantity {
    /// Returns the name of the quantity, and as regular expressions the sign that it may have and its units.
    fn about(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Self::Rate => ("rate", "", "([kMGT]?bit|[kMG]?B)/s"),
            Self::Duration => ("duration", "", "(ns|us|µs|ms|s|min|h)"),
            Self::TimePerByte => ("time per byte", "", "(ps|ns|us|µs)"),
            Self::Probability => ("probability", "", "%"),
            Self::Size => ("size", "", "([kMG]?B|[KMG]iB)"),
            Self::Limit => ("limit", "", "(packets?|[kMG]?B|[KMG]iB|ns|us|µs|ms|s|min|h)"),
            Self::Correlation => ("correlation", "-?", "%"),
            Self::SignedDuration => ("signed duration", "[+-]?\\s*", "(ns|us|µs|ms|s|min|h)"),
            Self::Drift => ("drift", "[+-]?\\s*", "(ppm|ppb|%)"),
        }
    }

    /// Returns the name in the schema and in the table of keys.
    pub(crate) fn name(self) -> &'static str {
        self.about().0
    }

    /// A regular expression that its texts match.
    pub(crate) fn pattern(self) -> String {
        let (_, sign, units) = self.about();
        format!("^\\s*{sign}[0-9]+(\\.[0-9]+)?\\s*{units}\\s*$")
    }
}

/// What the value of a key is: for the schema, and for the decoder.
pub(crate) trait Form {
    /// The type that it is read into.
    type Value;
    /// What the schema says of it.
    const KIND: Kind;
    /// The value; none after an error was noted.
    fn read(node: &Node, errors: &mut Errors) -> Option<Self::Value>;
}

/// A form whose values are written as a lab file would have them.
pub(crate) trait Written: Form {
    /// The value as a lab file would have it; empty, if its key is not written.
    fn write(value: &Self::Value) -> String;
}

/// The text of a doc comment: without the blank behind its slashes.
pub(crate) const fn text(comment: &'static str) -> &'static str {
    comment.split_at(1).1
}

/// The name of a key, which may be a word of Rust, or two words.
pub(crate) const fn name(field: &'static str) -> &'static str {
    match field.as_bytes() {
        b"at_most" => "at most",
        [b'r', b'#', ..] => field.split_at(2).1,
        _ => field,
    }
}

/// A key by itself: `/// doc` and `name: Form, "example"`, or `name = Kind, "example"`; with `required` in front of the example if it
/// must be there. `kind is "word"` is the key that says which of several sections it is.
macro_rules! key {
    ($(#[doc = $doc:literal])+ $name:ident is $word:literal) => {
        $crate::section::key!(@of [$($doc)+] $name, $crate::section::Kind::Word(&[$word]), $word, true)
    };
    ($(#[doc = $doc:literal])+ $name:ident : $form:ty, $example:literal) => {
        $crate::section::key!(@of [$($doc)+] $name, <$form as $crate::section::Form>::KIND, $example, false)
    };
    ($(#[doc = $doc:literal])+ $name:ident : $form:ty, required $example:literal) => {
        $crate::section::key!(@of [$($doc)+] $name, <$form as $crate::section::Form>::KIND, $example, true)
    };
    ($(#[doc = $doc:literal])+ $name:ident = $kind:expr, $example:literal) => {
        $crate::section::key!(@of [$($doc)+] $name, $kind, $example, false)
    };
    ($(#[doc = $doc:literal])+ $name:ident = $kind:expr, required $example:literal) => {
        $crate::section::key!(@of [$($doc)+] $name, $kind, $example, true)
    };
    (@of [$($doc:literal)+] $name:ident, $kind:expr, $example:literal, $required:literal) => {
        $crate::section::Key {
            name: $crate::section::name(stringify!($name)),
            kind: $kind,
            example: $example,
            doc: $crate::section::text(concat!($($doc),+)),
            required: $required,
        }
    };
}
pub(crate) use key;

/// Keys that sections share, each with a semicolon behind it.
macro_rules! keys {
    ($($(#[doc = $doc:literal])+ $name:ident $(is $word:literal)?
       $(= $kind:expr, $($need:ident)? $sample:literal)? $(: $form:ty, $($required:ident)? $example:literal)?;)*) => {
        $crate::section::Section {
            name: "",
            doc: "",
            groups: &[$($crate::section::Group::Key($crate::section::key!(
                $(#[doc = $doc])+ $name $(is $word)? $(= $kind, $($need)? $sample)? $(: $form, $($required)? $example)?
            ))),*],
        }
    };
}
pub(crate) use keys;
