//! Faults of single packets, as plans have them.

use crate::labs::plan;
use netloom_lab::fabric::pipe_specs;
use netloom_lab::{Action, describe_change};
use netloom_link::{After, FaultAction, FaultGround, PacketFault, PipeChange, ResetEnds, TcpKind};
use netloom_units::{Bytes, Duration};

const TOP: &str = "seed: 5
nodes: [a, b]
links:
  l: {ends: [a, b], forward: {pipes: {far: {match: {to_port: 9, share: 30 %}, delay: 1 ms}}}}
  m: {ends: [a, b]}
timeline:
";

fn changes(entries: &[&str]) -> Vec<PipeChange> {
    let lines: String = entries.iter().map(|entry| format!("  - {entry}\n")).collect();
    let change = |action: &Action| match action {
        Action::Set { change, .. } => (**change).clone(),
        other => panic!("{other:?}"),
    };
    plan(&format!("{TOP}{lines}")).timeline.iter().map(|event| change(&event.action)).collect()
}

fn fault(entry: &str) -> PacketFault {
    changes(&[entry]).remove(0).faults.remove(0)
}

#[test]
fn entries_say_which_packets_and_what_happens() {
    let all = fault(
        "{at: 3 s, link: l, direction: forward, packet: {match: {to_port: 80}, tcp: [data, fin], longer: 999 B, after: handshake, nth: 3, \
         of: flow, count: 2, probability: 50 %}, do: {hold: 200 ms}, for: 4 s}",
    );
    assert_eq!((all.id, all.nth, all.count, all.is_by_flow), (7, 3, Some(2), true));
    assert_eq!((all.kinds, all.after), (vec![TcpKind::Data, TcpKind::Fin], After::Handshake));
    assert_eq!((all.longer, all.lasts), (Some(Bytes::new(999)), Some(Duration::from_secs(4))));
    assert_eq!(all.action, FaultAction::Hold(Duration::from_millis(200)));
    let plain = fault("{link: l, packet: {}, do: drop}");
    assert_eq!((plain.nth, plain.count, plain.is_by_flow, plain.lasts), (1, Some(1), false, None));
    let action = |text: &str| fault(&format!("{{link: l, packet: {{count: all}}, do: {text}}}")).action;
    assert_eq!(action("corrupt"), FaultAction::Corrupt(None));
    assert_eq!(action("{corrupt: 40}"), FaultAction::Corrupt(Some(40)));
    assert_eq!(action("reset"), FaultAction::Reset(ResetEnds::Both));
    assert_eq!(action("{reset: sender}"), FaultAction::Reset(ResetEnds::Sender));
    assert_eq!(fault("{link: l, packet: {after: 64 kB}, do: mark}").after, After::Payload(Bytes::new(64_000)));
    assert_eq!(fault("{link: l, reset: {to_port: 5432}}").action, FaultAction::EndConnections);
}

/// What plans and events show of an entry can be written into a lab file, and means the same there.
#[test]
fn entries_come_back_from_what_is_shown() {
    let entries = [
        "{link: m, packet: {match: {to_port: 80, share: 30 %}, tcp: [data, fin], longer: 999 B, after: 64 kB, nth: 3, of: flow, \
         count: all, probability: 50 %}, do: {hold: 200 ms}, for: 4 s}",
        "{link: m, packet: {}, do: unmark}",
        "{link: m, packet: {after: handshake, count: 2}, do: {reset: receiver}}",
        "{link: m, packet: {tcp: ack}, do: {corrupt: 33}}",
        "{link: m, reset: {to_port: 5432}}",
        "{link: m, reset: true}",
    ];
    for entry in entries {
        let first = changes(&[entry]).remove(0);
        let mut shown = describe_change(&first);
        shown["link"] = "m".into();
        assert_eq!(changes(&[&shown.to_string()]), [first], "{entry}");
    }
}

