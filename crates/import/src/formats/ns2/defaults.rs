//! The values that ns-2 and Emulab give to attributes by themselves.

/// The values of ns-2.35 (tcl/lib/ns-default.tcl, ns-source.tcl) that mean something to a lab.
const BUILT_IN: [(&str, &str, &str); 58] = [
    ("Queue", "limit_", "50"),
    ("Queue/DropTail", "queue_in_bytes_", "false"),
    ("Queue/DropTail", "mean_pktsize_", "500"),
    ("Queue/RED", "bytes_", "true"),
    ("Queue/RED", "queue_in_bytes_", "true"),
    ("Queue/RED", "thresh_", "0"),
    ("Queue/RED", "maxthresh_", "0"),
    ("Queue/RED", "mean_pktsize_", "500"),
    ("Queue/RED", "q_weight_", "-1"),
    ("Queue/RED", "linterm_", "10"),
    ("Queue/RED", "targetdelay_", "0.005"),
    ("Queue/RED", "setbit_", "false"),
    ("Queue/RED", "gentle_", "true"),
    ("Queue/RED", "adaptive_", "0"),
    ("Queue/RED", "drop_tail_", "true"),
    ("Queue/RED", "drop_front_", "false"),
    ("Queue/RED", "drop_rand_", "false"),
    ("Queue/RED", "wait_", "true"),
    ("Queue/RED", "mark_p_", "0.1"),
    ("Queue/RED", "use_mark_p_", "true"),
    ("Queue/RED", "cautious_", "0"),
    ("Queue/RED", "idle_pktsize_", "100"),
    ("Queue/RED", "ns1_compat_", "false"),
    ("Queue/RED", "doubleq_", "false"),
    ("Queue/RED", "dqthresh_", "50"),
    ("Queue/RED", "feng_adaptive_", "0"),
    ("Queue/RED", "alpha_", "0.01"),
    ("Queue/RED", "beta_", "0.9"),
    ("Queue/RED", "interval_", "0.5"),
    ("Queue/RED", "top_", "0.5"),
    ("Queue/RED", "bottom_", "0"),
    ("Queue/DropTail", "drop_front_", "false"),
    ("Queue", "summarystats_", "false"),
    ("Queue", "blocked_", "false"),
    ("Queue", "unblock_on_resume_", "true"),
    ("Queue", "debug_", "false"),
    ("Queue/DRR", "buckets_", "10"),
    ("Queue/DRR", "blimit_", "25000"),
    ("Queue/DRR", "quantum_", "250"),
    ("Queue/CoDel", "target_", "0.005"),
    ("Queue/CoDel", "interval_", "0.1"),
    ("Agent/TCP", "window_", "20"),
    ("Agent/TCP", "maxcwnd_", "0"),
    ("Agent/TCP", "packetSize_", "1000"),
    ("Agent/TCP/FullTcp", "segsize_", "536"),
    ("Agent/UDP", "packetSize_", "1000"),
    ("Agent/Ping", "packetSize_", "64"),
    ("Agent/CBR", "packetSize_", "210"),
    ("Agent/CBR", "interval_", "0.00375"),
    ("Application/Telnet", "interval_", "1.0"),
    ("Application/Traffic", "packetSize_", "210"),
    ("Application/Traffic", "random_", "0"),
    ("Application/Traffic/CBR", "rate_", "448Kb"),
    ("Application/Traffic", "rate_", "64Kb"),
    ("Application/Traffic", "burst_time_", "500ms"),
    ("Application/Traffic", "idle_time_", "500ms"),
    ("Application/Traffic/Pareto", "shape_", "1.5"),
    ("ErrorModel", "rate_", "0"),
];

/// What Emulab has where ns-2.35 has something else ("RED and GRED" in its manual; the values of ns-2 before 2001).
pub(super) const OF_EMULAB: [(&str, &str, &str); 7] = [
    ("Queue/RED", "bytes_", "false"),
    ("Queue/RED", "queue_in_bytes_", "false"),
    ("Queue/RED", "thresh_", "5"),
    ("Queue/RED", "maxthresh_", "15"),
    ("Queue/RED", "q_weight_", "0.002"),
    ("Queue/RED", "gentle_", "false"),
    // It is dummynet's RED there, whose drops are spread as in the paper.
    ("Queue/RED", "wait_", "false"),
];

/// The class and those above it, the nearest first.
pub(super) fn line_of(class: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(class), |below| Some(below.rsplit_once('/')?.0))
}

/// What ns-2 sets on a class by itself.
pub(super) fn built_in(class: &str, name: &str) -> Option<&'static str> {
    line_of(class).find_map(|above| {
        let found = BUILT_IN.iter().find(|(of, called, _)| *of == above && *called == name)?;
        Some(found.2)
    })
}

/// Whether two values of an attribute are the same one, however they are spelled: `true` and `1`, `0.10` and `.1`.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    let number = |text: &str| match text.trim().to_lowercase().as_str() {
        "true" | "yes" | "on" | "t" => Some(1.0),
        "false" | "no" | "off" | "f" => Some(0.0),
        digits => digits.parse::<f64>().ok(),
    };
    one == other || number(one).is_some_and(|value| number(other) == Some(value))
}

/// The name of an attribute as ns-2.35 writes it: `queue-in-bytes_` is an older spelling.
pub(super) fn underlined(name: &str) -> String {
    name.replace('-', "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_classes_hold_for_those_below() {
        assert_eq!(line_of("Agent/TCP/Newreno").collect::<Vec<_>>(), ["Agent/TCP/Newreno", "Agent/TCP", "Agent"]);
        assert_eq!(built_in("Agent/TCP/Newreno", "window_"), Some("20"));
        assert_eq!(built_in("Application/Traffic/CBR", "rate_"), Some("448Kb"));
        assert_eq!(built_in("Application/Traffic/Pareto", "rate_"), Some("64Kb"));
        assert_eq!(built_in("Agent/TCP", "fid_"), None);
        assert_eq!(built_in("Queue/RED", "summarystats_"), Some("false"));
    }

    #[test]
    fn values_are_the_same_however_they_are_spelled() {
        assert!(is_same("TRUE", "1") && is_same("0.10", ".1") && is_same("64Kb", "64Kb"));
        assert!(!is_same("true", "0") && !is_same("64Kb", "64"));
    }
}
