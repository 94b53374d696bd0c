//! Sections of keys, each declared once: from a declaration follow the table, the JSON schema, the decoder and the writer.
//!
//! A key is its documentation, its name, what it takes and an example. What it takes is a [`Form`] behind a colon, by which it is read;
//! or a [`Kind`](crate::section::Kind) behind an equals sign, if the decoder of the section reads it by hand.
//!
//! ```ignore
//! sections! {
//!     /// A switch's part in a rapid spanning tree.
//!     pub(crate) struct Tree = "stp" {
//!         /// How often it says what it knows: whole seconds, 1 s to 10 s. Default: 2 s.
//!         hello: Seconds<1, 10>, "1 s";
//!     }
//! }
//! let tree = Tree::open(node, errors)?;       // its field `hello` is an `Option<Duration>`
//! ```

use crate::errors::Errors;
use crate::fields::Fields;
use crate::section::{Form, Kind, Section};
use crate::yaml::Node;

/// A type of which each field is the value of a key of its section.
pub(crate) trait Keyed: Sized {
    /// The section.
    const SECTION: Section;

    /// What the keys of an opened map say; none if a key is missing or wrong that is required, which is noted.
    fn read_keys(fields: &Fields<'_>, errors: &mut Errors) -> Option<Self>;

    /// What a map of these keys says; none after an error was noted.
    fn open(node: &Node, errors: &mut Errors) -> Option<Self> {
        Self::read_keys(&Fields::open(node, &Self::SECTION, errors)?, errors)
    }
}

impl<T: Keyed> Form for T {
    type Value = T;
    const KIND: Kind = Kind::Section(&T::SECTION);
    fn read(node: &Node, errors: &mut Errors) -> Option<T> {
        T::open(node, errors)
    }
}

/// A type whose fields are written as keys of its section.
pub(crate) trait WrittenKeys {
    /// Each key with its value as a lab file would have it.
    fn written_keys(&self) -> Vec<(&'static str, String)>;

    /// All keys with their values, for a map that may have others.
    fn write_keys(&self) -> String {
        let keys = self.written_keys().into_iter().filter(|(_, value)| !value.is_empty());
        keys.map(|(key, value)| format!("{key}: {value}")).collect::<Vec<_>>().join(", ")
    }

    /// The map of all keys.
    fn write_map(&self) -> String {
        format!("{{{}}}", self.write_keys())
    }
}

/// Declares sections, each under its name in the schema. `..Other::SECTION;` stands for keys that are declared elsewhere, and
/// are read there: a section that is only a part of others has an empty name.
///
/// - `const NAME = "name" { ... }` is a table, of which all keys are read by hand: by [`Fields`]. `kind "word";` is the key that says which
///   of several sections it is, with the documentation of the section.
/// - `struct Name = "name" { ... }` is a type, too, with a field for each key that has a form: an option unless it is required, or has a
///   value behind `else` for when it is not there. `at place;` is a field for where the map is.
/// - `read Type = "name" { ... }` reads a type that is there already, and `for Type = "name" { ... }` also writes it. A key that is not
///   there has the value behind `else`, or that of the type's default.
macro_rules! sections {
    () => {};
    ($(#[doc = $about:literal])+ $vis:vis const $NAME:ident = $title:literal $body:tt $($rest:tt)*) => {
        $vis const $NAME: $crate::section::Section = $crate::keyed::sections!(@table [$($about)+] $title $body);
        $crate::keyed::sections!($($rest)*);
    };
    ($(#[doc = $about:literal])+ $(#[derive($($of:ident),+)])? $vis:vis struct $Name:ident = $title:literal $body:tt $($rest:tt)*) => {
        $crate::keyed::sections!(@struct [$(#[derive($($of),+)])? $vis] $Name $body);
        $crate::keyed::sections!(@keyed value $Name [$($about)+] $title $body);
        $crate::keyed::sections!($($rest)*);
    };
    ($(#[doc = $about:literal])+ read $Name:ident = $title:literal $body:tt $($rest:tt)*) => {
        $crate::keyed::sections!(@keyed settle $Name [$($about)+] $title $body);
        $crate::keyed::sections!($($rest)*);
    };
    ($(#[doc = $about:literal])+ for $Name:ident = $title:literal $body:tt $($rest:tt)*) => {
        $crate::keyed::sections!(@keyed settle $Name [$($about)+] $title $body);
        $crate::keyed::sections!(@write $Name $body);
        $crate::keyed::sections!($($rest)*);
    };
    (@text [$($about:literal)+]) => { $crate::section::text(concat!($($about),+)) };
    (@table $about:tt $title:literal {$(
        $(..$($shared:ident)::+)?
        $(kind $own:literal)?
        $($(#[doc = $doc:literal])+ $name:ident $(is $word:literal)? $(= $kind:expr, $($need:ident)? $sample:literal)?
          $(: $form:ty, $($required:ident)? $example:literal $(else $usual:expr)?)?)?;
    )*}) => {
        $crate::section::Section {
            name: $title,
            doc: $crate::keyed::sections!(@text $about),
            groups: &[$(
                $($crate::section::Group::Key($crate::section::Key {
                    name: "kind",
                    kind: $crate::section::Kind::Word(&[$own]),
                    example: $own,
                    doc: $crate::keyed::sections!(@text $about),
                    required: true,
                }),)?
                $($crate::section::Group::Keys(&$($shared)::+),)?
                $($crate::section::Group::Key($crate::section::key!(
                    $(#[doc = $doc])+ $name $(is $word)? $(= $kind, $($need)? $sample)? $(: $form, $($required)? $example)?
                )),)?
            )*],
        }
    };
    (@struct [$(#[$meta:meta])? $vis:vis] $Name:ident {$(
        $(..$($shared:ident)::+)?
        $(at $place:ident)?
        $($(#[doc = $doc:literal])+ $name:ident $(is $word:literal)? $(= $kind:expr, $($need:ident)? $sample:literal)?
          $(: $form:ty, $($required:ident)? $example:literal $(else $usual:expr)?)?)?;
    )*}) => {
        $(#[$meta])?
        $vis struct $Name {
            $($(pub(crate) $place: $crate::diagnostics::Spanned<()>,)?
            $($(pub(crate) $name: $crate::keyed::sections!(@type $form, $($required)? $(else $usual)?),)?)?)*
        }
    };
    (@keyed $settle:ident $Name:ident [$($about:literal)+] $title:literal {$(
        $(..$($shared:ident)::+)?
        $(at $place:ident)?
        $($(#[doc = $doc:literal])+ $name:ident $(is $word:literal)? $(= $kind:expr, $($need:ident)? $sample:literal)?
          $(: $form:ty, $($required:ident)? $example:literal $(else $usual:expr)?)?)?;
    )*}) => {
        impl $crate::keyed::Keyed for $Name {
            const SECTION: $crate::section::Section = $crate::keyed::sections!(@table [$($about)+] $title {$(
                $(..$($shared)::+)?
                $($(#[doc = $doc])+ $name $(is $word)? $(= $kind, $($need)? $sample)? $(: $form, $($required)? $example)?)?;
            )*});
            fn read_keys(fields: &$crate::fields::Fields<'_>, errors: &mut $crate::errors::Errors) -> Option<Self> {
                $($($(let $name = fields.form::<$form>($crate::section::name(stringify!($name)), errors);)?)?)*
                Some(Self { $($($place: fields.whole(),)? $($(
                    $name: $crate::keyed::sections!(@$settle $Name, $name $(, $required)? $(; $usual)?),
                )?)?)* })
            }
        }
    };
    (@write $Name:ident {$(
        $(..$($shared:ident)::+)?
        $(at $place:ident)?
        $($(#[doc = $doc:literal])+ $name:ident $(is $word:literal)? $(= $kind:expr, $($need:ident)? $sample:literal)?
          $(: $form:ty, $($required:ident)? $example:literal $(else $usual:expr)?)?)?;
    )*}) => {
        impl $crate::keyed::WrittenKeys for $Name {
            fn written_keys(&self) -> Vec<(&'static str, String)> {
                vec![$($(
                    $(($crate::section::name(stringify!($name)), $word.to_owned()),)?
                    $(($crate::section::name(stringify!($name)), <$form as $crate::section::Written>::write(&self.$name)),)?
                )?)*]
            }
        }
    };
    (@type $form:ty, required) => { <$form as $crate::section::Form>::Value };
    (@type $form:ty, else $usual:expr) => { <$form as $crate::section::Form>::Value };
    (@type $form:ty,) => { Option<<$form as $crate::section::Form>::Value> };
    (@value $Name:ident, $value:ident, required) => { $value? };
    (@value $Name:ident, $value:ident; $usual:expr) => { $value.unwrap_or($usual) };
    (@value $Name:ident, $value:ident) => { $value };
    (@settle $Name:ident, $value:ident, required) => { $value? };
    (@settle $Name:ident, $value:ident; $usual:expr) => { $value.unwrap_or($usual) };
    (@settle $Name:ident, $value:ident) => { $value.unwrap_or_else(|| <$Name as Default>::default().$value) };
}
pub(crate) use sections;
