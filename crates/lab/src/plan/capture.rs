//! What is recorded of packets: captures and the journal.

use super::{Direction, EndPlan, LinkPlan, Plan};
use crate::diagnostics::one_of;
use crate::words::{Words, words};
use netloom_link::Filter;
use netloom_units::Bytes;

/// Packets that are written to a file: those of a link, those at all ports of a node, or those at one end of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturePlan {
    /// The link's place in the plan; none: all links of the node.
    pub link: Option<usize>,
    /// The place of the node at whose ports packets are captured; none: at all ends of the link.
    pub node: Option<usize>,
    /// The direction of the packets that are captured; none: both.
    pub direction: Option<Direction>,
    /// The point where packets are captured; none: where they enter and where they leave.
    pub at: Option<CapturePoint>,
    /// The snapshot length: how much of each packet is kept, from the Ethernet header on; none: all.
    pub snaplen: Option<Bytes>,
    /// The filter on the packets that are captured; none: all.
    pub filter: Option<Filter>,
    /// The expression of pcap-filter(7) for the packets that are captured; none: all.
    pub expression: Option<FilterExpression>,
    /// The size of a ring buffer: only the last packets are kept, as many as have room in it; none: all.
    pub ring: Option<Bytes>,
    /// The headers of what is written.
    pub headers: CaptureHeaders,
    /// The file's name in the folder `captures` of the results.
    pub file: String,
}

words! {
    /// The headers of what a capture writes.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum CaptureHeaders {
        /// Packets as nodes send and get them, with their Ethernet headers.
        #[default]
        Ethernet = "ethernet",
        /// Everything with data on the air of a radio medium, with headers of radiotap and 802.11.
        Radiotap = "radiotap",
    }
}

impl CaptureHeaders {
    /// Parses the headers of a capture of a link; none: those of Ethernet. `is_part`: only a direction or a point is captured.
    ///
    /// # Errors
    /// If there are none of this name, or the packets of the link do not have them; the message says what would be right.
    pub fn of(word: Option<&str>, link: &LinkPlan, is_part: bool) -> Result<Self, String> {
        let Some(word) = word else { return Ok(Self::Ethernet) };
        let known = Self::WORDS.iter().find(|(own, _)| *own == word).map(|(_, headers)| *headers);
        let headers = known.ok_or_else(|| format!("`{word}` is not known here: write {}", one_of(Self::NAMES)))?;
        if headers == Self::Radiotap
            && !link.pipes.iter().any(|pipe| pipe.air.as_ref().is_some_and(|air| air.medium.wifi().is_some()))
        {
            let name = &link.name;
            return Err(format!("`{name}` is no radio medium, of which there are headers of radiotap: leave them out"));
        }
        if headers == Self::Radiotap && is_part {
            let message = "with headers of radiotap everything on the air is captured: leave direction and point out";
            return Err(message.to_owned());
        }
        Ok(headers)
    }
}

/// An expression of pcap-filter(7), as it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilterExpression {
    /// The expression.
    pub text: String,
    /// The line of the lab file that it is in.
    pub line: usize,
}

impl CapturePlan {
    /// The ends at which packets are captured, in the order of the plan.
    pub fn ends<'a>(&'a self, plan: &'a Plan) -> impl Iterator<Item = &'a EndPlan> {
        let is_meant = |end: &&EndPlan| {
            self.link.is_none_or(|link| end.end.link() == link) && self.node.is_none_or(|node| end.node == node)
        };
        plan.ends().filter(is_meant)
    }
}

/// The point where packets of a link are captured, if not at both ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapturePoint {
    /// Each packet where it enters the link.
    Sent,
    /// Each packet where it leaves the link.
    Delivered,
    /// At the end at this place in the link's list, in both directions.
    End(usize),
}

impl CapturePoint {
    /// Parses the value of `at` for a link with these nodes at its ends. The words come before a node of that name.
    ///
    /// # Errors
    /// If it means nothing; the message says what would be right.
    pub fn of(at: &str, ends: &[&str]) -> Result<Self, String> {
        match at {
            "sent" => Ok(Self::Sent),
            "delivered" => Ok(Self::Delivered),
            _ => ends.iter().position(|end| *end == at).map(Self::End).ok_or_else(|| {
                let points = [&["sent", "delivered"], ends].concat();
                format!("`{at}` is not a point of this link: write {}", one_of(&points))
            }),
        }
    }

    /// Returns the name of the point in a lab file, for a link with these nodes at its ends.
    pub fn name<'a>(self, ends: &[&'a str]) -> &'a str {
        match self {
            Self::Sent => "sent",
            Self::Delivered => "delivered",
            Self::End(end) => ends[end],
        }
    }
}

/// Packets of which it is written down what happened to each in its pipe.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalPlan {
    /// Links by their places in the plan, and the direction of each that is meant, or both; none: all.
    pub links: Option<Vec<(usize, Option<Direction>)>>,
    /// The filter on the packets that are recorded; none: all.
    pub filter: Option<Filter>,
    /// The most bytes that the file may have; none: there is no limit.
    pub limit: Option<Bytes>,
    /// Whether it records attempts to send packets over the air, too.
    pub attempts: bool,
}

impl JournalPlan {
    /// Whether the journal records packets of this link in this direction.
    pub fn wants(&self, link: usize, direction: Direction) -> bool {
        let is_meant =
            |(other, only): &(usize, Option<Direction>)| *other == link && only.is_none_or(|only| only == direction);
        self.links.as_ref().is_none_or(|links| links.iter().any(is_meant))
    }

    /// Whether the journal records packets of this link in any direction.
    pub fn is_about(&self, link: usize) -> bool {
        self.links.as_ref().is_none_or(|links| links.iter().any(|(other, _)| *other == link))
    }
}
