//! Which runs of a sweep are meant.

/// A condition on the runs of a sweep: a parameter has a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The parameter.
    pub parameter: String,
    /// The value of the parameter, as tables show it.
    pub value: String,
}
