//! What a verdict comes to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of a verdict. In JSON: whether the network was as described, none if nothing was judged, and the same as words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Told", into = "Told")]
pub enum Judgement {
    /// Nothing was measured that could be judged: no link carried a packet.
    #[default]
    NotJudged,
    /// Everything stayed within the bounds.
    AsDescribed,
    /// Something did not stay within the bounds.
    NotAsDescribed,
}

/// See [`Judgement`].
#[derive(Serialize, Deserialize, JsonSchema)]
pub(super) struct Told {
    /// Whether everything stayed within the bounds; none if nothing was measured that could be judged.
    as_described: Option<bool>,
    /// The same in words: `as described`, `NOT as described` or `not judged`.
    #[serde(default)]
    verdict: String,
}

impl Judgement {
    /// Whether the network was as described; none if nothing was judged.
    pub const fn as_described(self) -> Option<bool> {
        match self {
            Self::NotJudged => None,
            Self::AsDescribed => Some(true),
            Self::NotAsDescribed => Some(false),
        }
    }

    /// Returns the words for the judgement.
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotJudged => "not judged",
            Self::AsDescribed => "as described",
            Self::NotAsDescribed => "NOT as described",
        }
    }
}

impl From<Option<bool>> for Judgement {
    fn from(as_described: Option<bool>) -> Self {
        match as_described {
            None => Self::NotJudged,
            Some(true) => Self::AsDescribed,
            Some(false) => Self::NotAsDescribed,
        }
    }
}

impl From<Told> for Judgement {
    fn from(told: Told) -> Self {
        told.as_described.into()
    }
}

impl From<Judgement> for Told {
    fn from(judgement: Judgement) -> Self {
        Self { as_described: judgement.as_described(), verdict: judgement.words().to_owned() }
    }
}
