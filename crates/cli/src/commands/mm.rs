//! `netloom mm`: mahimahi's link shells by their own command lines.

use super::link_shell::{command, run};
use super::mm_link::{self, MmLink};
use super::{Failure, Outcome};
use crate::args::{MmCommand, Way};
use crate::talk;
use netloom_judge::ExitCode;
use netloom_lab::Precision;
use netloom_link_shell::{LinkLog, LinkShellRequest};
use netloom_units::Seed;
use std::env;
use std::ffi::OsString;

/// Keys and values of a lab file.
type Keys = Vec<(String, String)>;

pub(super) fn mm(asked: MmCommand) -> Outcome {
    match asked {
        MmCommand::Delay { milliseconds, argv } => {
            let way = || vec![("delay".to_owned(), format!("{milliseconds} ms"))];
            run(request([way(), way()], format!("delay {milliseconds} ms"), &argv)?, false, None)
        }
        MmCommand::Loss { way, rate, argv } => loss(way, &rate, &argv),
        MmCommand::Link { words } => link(&words),
    }
}

fn usage(why: impl Into<String>) -> Failure {
    Failure::new(ExitCode::Usage, why)
}

fn request(ways: [Keys; 2], label: String, argv: &[OsString]) -> Result<LinkShellRequest, Failure> {
    let (seed, precision, argv) = (Seed::new(0), Precision::Balanced, command(argv)?);
    Ok(LinkShellRequest { ways, seed, precision, argv, label, logs: [None, None], once: false })
}

fn loss(way: Way, rate: &str, argv: &[OsString]) -> Outcome {
    let percent =
        percent(rate).ok_or_else(|| usage(format!("`{rate}`: a share from 0 to 1 is needed, such as 0.1")))?;
    let lossy = vec![("loss".to_owned(), percent)];
    let (ways, short) = match way {
        Way::Uplink => ([lossy, Vec::new()], "up"),
        Way::Downlink => ([Vec::new(), lossy], "down"),
    };
    run(request(ways, format!("loss {short}={rate}"), argv)?, false, None)
}

/// A share from 0 to 1 as the lab file would have it, exactly.
fn percent(share: &str) -> Option<String> {
    let (whole, fraction) = share.split_once('.').unwrap_or((share, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(fraction) || (whole.is_empty() && fraction.is_empty()) {
        return None;
    }
    let digits = format!("{fraction:0<2}");
    let (hundredths, rest) = digits.split_at(2);
    let number = format!("{whole}{hundredths}");
    let number = number.trim_start_matches('0');
    let number = if number.is_empty() { "0" } else { number };
    Some(match rest.trim_end_matches('0') {
        "" => format!("{number} %"),
        rest => format!("{number}.{rest} %"),
    })
}

fn link(words: &[OsString]) -> Outcome {
    let asked = MmLink::read(words).map_err(usage)?;
    let keys = |way: &mm_link::Way| -> Result<Keys, Failure> {
        // Every JSON string is one of YAML.
        let file = serde_json::to_string(&way.trace).expect("a string is JSON");
        let rate = format!("{{kind: delivery-trace, file: {file}}}");
        Ok(vec![("rate".into(), rate), ("queue".into(), way.queue.key().map_err(usage)?)])
    };
    let [up, down] = &asked.ways;
    if asked.meters {
        talk::warning("there are no live graphs: --uplink-log and --downlink-log write what graphs are made of");
    }
    let request = request([keys(up)?, keys(down)?], "link".into(), &asked.argv)?;
    run(LinkShellRequest { logs: [log(up), log(down)], once: asked.once, ..request }, false, None)
}

/// The log that is asked for.
fn log(way: &mm_link::Way) -> Option<LinkLog> {
    let quoted = |word: OsString| format!("'{}'", word.to_string_lossy().replace('\'', "'\\''"));
    Some(LinkLog {
        file: way.log.clone()?.into(),
        trace_name: way.trace.clone(),
        queue: way.queue.title(),
        command_line: env::args_os().map(quoted).collect::<Vec<_>>().join(" "),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_lab::parse_change;

    #[test]
    fn shares_are_percents_exactly() {
        for (share, expected) in
            [("0", "0 %"), ("1", "100 %"), ("0.1", "10 %"), (".07", "7 %"), ("0.123", "12.3 %"), ("1.0", "100 %")]
        {
            assert_eq!(percent(share).as_deref(), Some(expected), "{share}");
            assert!(parse_change("loss", expected).is_ok());
        }
        for wrong in ["", ".", "-0.1", "1e-3", "10%", "0.1.2"] {
            assert_eq!(percent(wrong), None, "{wrong}");
        }
        assert!(parse_change("loss", &percent("1.5").unwrap()).is_err());
    }
}
