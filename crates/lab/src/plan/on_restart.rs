//! Which services start when their node starts again.

use crate::words::words;

words! {
    /// Whether a service starts when its node starts again after a stop or a crash.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum OnRestart {
        /// It starts again, as at the beginning.
        #[default]
        Also = "also",
        /// It starts then alone, and not at the beginning.
        Only = "only",
        /// It does not start again.
        Never = "never",
    }
}
