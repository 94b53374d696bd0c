//! Lab time that clients let go on step by step, in virtual time.

use crate::client::{Client, socket_of};
use crate::fixture::{Finished, Fixture, User};
use crate::wait::wait_until;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::process::Stdio;
use std::thread::sleep;
use std::time::Duration;

const LAB: &str = "
clock: virtual
nodes: [a, b]
links: {l: {ends: [a, b], rate: 10 Mbit/s, delay: 5 ms}}
timeline:
  - {on: a, run: 'while sleep 0.05; do echo tick; done', as: ticker, service: true}
";

const MS: u64 = 1_000_000;

fn advance(client: &mut Client, ms: u64) -> Value {
    let now = client.ask(&format!(r#"{{"request":"advance","by_ns":{}}}"#, ms * MS));
    assert_eq!((&now["reply"], &now["paused"]), (&"now".into(), &true.into()), "{now}");
    now
}

#[test]
fn a_lab_in_virtual_time_goes_on_step_by_step() {
    for user in User::some() {
        let fixture = Fixture::with_kernel(user);
        fixture.write("steps.yaml", LAB);
        let up = fixture.netloom(&["up", "steps.yaml"]).expect_code(0);
        assert!(up.stderr.contains("its time stands still: netloom advance steps 1s"), "{up:#?}");
        let mut client = Client::connect(&fixture, "steps");
        time_stands_still_between_steps(&mut client);
        a_step_tells_what_happened_in_it(&fixture);
        programs_run_while_time_goes_on(&fixture, &mut client);
        a_program_whose_time_stands_still_can_be_left(&fixture);
        one_client_at_a_time_advances(&fixture, &mut client);
        a_cut_by_hand_ends_when_its_time_has_passed(&fixture, &mut client);
        time_goes_on_and_is_held_again(&fixture, &mut client);
        fixture.netloom(&["down"]).expect_code(0);
        fixture.assert_nothing_is_left("steps");
    }
}

fn time_stands_still_between_steps(client: &mut Client) {
    let zero = client.ask(r#"{"request":"now"}"#);
    assert_eq!((&zero["since_zero_ns"], &zero["paused"], &zero["clock"]), (&0.into(), &true.into(), &"virtual".into()));
    assert_eq!(client.ask(r#"{"request":"info"}"#)["paused"], true);
    sleep(Duration::from_millis(300));
    assert_eq!(client.ask(r#"{"request":"now"}"#), zero);
    assert_eq!(advance(client, 100)["since_zero_ns"], 100 * MS);
    assert_eq!(advance(client, 0)["since_zero_ns"], 100 * MS);
    // Requests behind a step are answered after it, in their order.
    client.send(r#"{"id":1,"request":"advance","by_ns":1}"#);
    client.send(r#"{"id":2,"request":"now"}"#);
    for id in [1, 2] {
        let now = client.next();
        assert_eq!((&now["id"], &now["since_zero_ns"]), (&id.into(), &(100 * MS + 1).into()));
    }
}

/// Whatever happens until the instant of the reply comes before it: samples at their instants, and what programs wrote.
fn a_step_tells_what_happened_in_it(fixture: &Fixture) {
    let mut client = Client::connect(fixture, "steps");
    let begin = client.ask(r#"{"request":"subscribe","events":"stats","every_ns":20000000}"#);
    assert_eq!(begin["reply"], "done");
    let first = client.next();
    let at = |sample: &Value| sample["at_ns"].as_u64().unwrap();
    client.ask(r#"{"request":"subscribe","events":"output","commands":["ticker"]}"#);
    let mut ticks = 0;
    for step in 0..10 {
        client.send(r#"{"request":"advance","by_ns":100000000}"#);
        let mut samples = Vec::new();
        loop {
            let message = client.next();
            match message["event"].as_str() {
                Some("stats") => samples.push((at(&message) - at(&first), message["lost"].as_u64().unwrap())),
                Some("output") => ticks += message["lines"].as_array().unwrap().len(),
                _ => break,
            }
        }
        let expected: Vec<(u64, u64)> = (1..=5).map(|sample| ((step * 100 + sample * 20) * MS, 0)).collect();
        assert_eq!(samples, expected);
        // It sleeps for 50 ms, and needs a little to start the next sleep.
        assert!(
            ticks > 2 * usize::try_from(step).unwrap() && ticks <= 2 * usize::try_from(step + 1).unwrap(),
            "{ticks}"
        );
    }
}

fn programs_run_while_time_goes_on(fixture: &Fixture, client: &mut Client) {
    let mut command = fixture.command(&["exec", "steps", "a", "--", "ping", "-c", "1", "b"]);
    let mut ping = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut steps = 0;
    while ping.try_wait().unwrap().is_none() {
        // It takes some wall time until it has been asked for.
        sleep(Duration::from_millis(5));
        advance(client, 10);
        steps += 1;
        assert!(steps < 10_000, "it does not end");
    }
    let output = ping.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("time=1"), "{text}");
    let printed = fixture.netloom(&["advance", "steps", "10ms"]).expect_code(0);
    assert!(printed.stdout.trim_end().ends_with('s'), "{printed:#?}");
}

fn a_program_whose_time_stands_still_can_be_left(fixture: &Fixture) {
    let told = fixture.netloom(&["exec", "steps", "nobody", "--", "true"]).expect_code(7);
    assert!(told.stderr.contains("steps: its time is paused"), "{told:#?}");
    let mut command = fixture.command(&["exec", "steps", "a", "--", "sleep", "1000"]);
    let sleeper = command.stderr(Stdio::piped()).spawn().unwrap();
    // Before it holds signals, it ends by this one; then it is no exit code.
    sleep(Duration::from_millis(300));
    kill(Pid::from_raw(sleeper.id().cast_signed()), Signal::SIGTERM).unwrap();
    let ended = Finished::of(&sleeper.wait_with_output().unwrap());
    assert!(matches!(ended.code, Some(143) | None), "{ended:#?}");
}

fn one_client_at_a_time_advances(fixture: &Fixture, client: &mut Client) {
    let far = format!(r#"{{"id":"far","request":"advance","by_ns":{}}}"#, u64::MAX);
    client.send(&far);
    let mut other = Client::connect(fixture, "steps");
    other.next_now_that(|now| now["paused"] == false);
    let refused = other.ask(r#"{"request":"advance","by_ns":1}"#);
    assert!(refused["message"].as_str().unwrap().contains("another client advances"), "{refused}");
    let held = other.ask(r#"{"request":"pause"}"#);
    let told = client.next();
    assert_eq!((&told["id"], &told["at_ns"], &told["paused"]), (&"far".into(), &held["at_ns"], &true.into()));
    // One that goes away needs no more time.
    let mut hasty = Client::connect(fixture, "steps");
    hasty.send(&far);
    other.next_now_that(|now| now["paused"] == false);
    drop(hasty);
    let stopped = other.next_now_that(|now| now["paused"] == true);
    assert_eq!(other.ask(r#"{"request":"now"}"#), stopped);
}

/// To the nanosecond of lab time, and though whoever has cut the link has gone; a later change of the state takes its place.
fn a_cut_by_hand_ends_when_its_time_has_passed(fixture: &Fixture, client: &mut Client) {
    fn is_up(client: &mut Client) -> [bool; 2] {
        let stats = client.ask(r#"{"request":"stats"}"#);
        [0, 1].map(|pipe| stats["pipes"][pipe]["up"].as_bool().unwrap())
    }
    let set = |change: &str| {
        let done = Client::connect(fixture, "steps").ask(&format!(r#"{{"request":"set","link":"l",{change}}}"#));
        assert_eq!(done["reply"], "done", "{change}: {done}");
    };
    // The step before was broken off: what was let go on then comes to an end.
    advance(client, 1);
    set(r#""changes":[["down","50 ms"]]"#);
    client.ask(&format!(r#"{{"request":"advance","by_ns":{}}}"#, 50 * MS - 1));
    assert_eq!(is_up(client), [false, false]);
    client.ask(r#"{"request":"advance","by_ns":1}"#);
    assert_eq!(is_up(client), [true, true]);
    // One direction is cut for good meanwhile: the other one comes back.
    set(r#""changes":[["down","{for: 50 ms}"]]"#);
    set(r#""direction":"forward","changes":[["down","true"]]"#);
    advance(client, 60);
    assert_eq!(is_up(client), [false, true]);
    set(r#""changes":[["up","true"]]"#);
    assert_eq!(is_up(client), [true, true]);
}

fn time_goes_on_and_is_held_again(fixture: &Fixture, client: &mut Client) {
    let listed = fixture.netloom(&["ps"]).expect_code(0);
    assert!(listed.stdout.contains("steps: its time is paused; netloom advance steps 1s"), "{listed:#?}");
    fixture.netloom(&["resume"]).expect_code(0);
    let begin = client.next_now_that(|now| now["paused"] == false);
    client.next_now_that(|now| now["at_ns"].as_u64().unwrap() > begin["at_ns"].as_u64().unwrap() + 1_000 * MS);
    fixture.netloom(&["pause"]).expect_code(0);
    let held = client.ask(r#"{"request":"now"}"#);
    assert_eq!(held["paused"], true);
    sleep(Duration::from_millis(100));
    assert_eq!(client.ask(r#"{"request":"now"}"#), held);
}

/// To run it takes minutes.
const RUN: &str = "
clock: virtual
nodes: [a, b]
links: {l: {ends: [a, b], delay: 5 ms}}
duration: 1000 h
";

#[test]
fn a_run_is_held_and_goes_on() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("held.yaml", RUN);
    let run =
        fixture.command(&["run", "held.yaml", "-q"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the socket", || socket_of(&fixture, "held").exists());
    let mut client = Client::connect(&fixture, "held");
    assert_eq!(client.ask(r#"{"request":"pause"}"#)["reply"], "now");
    let begin = client.next_now_that(|now| now["paused"] == true)["since_zero_ns"].as_u64().unwrap();
    assert_eq!(advance(&mut client, 100)["since_zero_ns"], begin + 100 * MS);
    assert_eq!(client.ask(r#"{"request":"resume"}"#)["paused"], false);
    client.next_now_that(|now| now["since_zero_ns"].as_u64().unwrap() > begin + 1_000 * MS);
    fixture.netloom(&["down"]).expect_code(0);
    let ended = Finished::of(&run.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(130), "{ended:#?}");
    fixture.assert_nothing_is_left("held");
}

#[test]
fn a_run_is_held_at_an_instant_that_is_told() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("until.yaml", &RUN.replace("1000 h", "3 s"));
    let told = ["run", "until.yaml", "-q", "--stop-at", "1.2345 s"];
    let run = fixture.command(&told).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("the socket", || socket_of(&fixture, "until").exists());
    let mut client = Client::connect(&fixture, "until");
    let held = client.next_now_that(|now| now["paused"] == true);
    assert_eq!(held["since_zero_ns"], 1_234_500_000_u64);
    assert_eq!(advance(&mut client, 1)["since_zero_ns"], 1_235_500_000_u64);
    fixture.netloom(&["resume", "until"]).expect_code(0);
    let ended = Finished::of(&run.wait_with_output().unwrap());
    assert_eq!(ended.code, Some(0), "{ended:#?}");
    fixture.assert_nothing_is_left("until");
    let refused = fixture.netloom(&["run", "until.yaml", "--clock", "real", "--stop-at", "1s"]).expect_code(2);
    assert!(refused.stderr.contains("only virtual time can be held"), "{refused:#?}");
}

#[test]
fn real_time_is_neither_held_nor_advanced() {
    let fixture = Fixture::new(User::Own);
    fixture.write("real.yaml", "nodes: [a, b]\nlinks: {l: {ends: [a, b]}}\n");
    fixture.netloom(&["up", "real.yaml", "-q"]).expect_code(0);
    let mut client = Client::connect(&fixture, "real");
    for request in
        [json!({"request": "advance", "by_ns": 1}), json!({"request": "pause"}), json!({"request": "resume"})]
    {
        let answer = client.ask(&request.to_string());
        assert_eq!((&answer["reply"], &answer["code"]), (&"refused".into(), &2.into()));
        assert!(answer["message"].as_str().unwrap().contains("has a real clock, which goes on by itself"), "{answer}");
    }
    let refused = fixture.netloom(&["advance", "real", "1s"]).expect_code(2);
    assert!(refused.stderr.contains("only virtual time can be held"), "{refused:#?}");
    fixture.netloom(&["down"]).expect_code(0);
}

/// Its program computes without end, so that no signal reaches it.
#[test]
fn a_lab_whose_time_cannot_go_on_is_taken_down() {
    let fixture = Fixture::with_kernel(User::Own);
    fixture.write("spin.yaml", &LAB.replace("while sleep 0.05; do echo tick; done", "sleep 0.1; while :; do :; done"));
    fixture.netloom(&["up", "spin.yaml", "-q"]).expect_code(0);
    let mut client = Client::connect(&fixture, "spin");
    client.send(r#"{"request":"advance","by_ns":1000000000}"#);
    let down = fixture.netloom(&["down", "spin"]).expect_code(1);
    assert!(down.stdout.contains("failed  ticker on a: did not end"), "{down:#?}");
    fixture.assert_nothing_is_left("spin");
}
