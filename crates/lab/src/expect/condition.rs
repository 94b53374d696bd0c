//! Which runs of a sweep are meant.

/// That a parameter has a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The parameter.
    pub parameter: String,
    /// Its value, as tables show it.
    pub value: String,
}
