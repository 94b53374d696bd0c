//! Transfers by iperf3, and what they achieved.

use serde_json::Value;

/// Starts the server, and waits until it listens (port 5201): the program goes to the background before.
pub(crate) const START_SERVER: &str = "iperf3 --server --daemon --json; for try in $(seq 100); do \
     grep -qs ':1451 .* 0A ' /proc/net/tcp /proc/net/tcp6 && exit; sleep 0.05; done; exit 1";

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

/// All bytes that the receiver got.
pub(crate) fn bytes(json: &str) -> Result<f64, String> {
    let root: Value = serde_json::from_str(json).map_err(|error| format!("iperf3's output: {error}"))?;
    root["end"]["sum_received"]["bytes"].as_f64().ok_or_else(|| format!("iperf3: {}", root["error"]))
}

/// The goodput in each of the inner intervals.
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
/// rate on purpose; iperf3 that may not choose it says so in its output, and ends as if all were well.
pub(crate) fn tcp(target: &str, seconds: u32) -> String {
    let transfer = format!("iperf3 -4 -c {target} -t {seconds} --json --get-server-output");
    format!(
        "told=$({transfer} -C cubic); \
         case $told in *TCP_CONGESTION*) {transfer} ;; *) printf '%s\\n' \"$told\" ;; esac"
    )
}

/// What governed the sender, as iperf3 tells it.
pub(crate) fn congestion_control(json: &str) -> String {
    let root: Value = serde_json::from_str(json).unwrap_or_default();
    root["end"]["sender_tcp_congestion"].as_str().unwrap_or("unknown").to_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_second_do_not_count_where_there_are_others() {
        let transfer = |bytes: &[u64]| {
            let sums: Vec<Value> =
                bytes.iter().map(|bytes| serde_json::json!({"sum": {"bytes": bytes, "seconds": 1.0}})).collect();
            serde_json::json!({
                "server_output_json": {"intervals": sums},
                "end": {"sender_tcp_congestion": "cubic"},
            })
            .to_string()
        };
        assert_eq!(received(&transfer(&[1, 1_000, 3_000, 7])), Ok(16_000.0));
        assert_eq!(seconds(&transfer(&[1, 1_000, 3_000, 7])), Ok(vec![8_000.0, 24_000.0]));
        assert_eq!(received(&transfer(&[1_000, 2_000])), Ok(12_000.0));
        assert!(received(&transfer(&[])).is_err());
        assert_eq!(congestion_control(&transfer(&[])), "cubic");
        assert!(received("{\"error\": \"no route\"}").is_err_and(|said| said.contains("no route")));
    }
}
