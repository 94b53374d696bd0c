//! Commands behind links: how long a link takes to be made and removed, and what nested ones carry.

use crate::bare::JOIN;
use crate::emulators;
use crate::plain::{self, APART, LAST, SERVER, VETH};
use crate::row::{Goal, Row, median, number};
use crate::settings::Settings;
use crate::streams::gbit;
use crate::transfer;

/// The same link made and removed by hand: two namespaces, two veth pairs, the bare loop between them, translated addresses.
const BY_HAND: &str = "by ip, iptables and the bare loop";
/// Of [`BY_HAND`].
const OF_HAND: f64 = 0.8;
/// Of the stream through as many bare loops, which bound what a process for each link carries.
const OF_BARE: f64 = 0.9;
const NESTED: usize = 3;
/// It refuses root, and a network that does not forward.
const MAHIMAHI: &str = "echo 1 > /proc/sys/net/ipv4/ip_forward && \
     setpriv --reuid=65534 --regid=65534 --clear-groups mm-delay 1 true";
/// Between as many links of a chain.
const ROUTERS: u32 = 2;

pub(crate) fn run(settings: &Settings) -> Result<Vec<Row>, String> {
    let (mut bare, mut hand, mut ours) = (Vec::new(), Vec::new(), [Vec::new(), Vec::new()]);
    let made = by_hand()?;
    for _ in 0..settings.rounds(7) {
        bare.push(took(settings, "true")?);
        hand.push(took(settings, &made)?);
        for (depth, samples) in [1, 10].into_iter().zip(&mut ours) {
            samples.push(took(settings, &behind(settings, depth, "true"))?);
        }
    }
    let without = median(&bare)?;
    let over = |samples: Vec<f64>| samples.into_iter().map(|sample| sample - without).collect::<Vec<f64>>();
    let ([one, ten], hand) = (ours.map(over), over(hand));
    let ten_by_hand = hand.iter().map(|sample| sample * 10.0).collect();
    let theirs = match emulators::mahimahi(settings) {
        Ok(_) => {
            let samples = (0..settings.rounds(7)).map(|_| took(settings, MAHIMAHI)).collect::<Result<Vec<_>, _>>();
            format!("mahimahi's mm-delay: {} ms", number(median(&over(samples?))?))
        }
        Err(reason) => format!("mahimahi: {reason}"),
    };
    let goal = Goal::AtMost(OF_HAND);
    let one = Row::number("`link shell -- true`, beyond `true`", "ms", one)?;
    let one = one.against(BY_HAND, hand).goal(goal).remark(theirs);
    let ten = Row::number("the same ten deep", "ms", ten)?.against(BY_HAND, ten_by_hand).goal(goal);
    Ok(vec![one, ten, stream(settings)?])
}

fn stream(settings: &Settings) -> Result<Row, String> {
    let seconds = if settings.quick { 1 } else { 3 };
    let transfer = transfer::tcp(SERVER, seconds);
    let quoted = transfer.replace('\'', "'\\''");
    let nested = behind(settings, NESTED, &format!("sh -c '{quoted}'"));
    let (mut direct, mut bare, mut ours) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..settings.rounds(3) {
        direct.push(gbit(&plain::shell(settings, &transfer)?)?);
        bare.push(gbit(&plain::joined_apart(settings, ROUTERS, &transfer::tcp(LAST, seconds))?)?);
        ours.push(gbit(&plain::shell(settings, &nested)?)?);
    }
    let what = format!("one TCP stream through {NESTED} links, one inside the other");
    let beside = format!("{VETH}: {} Gbit/s", number(median(&direct)?));
    Ok(Row::number(what, "Gbit/s", ours)?.against(APART, bare).goal(Goal::AtLeast(OF_BARE)).remark(beside))
}

/// `true` behind a link that is made and removed by hand.
fn by_hand() -> Result<String, String> {
    Ok(format!(
        "(set -e; ip netns add inside; ip netns add engine; \
         ip link add hand0 type veth peer name p1 netns engine; \
         ip link add eth0 netns inside type veth peer name p0 netns engine; \
         ip addr add 100.64.9.1/30 dev hand0; ip link set hand0 up; \
         ip -n engine link set p0 up; ip -n engine link set p1 up; \
         ip -n inside addr add 100.64.9.2/30 dev eth0; ip -n inside link set lo up; ip -n inside link set eth0 up; \
         ip -n inside route add default via 100.64.9.1; echo 1 > /proc/sys/net/ipv4/ip_forward; \
         iptables -t nat -A POSTROUTING -s 100.64.9.0/30 -j MASQUERADE; \
         ip netns exec engine {} {JOIN} p0 p1 & joining=$!; \
         until ip netns exec inside ping -q -c 1 -W 0.02 100.64.9.1; do :; done; \
         ip netns exec inside true; \
         kill $joining; wait $joining || true; \
         iptables -t nat -D POSTROUTING -s 100.64.9.0/30 -j MASQUERADE; \
         ip netns del inside; ip netns del engine)",
        plain::program()?
    ))
}

/// The command behind so many links.
fn behind(settings: &Settings, depth: usize, command: &str) -> String {
    format!("{} link shell -- ", settings.netloom.display()).repeat(depth) + command
}

/// Milliseconds that the command takes on one end of a plain veth pair.
fn took(settings: &Settings, command: &str) -> Result<f64, String> {
    let script = format!("begin=$(date +%s%N); {command} >&2 && echo $(($(date +%s%N) - begin))");
    let told = plain::shell(settings, &script)?;
    let ns: f64 = told.trim().parse().map_err(|_| format!("`{command}` told {told:?}"))?;
    Ok(ns / 1e6)
}
