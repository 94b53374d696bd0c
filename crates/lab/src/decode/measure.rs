//! What is measured inside nodes, and of links.

use crate::diagnostics::Diagnostic;
use crate::errors::Errors;
use crate::fields::Fields;
use crate::forms::{Maybe, forms};
use crate::keyed::{Keyed, sections};
use crate::plan::{MeasurePlan, SamplePlan};
use crate::scalar::positive_duration;
use crate::yaml::Node;
use netloom_units::Duration;

forms! {
    /// The time between samples of a node, and that between samples of links.
    struct Interval = Duration, Duration::KIND, interval;
    pub(crate) struct Step = Duration, Duration::KIND, step;
}

sections! {
    /// What is measured inside nodes, and of links, while a run goes on.
    pub(crate) struct Measure = "measure" {
        /// How often all directions of links are sampled, 100 us to 10 s; it goes to samples.csv, which then has quantiles of delays, too.
        /// Default: ten times a second, without delays.
        pipes: Step, "10 ms";
        ..MeasurePlan::SECTION;
    }

    /// What is measured inside a node while a run goes on.
    read MeasurePlan = "node_measure" {
        /// How often the state of all TCP connections is sampled, 1 ms and above; it goes to tcp.csv. Default: never.
        tcp: Maybe<Interval>, "10 ms" else None;
        /// How often processor time, memory and packets that the node itself dropped are sampled, 1 ms and above; it goes to nodes.csv.
        /// Default: never.
        node: Maybe<Interval>, "100 ms" else None;
        /// Whether programs get SSLKEYLOGFILE, so that they write down the keys of their TLS connections, which are collected. Default: false.
        tls_keys: bool, "true" else false;
        /// Whether programs get QLOGDIR, so that they write qlog files of their QUIC connections, which are collected. Default: false.
        qlog: bool, "true" else false;
    }
}

/// What the lab says: of nodes, and how often links are sampled. None after an error was noted.
pub(super) fn measure(node: &Node, errors: &mut Errors) -> Option<(MeasurePlan, Option<SamplePlan>)> {
    let fields = Fields::open(node, &Measure::SECTION, errors)?;
    let sampling = Measure::read_keys(&fields, errors)?.pipes.map(|step| SamplePlan { step });
    Some((MeasurePlan::read_keys(&fields, errors)?, sampling))
}

fn interval(node: &Node) -> Result<Duration, Diagnostic> {
    let interval = positive_duration(node)?;
    if interval < MeasurePlan::LEAST {
        let least = MeasurePlan::LEAST;
        return Err(
            node.error(format!("samples every {interval} would keep the node from its work: write {least} or more"))
        );
    }
    Ok(interval)
}

fn step(node: &Node) -> Result<Duration, Diagnostic> {
    let step = positive_duration(node)?;
    let [least, most] = [SamplePlan::LEAST, SamplePlan::MOST];
    if !(least..=most).contains(&step) {
        return Err(node.error(format!("links are sampled every {least} to every {most}, not every {step}")));
    }
    Ok(step)
}
