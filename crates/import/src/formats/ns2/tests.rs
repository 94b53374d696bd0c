use crate::{Format, Options};

fn notes(script: &str) -> Vec<String> {
    let imported = crate::read(Format::Ns2, "t.tcl", script.to_owned(), &Options::default()).expect("a network");
    imported.notes().collect()
}

/// Whatever kind of object it is: what is set on it without effect, and what is called that it does not have, is noted with its line.
#[test]
fn nothing_that_is_set_or_called_is_left_out_in_silence() {
    let before = "set ns [new Simulator]; foreach x {a b c} { set $x [$ns node] }\n\
                  set link [$ns duplex-link $a $b 1Mb 1ms RED]; set lan [$ns make-lan \"$b $c\" 1Mb 0ms]\n\
                  set queue [[$ns link $a $b] queue]; set delay [[$ns link $a $b] link]\n\
                  set program [$a program-agent -command date]; set tcp [$ns create-connection TCP $a TCPSink $b 0]\n\
                  set ftp [$tcp attach-app FTP]; set em [new ErrorModel]; set odd [new Some/Class]\n\
                  $ns lossmodel $em $a $b; $ns at 1 \"$program start\"; $ns at 1 \"$ftp start\"\n";
    for object in
        ["$ns", "$a", "$link", "$lan", "$queue", "$delay", "$program", "$tcp", "$ftp", "$em", "$odd", "Agent/TCP"]
    {
        for said in ["frobnicate 1", "set frob_ 1"] {
            let found = notes(&format!("{before}{object} {said}\n$ns run\n"));
            let word = said.split(' ').find(|word| word.starts_with("frob")).unwrap_or_default();
            let is_told = |note: &String| {
                note.starts_with("t.tcl:7: ")
                    && (note.contains(word) || note.contains("`set`") || note.contains("`$ns set`"))
            };
            assert!(found.iter().any(is_told), "{object} {said}: {found:#?}");
        }
        // Later, too.
        let found = notes(&format!("{before}$ns at 2 \"{object} set frob_ 1\"\n$ns run\n"));
        assert!(found.iter().any(|note| note.starts_with("t.tcl:7: ")), "{object}: {found:#?}");
    }
}

#[test]
fn what_is_used_is_not_noted() {
    let script = "set ns [new Simulator]; set a [$ns node]; set b [$ns node]\n\
                  Agent/UDP set packetSize_ 1500\n\
                  $ns duplex-link $a $b 1Mb 1ms DropTail\n\
                  set u [$ns create-connection UDP $a Null $b 0]; set cbr [$u attach-app Traffic/CBR]\n\
                  $cbr set packetSize_ 1200; $cbr set rate_ 64k; $cbr set random_ 0\n\
                  $ns at 1 \"$cbr start\"; $ns at 2 \"exit 0\"; $ns run\n";
    assert_eq!(notes(script), Vec::<String>::new());
}

#[test]
fn arguments_are_those_of_tcl() {
    let script = "set ns [new Simulator]; set a [$ns node]; set b [$ns node]\n\
                  $ns duplex-link $a $b [lindex $argv 1] 1ms DropTail\nif {$argc != 2} { error $argc }\n$ns run\n";
    let options = Options { arguments: crate::words("{a b} 3Mb"), ..Options::default() };
    let imported = crate::read(Format::Ns2, "t.tcl", script.to_owned(), &options).expect("a network");
    assert!(imported.yaml().contains("rate: 3 Mbit/s") && imported.notes().count() == 0, "{}", imported.yaml());
    let refused = crate::read(Format::Ns2, "t.tcl", script.to_owned(), &Options::default()).expect_err("no bandwidth");
    assert!(refused.to_string().contains("in line 2, and has none: give them with --args"), "{refused}");
}