#[test]
fn pipes_are_ready_for_what_the_timeline_does() {
    let ground = |entry: &str| -> Vec<Option<(bool, bool)>> {
        let specs = pipe_specs(&plan(&format!("{TOP}  - {entry}\n")));
        specs.iter().map(|spec| spec.config.faults.map(|FaultGround { answers, tracks }| (answers, tracks))).collect()
    };
    // In the order of pipes: l forward and backward, m forward and backward, l forward far.
    assert_eq!(
        ground("{link: l, direction: forward, packet: {}, do: drop}"),
        [Some((false, false)), None, None, None, None]
    );
    assert_eq!(
        ground("{link: m, packet: {}, do: reset}"),
        [None, None, Some((true, false)), Some((true, false)), None]
    );
    let far = "{link: l, direction: forward, pipe: far, packet: {}, do: {reset: receiver}}";
    assert_eq!(ground(far), [None, None, None, None, Some((false, false))]);
    let tracked = Some((true, true));
    assert_eq!(ground("{link: l, direction: forward, reset: true}"), [tracked, tracked, None, None, tracked]);
}

/// The seed of the lab picks the connections, the same for all links.
#[test]
fn shares_have_the_seed_of_the_lab() {
    let entry = "{link: m, packet: {match: {share: 30 %}}, do: drop}";
    let own = plan(&format!("{TOP}  - {entry}\n"));
    let further = own.links[0].treatments[0][0].filter.share.expect("it has one");
    assert_eq!(Some(further), fault(entry).filter.share);
    let other = plan(&format!("{TOP}  - {entry}\n").replace("seed: 5", "seed: 6"));
    assert_ne!(Some(further), other.links[0].treatments[0][0].filter.share);
}

#[test]
fn the_plan_shows_them() {
    let text =
        plan(&format!("{TOP}  - {{at: 3 s, link: l, packet: {{nth: 3, of: flow}}, do: drop}}\n")).text().to_string();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("3 s l packet {of: flow, nth: 3}, do drop"), "{text}");
}

#[test]
fn wrong_entries_say_what_would_be_right() {
    let wrong = |more: &str| {
        let text = format!(
            "nodes: [a, b, c]\nlinks: {{l: {{ends: [a, b]}}, bus: {{ends: [a, b, c], medium: shared}}}}\n{more}\n"
        );
        netloom_lab::parse(&text, "test.yaml").map(|_| ()).expect_err(more).to_string()
    };
    let entries = [
        ("{link: l, packet: {nth: 0}, do: drop}", "is not a whole number from 1"),
        ("{link: l, packet: {nt: 3}, do: drop}", "unknown key `nt`"),
        ("{link: l, packet: {tcp: sin}, do: drop}", "`sin` is not known here"),
        ("{link: l, packet: {after: shake}, do: drop}", "handshake or a size like 64 kB"),
        ("{link: l, packet: {of: connection}, do: drop}", "`connection` is not known here"),
        ("{link: l, packet: {count: none}, do: drop}", "is not a whole number from 1"),
        ("{link: l, packet: {}, do: lose}", "`lose` is not known here"),
        ("{link: l, packet: {}, do: {hold: 0 s}}", "a time above zero is needed here"),
        ("{link: l, packet: {}, do: {hold: 1 s, corrupt: 40}}", "a packet is treated in one way"),
        ("{link: l, packet: {}, do: {corrupt: 3}}", "is not a whole number from 20 to 65535"),
        ("{link: l, packet: {}, do: {}}", "a packet is treated in one way"),
        ("{link: l, packet: {match: {protocol: udp}}, do: reset}", "this is about TCP"),
        ("{link: l, packet: {match: {protocol: udp}, tcp: data}, do: drop}", "this is about TCP"),
        ("{link: l, packet: {nth: 3}}", "do"),
        ("{link: x, packet: {nth: 3}, do: drop}", "there is no link `x`"),
        ("{link: bus, packet: {}, do: reset}", "a shared medium has no way back"),
        ("{link: bus, reset: true}", "a shared medium has no way back"),
        ("{link: l, reset: {protocol: udp}}", "only TCP connections can be reset"),
        ("{link: l, reset: {share: 0 %}}", "a share of 0 % has no connections"),
    ];
    for (entry, part) in entries {
        let said = wrong(&format!("timeline: [{entry}]"));
        assert!(said.contains(part), "{entry}: {said}");
    }
    let elsewhere = wrong("capture: [{link: l, match: {share: 30 %}}]");
    assert!(
        elsewhere.contains("a share of connections can be picked in `pipes`, `packet` and `reset` only"),
        "{elsewhere}"
    );
}
