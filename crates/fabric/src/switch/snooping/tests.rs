use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn second(number: u64) -> Instant {
    Instant::ZERO + SECOND * number
}

fn group(number: u8) -> (u16, IpAddr) {
    (1, Ipv4Addr::new(239, 0, 0, number).into())
}

/// Against a plain list that forgets what is too old at every step: the same members, in bounded room, and no question about who is gone.
#[test]
fn it_knows_what_a_list_knows_and_never_more_than_it_may() {
    for capacity in [1, 4, 30] {
        let mut groups = Groups::new(capacity);
        let mut naive: Vec<((u16, IpAddr), usize, Instant)> = Vec::new();
        let mut state: u64 = 1;
        let mut now = Instant::ZERO;
        for _ in 0..30_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            now = now + Duration::from_millis(state >> 54);
            let key = group(u8::try_from((state >> 33) % 20).expect("small"));
            let place = (state >> 20) as usize % 3;
            naive.retain(|(_, _, until)| *until > now);
            match (state >> 15) % 8 {
                0 => {
                    groups.forget(|own| own == place);
                    naive.retain(|(_, own, _)| *own != place);
                }
                1 => {
                    groups.leave(key, place);
                    naive.retain(|(own, at, _)| *own != key || *at != place);
                }
                2 => {
                    groups.shorten(key, place, now + SECOND);
                    groups.ask(key, place, 2, now + SECOND);
                    let own = naive.iter_mut().filter(|(own, at, _)| *own == key && *at == place);
                    own.for_each(|(_, _, until)| *until = (*until).min(now + SECOND));
                }
                3 => while groups.take_ask(now, SECOND).is_some() {},
                _ => {
                    let until = now + SECOND * 10;
                    let known = naive.iter_mut().find(|(own, at, _)| *own == key && *at == place);
                    match (groups.join(now, key, place, until, false), known) {
                        (Joined::Again, Some((_, _, own))) => *own = until,
                        (Joined::New, None) => naive.push((key, place, until)),
                        (Joined::NoRoom, None) => assert!(!naive.is_empty(), "an empty table has room"),
                        (joined, known) => panic!("{joined:?} {known:?}"),
                    }
                }
            }
            let mut members: Vec<usize> = naive.iter().filter(|(own, ..)| *own == key).map(|(_, at, _)| *at).collect();
            members.sort_unstable();
            assert_eq!(groups.members(now, key), members);
            naive.sort_unstable();
            assert_eq!(groups.all(now).collect::<Vec<_>>(), naive);
        }
        let mut known: Vec<_> = groups.all(now).map(|(key, ..)| key).collect();
        known.dedup();
        assert!(known.len() <= capacity);
    }
}

/// Until the last question, each comes so much later than the one before; whoever reports is asked no more.
#[test]
fn questions_are_asked_so_often() {
    let mut groups = Groups::new(10);
    groups.join(second(1), group(1), 0, second(100), false);
    groups.ask(group(1), 0, 3, second(2));
    groups.ask(group(1), 0, 3, second(2));
    assert_eq!(groups.due(), Some(second(2)));
    assert_eq!(groups.take_ask(second(1), SECOND), None);
    for at in 2..5 {
        assert_eq!(groups.take_ask(second(at), SECOND), Some((group(1), 0)));
        assert_eq!(groups.take_ask(second(at), SECOND), None);
    }
    assert_eq!(groups.due(), None);
    groups.ask(group(1), 0, 3, second(6));
    groups.join(second(5), group(1), 0, second(100), false);
    assert_eq!(groups.due(), None);
    groups.ask(group(1), 0, 3, second(6));
    groups.forget(|_| true);
    assert_eq!(groups.due(), None);
}

/// After a change of the tree everything goes everywhere: until those have answered whom the switch asks at once, or whom another asks
/// next (RFC 4541, section 2.1.1).
#[test]
fn a_change_of_the_tree_makes_unsure() {
    let timing = Timing { robustness: 2, interval: SECOND * 125, response: SECOND * 10 };
    let mut lan = Lan::new(timing, Some(Instant::ZERO));
    assert_eq!(lan.ask(Instant::ZERO), Some(SECOND));
    assert!(lan.is_new(Instant::ZERO) && !lan.is_new(second(1)) && !lan.is_unsure(Instant::ZERO));
    lan.be_unsure(second(50));
    assert!(lan.is_unsure(second(309)) && !lan.is_unsure(second(310)));
    lan.ask_anew(second(50));
    assert_eq!((lan.due(), lan.ask(second(50))), (Some(second(50)), Some(SECOND)));
    assert!(lan.is_unsure(second(50)) && !lan.is_unsure(second(51)));
    let address: IpAddr = Ipv4Addr::new(10, 0, 0, 1).into();
    let query = Query {
        source: address,
        group: None,
        response: SECOND * 10,
        robustness: None,
        interval: None,
        is_quiet: false,
    };
    assert!(lan.hear_query(second(60), 1, &query, Some(Ipv4Addr::new(10, 0, 0, 2).into())));
    lan.be_unsure(second(100));
    lan.ask_anew(second(100));
    assert_eq!((lan.due(), lan.ask(second(100))), (Some(second(315)), None), "another asks");
    assert!(lan.is_unsure(second(150)));
    assert!(lan.hear_query(second(185), 1, &query, Some(Ipv4Addr::new(10, 0, 0, 2).into())));
    assert!(lan.is_unsure(second(194)) && !lan.is_unsure(second(195)));
}