#[test]
fn many_changes_of_sources_end() {
    let script = "set ns [new Simulator]; set a [$ns node]; set b [$ns node]\n$ns duplex-link $a $b 1Mb 1ms DropTail\n\
                  set u [$ns create-connection UDP $a Null $b 0]; set cbr [$u attach-app Traffic/CBR]; $cbr start\n\
                  proc again {} { global ns cbr; $cbr set rate_ [expr 1000 + round(1000 * [$ns now])]; $ns after 0.01 again }\n\
                  $ns at 0.01 again; $ns run\n";
    let found = notes(script);
    assert!(found.iter().any(|note| note.contains("only the first 20000 events are read")), "{found:#?}");
}

/// What a queue of RED becomes with these settings of its class, and what is noted.
fn red(settings: &str) -> (String, Vec<String>) {
    let script = format!(
        "set ns [new Simulator]; set a [$ns node]; set b [$ns node]\n{settings}\n$ns duplex-link $a $b 10Mb 10ms RED\n$ns run\n"
    );
    let imported = crate::read(Format::Ns2, "t.tcl", script, &Options::default()).expect("a network");
    let queue = imported.yaml().lines().find(|line| line.contains("queue:")).unwrap_or_default().to_owned();
    (queue, imported.notes().collect())
}

#[test]
fn red_has_what_ns_2_sets_or_a_note_says_what_follows() {
    let (usual, notes) = red("");
    assert!(usual.contains("gentle: true, byte_mode: true, wait: true, mean_packet: 500 B"), "{usual}");
    assert_eq!(notes, Vec::<String>::new());
    // As they are anyway, however they are spelled; statistics; and what has no effect without another one.
    for silent in [
        "Queue/RED set gentle_ 1; Queue/RED set bytes_ TRUE; Queue/RED set linterm_ 10.0; Queue/RED set wait_ true",
        "Queue/RED set summarystats_ true; Queue/RED set ns1-compat_ false",
        "Queue/RED set alpha_ 0.02; Queue/RED set top_ 1; Queue/RED set drop_tail_ false; Queue/RED set idle_pktsize_ 40",
    ] {
        assert_eq!(red(silent), (usual.clone(), Vec::new()), "{silent}");
    }
    let (plain, none) = red("Queue/RED set wait_ false; Queue/RED set gentle_ false; Queue/RED set bytes_ false");
    assert!(!plain.contains("wait") && !plain.contains("gentle") && !plain.contains("byte_mode"), "{plain}");
    assert_eq!(none, Vec::<String>::new());
    for (said, wanted) in [
        ("adaptive_ 1", "adapts its probability"),
        ("cautious_ 1", "drops less in ns-2"),
        ("cautious_ 3", "falls faster on an idle link"),
        ("drop_front_ true", "drops the packet at the head of the queue"),
        ("drop_rand_ 1", "at a random place"),
        ("setbit_ true; Queue/RED set linterm_ 50", "marks while its probability is below `mark_p_`, 0.1"),
        ("setbit_ true; Queue/RED set use_mark_p_ false", "marks above maxthresh_, too"),
        ("doubleq_ true", "`doubleq_` of Queue/RED has no effect"),
    ] {
        let (_, found) = red(&format!("Queue/RED set {said}"));
        assert!(found.iter().any(|note| note.contains(wanted)), "{said}: {found:#?}");
    }
    let marked = red("Queue/RED set setbit_ true");
    assert!(marked.0.contains("ecn: true") && marked.1.is_empty(), "{marked:?}");
}

#[test]
fn a_queue_may_drop_at_its_head() {
    let script = "set ns [new Simulator]; set a [$ns node]; set b [$ns node]\nQueue/DropTail set drop-front_ true\n\
                  $ns duplex-link $a $b 10Mb 10ms DropTail\n$ns run\n";
    let imported = crate::read(Format::Ns2, "t.tcl", script.to_owned(), &Options::default()).expect("a network");
    assert!(imported.yaml().contains("queue: {kind: fifo, limit: 50 packets, drop: head}"), "{}", imported.yaml());
    assert!(imported.parse(None).is_ok() && imported.notes().count() == 0);
}
