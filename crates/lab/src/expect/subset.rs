//! Terms about some of a link's packets, `backbone.forward.packets match (to server icmp)`.

use super::{PipeMetric, Subject, Term};
use crate::errors::Nodes;
use crate::models::words;
use netloom_link::{Filter, Sender, Subset};

/// Words that say whose packets are meant, before others.
const SENDERS: [(&str, Sender); 2] = [("programs", Sender::Programs), ("kernels", Sender::Kernels)];
/// What to write.
pub(super) const EXAMPLE: &str =
    "write for example `match (from client to server icmp)`, `match (programs)` or `match (kernels)`";

/// Which packets the words in the brackets mean.
pub(super) fn read(text: &str, nodes: Option<&Nodes>) -> Result<Subset, String> {
    let text = text.trim();
    let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    let sender = SENDERS.into_iter().find(|(name, _)| *name == first).map(|(_, sender)| sender);
    let words = if sender.is_some() { rest.trim() } else { text };
    if words.is_empty() {
        return match sender {
            Some(_) => Ok(Subset { filter: Filter::default(), sender }),
            None => Err(EXAMPLE.into()),
        };
    }
    Ok(Subset { filter: words::filter(words, nodes)?, sender })
}

impl Term {
    /// Limits it to these packets.
    pub(super) fn limit_to(&mut self, subset: Subset) -> Result<(), String> {
        match &mut self.subject {
            Subject::Link { only: Some(_), .. } => Err("`match` stands here twice".into()),
            Subject::Link { only, .. } => {
                *only = Some(Box::new(subset));
                Ok(())
            }
            _ => Err("`match` is for links, whose packets are seen one by one".into()),
        }
    }

    /// Whether what is to be known of some packets only can be.
    pub(super) fn check_subset(&self, name: &str) -> Result<(), String> {
        let Subject::Link { metric, station, only: Some(_), .. } = &self.subject else { return Ok(()) };
        let of_all = || Err(format!("`{name}` is of all packets together: leave `match` out"));
        if station.is_some() || metric.is_of_air() {
            return of_all();
        }
        let is_series = matches!(metric, PipeMetric::Throughput | PipeMetric::Offered) && self.steps().0.is_some();
        match metric {
            PipeMetric::Queue | PipeMetric::QueueMax | PipeMetric::Utilization => of_all(),
            _ if is_series => Err(format!(
                "`{name}` of some packets is known over the whole run or a part of it, and not at each sample: leave the function or `match` out"
            )),
            _ => Ok(()),
        }
    }
}
