//! TCP connections over time, from `tcp.csv`.

use super::columns;
use crate::ReadError;
use crate::plots::tcp_connections;
use serde::Serialize;
use std::path::Path;

/// How many connections are drawn: those that sent most.
const MOST: usize = 16;

/// A connection. All columns have as many values as `t`.
#[derive(Debug, Default, Serialize)]
pub(super) struct Connection {
    node: String,
    connection: u64,
    local: String,
    remote: String,
    congestion: String,
    /// Seconds after time zero.
    #[serde(serialize_with = "columns::full")]
    t: Vec<f64>,
    #[serde(serialize_with = "columns::column")]
    cwnd_packets: Vec<Option<f64>>,
    #[serde(serialize_with = "columns::column")]
    ssthresh_packets: Vec<Option<f64>>,
    #[serde(serialize_with = "columns::column")]
    srtt_us: Vec<Option<f64>>,
    #[serde(serialize_with = "columns::column")]
    min_rtt_us: Vec<Option<f64>>,
    #[serde(serialize_with = "columns::column")]
    delivery_rate: Vec<Option<f64>>,
    #[serde(serialize_with = "columns::column")]
    bytes_sent: Vec<Option<f64>>,
    #[serde(serialize_with = "columns::column")]
    bytes_acked: Vec<Option<f64>>,
    #[serde(serialize_with = "columns::column")]
    bytes_received: Vec<Option<f64>>,
    #[serde(serialize_with = "columns::column")]
    retransmissions: Vec<Option<f64>>,
}

/// The busiest connections, up to the `end` of the run if that is known.
pub(super) fn gather(folder: &Path, end: Option<f64>) -> Result<Vec<Connection>, ReadError> {
    let table = folder.join(crate::tcp::FILE);
    if !table.exists() {
        return Ok(Vec::new());
    }
    let curves = tcp_connections(&table, MOST, end)?;
    let connection = |(name, curve): (crate::plots::TcpName, crate::plots::TcpCurve)| {
        let mut all = Connection {
            node: name.node,
            connection: name.connection,
            local: curve.local,
            remote: curve.remote,
            congestion: curve.congestion,
            ..Connection::default()
        };
        for point in &curve.points {
            all.t.push(columns::seconds(point.time));
            all.cwnd_packets.push(point.window);
            all.ssthresh_packets.push(point.threshold);
            all.srtt_us.push(point.rtt);
            all.min_rtt_us.push(point.least_rtt);
            all.delivery_rate.push(point.rate);
            all.bytes_sent.push(point.sent);
            all.bytes_acked.push(point.acked);
            all.bytes_received.push(point.received);
            all.retransmissions.push(point.retransmissions);
        }
        all
    };
    Ok(curves.into_iter().map(connection).collect())
}
