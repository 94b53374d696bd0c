use super::*;
use crate::fabric::{device_specs, pipe_specs};
use netloom_link::RateConfig;
use netloom_units::Rate;

fn read(text: &str) -> Result<String, String> {
    parse_match(text).map(|filter| write_match(&filter)).map_err(|error| error.to_string())
}

#[test]
fn words_mean_what_a_lab_file_says() {
    for (words, keys) in [
        ("to 10.1.0.0/16", "{to: 10.1.0.0/16}"),
        (
            "from 10.0.0.1,10.0.0.2 udp to-port 53,5000-6000",
            "{from: [10.0.0.1/32, 10.0.0.2/32], protocol: udp, to_port: [53, 5000-6000]}",
        ),
        ("to fd00::/64 proto 253 dscp 46", "{to: \"fd00::/64\", protocol: 253, dscp: 46}"),
        ("tcp,udp dst-port 1 src-port 2", "{protocol: [tcp, udp], from_port: 2, to_port: 1}"),
        ("user alice,1000-1999 tcp group 0", "{protocol: tcp, user: [alice, 1000-1999], group: 0}"),
        ("uid 1000 gid www-data", "{user: 1000, group: www-data}"),
        (" {to: 10.1.0.0/16, port: 80}", "{to: 10.1.0.0/16, port: 80}"),
    ] {
        assert_eq!(read(words).as_deref(), Ok(keys), "{words}");
        // What is shown can be given again.
        assert_eq!(read(keys).as_deref(), Ok(keys), "{keys}");
    }
}

#[test]
fn what_cannot_be_meant_is_told() {
    for (words, expected) in [
        ("", "match: it says nothing"),
        ("to", "match: nothing stands behind `to`"),
        ("443", "match: `443` stands where a word should"),
        ("tpc", "match: `tpc` is not known here: did you mean `tcp`?"),
        ("to 10.0.0.0/99", "match: \"10.0.0.0/99\""),
        ("to server1", "match: `server1`: the names of nodes are known in lab files only"),
        ("icmp port 80", "match: these protocols have no ports"),
        ("tcp udp", "match:"),
        ("to a\"b", "match:"),
        ("user -5", "match: \"-5\" is neither a name nor a number"),
        ("user 4294967295", "match: \"4294967295\" is neither a name nor a number"),
        ("group 9-8", "match: the range 9-8 ends before it begins"),
        ("user a;b", "match: \"a;b\" is neither a name nor a number"),
        ("{user: []}", "match: this list is empty"),
        ("{}", "match: an empty filter matches everything"),
        ("{to: [}", "match:"),
    ] {
        let wrong = read(words).expect_err(words);
        assert!(wrong.starts_with(expected), "{words}: {wrong}");
    }
}

#[test]
fn a_shape_is_two_pipes_and_nothing_else() {
    let rate = RateConfig::Constant(Rate::from_bits_per_second(1_000_000).expect("a rate"));
    let matching = parse_match("to 10.1.0.0/16").expect("a match");
    let pipes = [PipeConfig { rate: rate.clone(), ..PipeConfig::default() }, PipeConfig::default()];
    let shape = Shape { matching: matching.clone(), is_one_way: true, pipes };
    let plan = shape.plan("web").expect("a plan");
    assert_eq!(plan.diversion, Some(DiversionPlan { matching, is_one_way: true, queue: None }));
    assert_eq!((plan.name.as_str(), plan.nodes.len(), device_specs(&plan).len()), ("web", 2, 0));
    let specs = pipe_specs(&plan);
    assert_eq!((specs.len(), &specs[0].config.rate, &specs[1].config.rate), (2, &rate, &RateConfig::Unlimited));
    for name in ["", "a b", "../x", "No", "more-than-20-characters"] {
        let unnamed = Shape { matching: Match::default(), is_one_way: false, pipes: Default::default() };
        assert!(unnamed.plan(name).is_err(), "{name}");
    }
}

#[test]
fn a_file_says_both_directions() {
    let path = std::env::temp_dir().join(format!("netloom-shape-{}.yaml", std::process::id()));
    let load = |text: &str| {
        std::fs::write(&path, text).expect("a file");
        Shape::load(&path).map_err(|wrong| wrong.to_string())
    };
    let shape = load("match: {to: 10.1.0.0/16}\ndelay: 20 ms\nbackward: {rate: 1 Mbit/s}\n").expect("a shape");
    assert_eq!(load(&shape.text()).as_ref(), Ok(&shape));
    assert!(load(&Shape { is_one_way: true, ..shape.clone() }.text()).expect("a shape").is_one_way);
    assert_eq!(shape.pipes[0].delay, shape.pipes[1].delay);
    assert_eq!(shape.pipes[0].rate, RateConfig::Unlimited);
    assert_ne!(shape.pipes[1].rate, RateConfig::Unlimited);
    for (text, expected) in [
        ("delay: 20 ms\n", "match"),
        ("match: {to: 10.1.0.0/16}\ndely: 20 ms\n", "did you mean `delay`?"),
        (
            "match: {to: 10.1.0.0/16}\nforward: {pipes: {a: {match: {to: 10.1.0.1}}}}\n",
            "a shape has one pipe in each direction",
        ),
        ("match: {to: here}\n", "the names of nodes are known in lab files only"),
        ("[", ""),
    ] {
        let wrong = load(text).expect_err(text);
        assert!(wrong.contains(expected), "{text}: {wrong}");
    }
    std::fs::remove_file(&path).expect("it is there");
    assert!(Shape::load(&path).is_err());
}
