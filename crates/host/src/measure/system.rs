//! What a node's processes and its network use, as figures.

use std::fmt::Write;

/// At an instant; times and counts are totals since the node began.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Figures {
    /// Processor time of programs and, for their sake, of the kernel.
    pub(crate) user_ns: u64,
    pub(crate) system_ns: u64,
    pub(crate) processes: u64,
    pub(crate) threads: u64,
    /// What processes have in memory that is shared with nobody and no copy of a file.
    pub(crate) process_memory_bytes: u64,
    /// Packets that the node's kernel dropped at its interfaces.
    pub(crate) interface_dropped_packets: u64,
    /// The rest only of a kernel of its own: memory that programs cannot get,
    pub(crate) used_memory_bytes: Option<u64>,
    /// packets for which its queues had no room, and how often it put others off.
    pub(crate) softnet_dropped_packets: Option<u64>,
    pub(crate) softnet_squeezed: Option<u64>,
}

/// How many figures there are.
pub(super) const FIGURES: usize = 9;

const COLUMNS: [&str; FIGURES] = [
    "user_ns",
    "system_ns",
    "processes",
    "threads",
    "process_memory_bytes",
    "interface_dropped_packets",
    "used_memory_bytes",
    "softnet_dropped_packets",
    "softnet_squeezed",
];

/// The names of the columns that a row has beside time and node, with commas between them.
pub fn system_columns() -> String {
    COLUMNS.join(",")
}

impl Figures {
    /// In the order of the columns.
    pub(super) fn values(&self) -> [Option<u64>; FIGURES] {
        [
            Some(self.user_ns),
            Some(self.system_ns),
            Some(self.processes),
            Some(self.threads),
            Some(self.process_memory_bytes),
            Some(self.interface_dropped_packets),
            self.used_memory_bytes,
            self.softnet_dropped_packets,
            self.softnet_squeezed,
        ]
    }
}

/// A sample as it is read: figures in the order of the columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemSample {
    /// When it was taken: nanoseconds of the node's clock.
    pub time_ns: u64,
    pub(super) values: [Option<u64>; FIGURES],
}

impl SystemSample {
    /// The value of a column; none of what there is not.
    pub fn value(&self, column: &str) -> Option<u64> {
        let place = COLUMNS.iter().position(|known| *known == column)?;
        self.values[place]
    }

    /// Adds the values of the columns, with commas between them; what does not exist is an empty field.
    pub fn write(&self, to: &mut String) {
        for (place, value) in self.values.iter().enumerate() {
            let comma = if place > 0 { "," } else { "" };
            let text = value.map_or_else(String::new, |value| value.to_string());
            write!(to, "{comma}{text}").expect("writing to a string");
        }
    }
}
