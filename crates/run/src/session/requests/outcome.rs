//! What follows from a request for the lab as a whole.

use netloom_lab::Action;

/// What follows from a request for the lab as a whole.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// The lab goes on.
    GoesOn,
    /// The lab is to end.
    Ends,
    /// The client waits for what all of the lab has to be asked for.
    Tells(Told),
    /// The client waits until this has happened, as on the timeline.
    Plays(Vec<Action>),
}

/// What all of the lab has to be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// What speaks against it so far.
    Verdict,
}
