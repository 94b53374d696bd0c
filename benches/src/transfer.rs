//! Transfers by iperf3, and what they achieved.

use serde_json::Value;

/// Where the server listens.
pub(crate) const START_SERVER: &str = "iperf3 --server --daemon --json";

/// A TCP segment of 1,448 bytes with timestamps is 1,500 bytes of IP.
pub(crate) const TCP_SHARE: f64 = 1_448.0 / 1_500.0;

/// The goodput at the receiver in bits per second.
///
/// The first and the last of the receiver's one-second intervals are left out: they hold the beginning and the end.
pub(crate) fn received(json: &str) -> Result<f64, String> {
    let sums = inner(json)?;
    let (bytes, seconds) = sums.iter().fold((0.0, 0.0), |(bytes, seconds), sum| (bytes + sum.0, seconds + sum.1));
    if seconds > 0.0 { Ok(bytes * 8.0 / seconds) } else { Err("the transfer was too short".to_owned()) }
}

/// The same for each of these intervals.
pub(crate) fn seconds(json: &str) -> Result<Vec<f64>, String> {
    Ok(inner(json)?.iter().map(|(bytes, seconds)| bytes * 8.0 / seconds).collect())
}

/// Bytes and seconds of the receiver's inner intervals; of a transfer without any, of all that it has.
fn inner(json: &str) -> Result<Vec<(f64, f64)>, String> {
    let root: Value = serde_json::from_str(json).map_err(|error| format!("iperf3's output: {error}"))?;
    if let Some(error) = root.get("error") {
        return Err(format!("iperf3: {error}"));
    }
    let intervals = root["server_output_json"]["intervals"].as_array().ok_or("iperf3 gave no server output")?;
    let sums: Vec<(f64, f64)> = intervals.iter().filter_map(sum).filter(|(_, seconds)| *seconds > 0.0).collect();
    match sums.len() {
        0..3 => Ok(sums),
        count => Ok(sums[1..count - 1].to_vec()),
    }
}

fn sum(interval: &Value) -> Option<(f64, f64)> {
    Some((interval["sum"]["bytes"].as_f64()?, interval["sum"]["seconds"].as_f64()?))
}

/// The client's command for a TCP transfer. CUBIC where the kernel allows it to be chosen, since BBR probes below the
/// rate on purpose.
pub(crate) fn tcp(target: &str, seconds: u32) -> String {
    let options = format!("-t {seconds} --json --get-server-output");
    format!("iperf3 -4 -c {target} -C cubic {options} || iperf3 -4 -c {target} {options}")
}

/// The same with the client on one processor and the server on another: where the scheduler puts them decides more than
/// the path between them, and changes from run to run.
pub(crate) fn pinned_tcp(target: &str, seconds: u32) -> String {
    tcp(target, seconds).replace("--json", "-A 0,1 --json")
}

/// The client's command for several TCP streams at once.
pub(crate) fn several(target: &str, seconds: u32, streams: u32) -> String {
    tcp(target, seconds).replace("--json", &format!("-P {streams} --json"))
}

/// The client's command for UDP datagrams of 1,470 bytes, offered at `rate` bits per second. The receiver's socket gets
/// room for 4 MB, so that a receiver without a processor for a moment loses nothing: the line is measured, not iperf3.
pub(crate) fn udp(target: &str, seconds: u32, rate: f64) -> String {
    format!("iperf3 -4 -c {target} -u -l 1470 -w 4M -b {rate:.0} -t {seconds} --json --get-server-output")
}
