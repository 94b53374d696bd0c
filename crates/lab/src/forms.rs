//! What values of keys are: of each form, what the schema says of it, how it is read, and how it is written.

use crate::diagnostics::Spanned;
use crate::errors::{Errors, keep};
use crate::fields::list;
use crate::keyed::Keyed;
use crate::kinds::{COMMAND_REFERENCE, LINK_REFERENCE, NODE_REFERENCE};
use crate::names;
use crate::plan::Argv;
use crate::scalar;
use crate::section::{Form, Kind, Quantity, Written};
use crate::words::Words;
use crate::yaml::{Content, Node};
use netloom_units::{Bytes, Drift, Duration, Limit, Probability, Rate, SignedDuration, TimePerByte};
use std::fmt::Display;
use std::marker::PhantomData;

/// Declares forms, each with the type of its value, its kind, and the function of [`scalar`](crate::scalar), or one like these, that reads
/// it; with `struct` in front of one that is new, and `noting` in front of a function that notes errors itself.
macro_rules! forms {
    () => {};
    ($(#[$about:meta])* $vis:vis struct $Name:ident = $value:ty, $kind:expr, noting $read:expr; $($rest:tt)*) => {
        $(#[$about])*
        $vis struct $Name;
        impl $crate::section::Form for $Name {
            type Value = $value;
            const KIND: $crate::section::Kind = $kind;
            fn read(node: &$crate::yaml::Node, errors: &mut $crate::errors::Errors) -> Option<$value> {
                ($read)(node, errors)
            }
        }
        $crate::forms::forms!($($rest)*);
    };
    ($(#[$about:meta])* $vis:vis struct $Name:ident = $value:ty, $kind:expr, $read:expr; $($rest:tt)*) => {
        $(#[$about])*
        $vis struct $Name;
        $crate::forms::forms!($Name = $value, $kind, $read; $($rest)*);
    };
    ($form:ty = $value:ty, $kind:expr, $read:expr; $($rest:tt)*) => {
        impl $crate::section::Form for $form {
            type Value = $value;
            const KIND: $crate::section::Kind = $kind;
            fn read(node: &$crate::yaml::Node, errors: &mut $crate::errors::Errors) -> Option<$value> {
                $crate::errors::keep(($read)(node), errors)
            }
        }
        $crate::forms::forms!($($rest)*);
    };
}
pub(crate) use forms;

/// Declares a form of words for a type that has others elsewhere.
macro_rules! word_form {
    ($(#[$meta:meta])* $vis:vis struct $Name:ident = $type:ty { $($word:literal = $value:expr),+ $(,)? }) => {
        $(#[$meta])*
        $vis struct $Name;

        impl $crate::section::Form for $Name {
            type Value = $type;
            const KIND: $crate::section::Kind = $crate::section::Kind::Word(&[$($word),+]);
            fn read(node: &$crate::yaml::Node, errors: &mut $crate::errors::Errors) -> Option<$type> {
                $crate::errors::keep($crate::scalar::word(node, &[$(($word, $value)),+]), errors)
            }
        }
    };
}
pub(crate) use word_form;

/// One of the words of a type.
pub(crate) struct Word<T>(PhantomData<T>);

impl<T: Words> Form for Word<T> {
    type Value = T;
    const KIND: Kind = Kind::Word(T::NAMES);
    fn read(node: &Node, errors: &mut Errors) -> Option<T> {
        keep(scalar::word(node, T::WORDS), errors)
    }
}

impl<T: Words> Written for Word<T> {
    fn write(value: &T) -> String {
        value.word().to_owned()
    }
}

forms! {
    bool = Self, Kind::Flag, scalar::flag;
    Duration = Self, Kind::Quantity(Quantity::Duration), scalar::quantity;
    Probability = Self, Kind::Quantity(Quantity::Probability), scalar::quantity;
    Bytes = Self, Kind::Quantity(Quantity::Size), scalar::quantity;
    Rate = Self, Kind::Quantity(Quantity::Rate), scalar::quantity;
    Limit = Self, Kind::Quantity(Quantity::Limit), scalar::quantity;
    TimePerByte = Self, Kind::Quantity(Quantity::TimePerByte), scalar::quantity;
    SignedDuration = Self, Kind::Quantity(Quantity::SignedDuration), scalar::quantity;
    Drift = Self, Kind::Quantity(Quantity::Drift), scalar::quantity;
    AboveZero<Duration> = Duration, Duration::KIND, scalar::positive_duration;
    OrZero<Duration> = Duration, Kind::OneOf(&[Duration::KIND, Kind::Zero]), scalar::duration_or_zero;
    OrZero<Drift> = Drift, Kind::OneOf(&[Drift::KIND, Kind::Zero]), scalar::drift_or_zero;
    OrZero<Probability> = Probability, Kind::OneOf(&[Probability::KIND, Kind::Zero]), scalar::probability_or_zero;
    /// A time, which is not written if it is zero.
    pub(crate) struct Offset = Duration, OrZero::<Duration>::KIND, scalar::duration_or_zero;
    /// A text that is not empty.
    pub(crate) struct Filled = String, Kind::Text("\\S"), scalar::filled;
    /// Any text.
    pub(crate) struct Text = String, Kind::Scalar, scalar::text;
    /// A command: a text for the shell, or a list of words.
    pub(crate) struct Command = Argv, Kind::OneOf(&[Filled::KIND, Kind::list(&Kind::Scalar, 1)]), scalar::command;
    /// The name of a link of the lab.
    pub(crate) struct LinkName = Spanned<String>, LINK_REFERENCE, names::link_name;
    /// The name of a node of the lab.
    pub(crate) struct NodeName = Spanned<String>, NODE_REFERENCE, names::name_of("a node");
    /// The name of a command.
    pub(crate) struct CommandName = Spanned<String>, COMMAND_REFERENCE, names::command_name;
}

impl<F: Form<Value: Display> + Plain> Written for F {
    fn write(value: &F::Value) -> String {
        value.to_string()
    }
}

/// A form whose values are written as they are displayed.
pub(crate) trait Plain {}
impl Plain for bool {}
impl Plain for Duration {}
impl Plain for SignedDuration {}
impl Plain for Probability {}
impl Plain for Bytes {}
impl Plain for Rate {}
impl Plain for Limit {}
impl<T> Plain for OrZero<T> {}
impl<T> Plain for AboveZero<T> {}
impl<T, const LEAST: u64, const MOST: u64> Plain for Whole<T, LEAST, MOST> {}

/// A quantity above zero.
pub(crate) struct AboveZero<T>(PhantomData<T>);

/// A quantity, or the bare number zero.
pub(crate) struct OrZero<T>(PhantomData<T>);

impl Written for Offset {
    fn write(time: &Duration) -> String {
        if time.is_zero() { String::new() } else { time.to_string() }
    }
}

/// A number of things.
pub(crate) type Count<const LEAST: u64, const MOST: u64> = Whole<usize, LEAST, MOST>;

/// A whole number of a type that has room for all of them.
pub(crate) struct Whole<T, const LEAST: u64, const MOST: u64>(PhantomData<T>);

impl<T: TryFrom<u64>, const LEAST: u64, const MOST: u64> Form for Whole<T, LEAST, MOST> {
    type Value = T;
    const KIND: Kind = Kind::Integer { least: LEAST, most: MOST };
    fn read(node: &Node, errors: &mut Errors) -> Option<T> {
        keep(scalar::integer(node, LEAST, MOST), errors)?.try_into().ok()
    }
}

/// A form of which the field is an option: what is not written is none, and what is none is not written.
pub(crate) struct Maybe<F>(PhantomData<F>);

impl<F: Form> Form for Maybe<F> {
    type Value = Option<F::Value>;
    const KIND: Kind = F::KIND;
    fn read(node: &Node, errors: &mut Errors) -> Option<Option<F::Value>> {
        F::read(node, errors).map(Some)
    }
}

impl<F: Written> Written for Maybe<F> {
    fn write(value: &Option<F::Value>) -> String {
        value.as_ref().map(F::write).unwrap_or_default()
    }
}

/// One of something, or a list of them.
pub(crate) struct OneOrMore<F>(PhantomData<F>);

impl<F: Form> Form for OneOrMore<F> {
    type Value = Vec<F::Value>;
    const KIND: Kind = Kind::OneOf(&[F::KIND, Kind::list(&F::KIND, 1)]);
    /// What can be read of it.
    fn read(node: &Node, errors: &mut Errors) -> Option<Vec<F::Value>> {
        if node.items().is_empty() {
            return errors.reject(node.error("this list is empty: write one or more, or leave the key out"));
        }
        Some(node.items().iter().filter_map(|item| F::read(item, errors)).collect())
    }
}

impl<F: Written> Written for OneOrMore<F> {
    fn write(values: &Vec<F::Value>) -> String {
        one_or_more(values.iter().map(F::write))
    }
}

/// A value alone, or a list.
pub(crate) fn one_or_more(values: impl Iterator<Item = String>) -> String {
    let values: Vec<String> = values.collect();
    if let [only] = &values[..] { only.clone() } else { format!("[{}]", values.join(", ")) }
}

/// A value with its place.
pub(crate) struct Placed<F>(PhantomData<F>);

impl<F: Form> Form for Placed<F> {
    type Value = Spanned<F::Value>;
    const KIND: Kind = F::KIND;
    fn read(node: &Node, errors: &mut Errors) -> Option<Spanned<F::Value>> {
        F::read(node, errors).map(|value| node.spanned(value))
    }
}

/// A list of something, as far as it can be read.
pub(crate) struct List<F, const LEAST: u64 = 0>(PhantomData<F>);

impl<F: Form, const LEAST: u64> Form for List<F, LEAST> {
    type Value = Vec<F::Value>;
    const KIND: Kind = Kind::list(&F::KIND, LEAST);
    fn read(node: &Node, errors: &mut Errors) -> Option<Vec<F::Value>> {
        Some(list(node, errors).iter().filter_map(|item| F::read(item, errors)).collect())
    }
}

/// A map of keys; `true` for one in which nothing is said, and `false` for none.
pub(crate) struct OrFlag<T>(PhantomData<T>);

impl<T: Keyed> Form for OrFlag<T> {
    type Value = T;
    const KIND: Kind = Kind::OneOf(&[Kind::Flag, T::KIND]);
    fn read(node: &Node, errors: &mut Errors) -> Option<T> {
        if matches!(node.content, Content::Map(_)) {
            return T::open(node, errors);
        }
        let is_there = keep(scalar::flag(node), errors)?;
        let bare = Node { content: Content::Map(Vec::new()), head: node.span, ..node.clone() };
        is_there.then(|| T::open(&bare, errors))?
    }
}

/// `true`, with its place.
pub(crate) struct Said;

impl Form for Said {
    type Value = Option<Spanned<()>>;
    const KIND: Kind = Kind::Flag;
    fn read(node: &Node, errors: &mut Errors) -> Option<Option<Spanned<()>>> {
        bool::read(node, errors).map(|is| is.then(|| node.spanned(())))
    }
}
