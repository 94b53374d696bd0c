//! What a verdict says of the machine, from the examination that is kept. Pure.

use super::Examination;
use crate::quantity::{grouped, rate, span};
use netloom_lab::Precision;
use netloom_units::Dilation;

/// What a run that was not as described suffered from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// Packets were late.
    pub(crate) late: bool,
    /// The engine waited for a processor.
    pub(crate) starved: bool,
    /// Packets were lost outside the models, or a rate was not reached.
    pub(crate) overrun: bool,
}

/// What was asked of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) precision: Precision,
    /// The bound of lateness, in nanoseconds of lab time.
    pub(crate) lateness_ns: u64,
    /// By how much lab time was slower than wall time.
    pub(crate) dilation: Dilation,
}

/// One line for the verdict; none if nothing is wrong that has to do with the machine.
pub(crate) fn quote(complaint: Complaint, asked: &Asked, known: Option<&Examination>) -> Option<String> {
    if complaint == Complaint::default() {
        return None;
    }
    let Some(examination) = known else {
        return Some("`netloom doctor` measures this machine's capacity in a few seconds".into());
    };
    let date = examination.date_utc.split('T').next().unwrap_or_default();
    let said = match complaint {
        _ if examination.busy => "measured this machine while it was busy: run it again when it is idle".into(),
        Complaint { late: true, .. } => lateness(asked, examination),
        Complaint { overrun: true, .. } => forwarding(examination),
        _ => processors(examination),
    };
    Some(format!("netloom doctor of {date} {said}"))
}

/// What is measured is wall time; what a lab allows is the lab's.
fn lateness(asked: &Asked, examination: &Examination) -> String {
    let timing = &examination.timing;
    let real = asked.dilation.to_real(netloom_units::Duration::from_nanos(asked.lateness_ns));
    let allowed_ns = u64::try_from(real.as_nanos()).unwrap_or(u64::MAX);
    let measured_ns = timing.of(asked.precision).p99_ns;
    let mut allowed = format!("this lab allows {}", span(asked.lateness_ns));
    if asked.dilation != Dilation::ONE {
        allowed = format!("{allowed} of lab time, {} of wall time", span(allowed_ns));
    }
    let measured = format!(
        "measured 99 % of waits within {} here with precision {}; {allowed}",
        span(measured_ns),
        asked.precision.name()
    );
    let better = [Precision::Balanced, Precision::Exact].into_iter().find(|precision| {
        let p99 = timing.of(*precision).p99_ns;
        p99 <= allowed_ns && p99 < measured_ns
    });
    match better {
        _ if measured_ns <= allowed_ns => {
            format!("{measured}: other programs or too many packets made it late ({})", limits(examination))
        }
        Some(precision) => {
            format!("{measured}: use precision {} ({})", precision.name(), span(timing.of(precision).p99_ns))
        }
        None => format!("{measured}: no precision keeps that here, slower time does"),
    }
}

fn forwarding(examination: &Examination) -> String {
    format!("measured what this machine carries: {}; a lab that asks for more needs slower time", limits(examination))
}

fn limits(examination: &Examination) -> String {
    examination.forwarding.as_ref().map_or_else(
        || "no lab could be made then".into(),
        |carried| {
            format!(
                "{} packets/s without loss, {} in one TCP stream",
                grouped(carried.lossless_packets_per_second),
                rate(carried.tcp_bits_per_second)
            )
        },
    )
}

fn processors(examination: &Examination) -> String {
    let count = examination.machine.processors;
    let plural = if count == 1 { "" } else { "s" };
    let priority = if examination.timing.priority {
        "the engine has priority over ordinary programs, so start fewer of them, or give nodes `cpus`"
    } else {
        "the engine has no priority over other programs: run as root, or allow real-time priorities (`ulimit -r`)"
    };
    format!("counted {count} processor{plural} here; {priority}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examination::{Forwarding, Lateness, Machine, Timing};

    const LATE: Complaint = Complaint { late: true, starved: false, overrun: false };

    fn examination() -> Examination {
        let late = |p99_ns| Lateness { p99_ns, ..Lateness::default() };
        Examination {
            date_utc: "2026-11-21T20:00:00Z".into(),
            machine: Machine { processors: 2, ..Machine::default() },
            timing: Timing {
                eco: late(180_000),
                balanced: late(60_000),
                exact: late(15_000),
                priority: true,
                ..Timing::default()
            },
            forwarding: Some(Forwarding {
                lossless_packets_per_second: 312_000.0,
                tcp_bits_per_second: 14.2e9,
                ..Forwarding::default()
            }),
            ..Examination::default()
        }
    }

    fn asked(precision: Precision, lateness_us: u64) -> Asked {
        Asked { precision, lateness_ns: lateness_us * 1_000, dilation: Dilation::ONE }
    }

    #[test]
    fn without_an_examination_one_is_proposed() {
        let line = quote(LATE, &asked(Precision::Balanced, 50), None).unwrap();
        assert!(line.starts_with("`netloom doctor` measures"), "{line}");
        assert_eq!(quote(Complaint::default(), &asked(Precision::Balanced, 50), None), None);
    }

    #[test]
    fn the_precision_that_keeps_the_bound_is_named() {
        let known = examination();
        let line = |precision, us| quote(LATE, &asked(precision, us), Some(&known)).unwrap();
        assert_eq!(
            line(Precision::Eco, 50),
            "netloom doctor of 2026-11-21 measured 99 % of waits within 180 us here with precision eco; this lab allows \
             50 us: use precision exact (15 us)"
        );
        assert!(line(Precision::Eco, 100).ends_with("use precision balanced (60 us)"));
        assert!(line(Precision::Exact, 5).ends_with("no precision keeps that here, slower time does"));
        let kept = line(Precision::Balanced, 1_000);
        assert!(kept.contains("other programs or too many packets"), "{kept}");
        assert!(kept.contains("312,000 packets/s without loss, 14.2 Gbit/s"), "{kept}");
    }

    #[test]
    fn what_a_busy_machine_said_is_not_quoted() {
        let known = Examination { busy: true, ..examination() };
        let line = quote(LATE, &asked(Precision::Eco, 50), Some(&known)).unwrap();
        assert!(line.ends_with("measured this machine while it was busy: run it again when it is idle"), "{line}");
    }

    #[test]
    fn slower_time_allows_more_wall_time() {
        let slow = Asked { dilation: Dilation::from_whole(10).unwrap(), ..asked(Precision::Eco, 10) };
        let line = quote(LATE, &slow, Some(&examination())).unwrap();
        assert!(
            line.contains("this lab allows 10 us of lab time, 100 us of wall time: use precision balanced"),
            "{line}"
        );
    }

    #[test]
    fn losses_and_starvation_have_their_own_lines() {
        let known = examination();
        let quoted = |complaint| quote(complaint, &asked(Precision::Balanced, 1_000), Some(&known)).unwrap();
        let lost = quoted(Complaint { overrun: true, ..Complaint::default() });
        assert!(lost.contains("312,000 packets/s"), "{lost}");
        let starved = quoted(Complaint { starved: true, ..Complaint::default() });
        assert!(starved.contains("counted 2 processors here"), "{starved}");
    }
}
