//! What follows from a request for the lab as a whole.

/// What follows from a request for the lab as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The lab goes on.
    GoesOn,
    /// The lab is to end.
    Ends,
    /// The client waits for what all of the lab has to be asked for.
    Tells(Told),
}

/// What all of the lab has to be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// What speaks against it so far.
    Verdict,
}
