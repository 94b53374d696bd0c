//! What a history is compared with.

use serde_json::Value;

/// Which anomalies of transactions contradict a level of isolation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isolation {
    /// G0 and G1 are forbidden (PL-2).
    ReadCommitted,
    /// G-single and reads that contradict their own transaction, too (PL-SI).
    Snapshot,
    /// G2, too (PL-3).
    #[default]
    Serializable,
    /// Cycles through the order in real time, too (PL-SS).
    StrictSerializable,
}

impl Isolation {
    /// All levels by name, the weakest first.
    pub const ALL: [(&'static str, Self); 4] = [
        ("read-committed", Self::ReadCommitted),
        ("snapshot", Self::Snapshot),
        ("serializable", Self::Serializable),
        ("strict-serializable", Self::StrictSerializable),
    ];

    /// Returns its name.
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(_, level)| *level == self).map_or("", |(name, _)| name)
    }
}

/// A kind of object, and what operations on it may return.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// Linearizable registers: `write` and `read`.
    Register {
        /// The value of a register before the first write.
        initial: Value,
    },
    /// Linearizable registers with compare-and-set: also `cas` of `[old, new]`.
    Cas {
        /// The value of a register before the first write.
        initial: Value,
    },
    /// Linearizable sets: `add`, `remove`, `contains`, `read` of all elements.
    Set,
    /// Linearizable queues, first in, first out: `enqueue`, `dequeue`.
    Queue,
    /// Linearizable locks: `acquire` and `release` of a process.
    Mutex,
    /// Sets that lose nothing: `add` of different elements, `read` of all.
    SetFull {
        /// Whether a read that misses an element for a while is a contradiction, too.
        strict: bool,
    },
    /// Counters: `add` of a number, `read` of the sum.
    Counter {
        /// The value before the first addition.
        initial: i64,
    },
    /// Unique identifiers: whatever `generate` returns is different.
    Ids,
    /// Queues without an order: `enqueue`, `dequeue`, `drain`.
    TotalQueue {
        /// Whether an element that is delivered twice is a contradiction, too.
        strict: bool,
    },
    /// Locks with fencing tokens: `acquire` returns a token, `use` of a token, `release`.
    Fencing,
    /// Reads of one process that never go back.
    Monotone,
    /// Accounts whose sum never changes: `read` of all balances, `transfer`.
    Bank {
        /// The sum; none: that of the first read.
        total: Option<i64>,
    },
    /// Logs that agree: of two reads, one begins with the other. `append` is allowed.
    Log,
    /// Transactions of `append` and `r` on lists.
    Append {
        /// The level of isolation that the transactions promise.
        isolation: Isolation,
    },
}

impl Model {
    /// The names of all models.
    pub const NAMES: [&'static str; 14] = [
        "register",
        "cas",
        "set",
        "queue",
        "mutex",
        "set-full",
        "counter",
        "ids",
        "total-queue",
        "fencing",
        "monotone",
        "bank",
        "log",
        "append",
    ];

    /// Returns the model of a name with the usual options; none if there is no such model.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "register" => Self::Register { initial: Value::Null },
            "cas" => Self::Cas { initial: Value::Null },
            "set" => Self::Set,
            "queue" => Self::Queue,
            "mutex" => Self::Mutex,
            "set-full" => Self::SetFull { strict: false },
            "counter" => Self::Counter { initial: 0 },
            "ids" => Self::Ids,
            "total-queue" => Self::TotalQueue { strict: false },
            "fencing" => Self::Fencing,
            "monotone" => Self::Monotone,
            "bank" => Self::Bank { total: None },
            "log" => Self::Log,
            "append" => Self::Append { isolation: Isolation::default() },
            _ => return None,
        })
    }

    /// Returns its name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Register { .. } => "register",
            Self::Cas { .. } => "cas",
            Self::Set => "set",
            Self::Queue => "queue",
            Self::Mutex => "mutex",
            Self::SetFull { .. } => "set-full",
            Self::Counter { .. } => "counter",
            Self::Ids => "ids",
            Self::TotalQueue { .. } => "total-queue",
            Self::Fencing => "fencing",
            Self::Monotone => "monotone",
            Self::Bank { .. } => "bank",
            Self::Log => "log",
            Self::Append { .. } => "append",
        }
    }

    /// Returns the functions that it knows; the model of transactions knows one function with any name.
    pub fn functions(&self) -> &'static [&'static str] {
        match self {
            Self::Register { .. } => &["read", "write"],
            Self::Cas { .. } => &["read", "write", "cas"],
            Self::Set => &["add", "remove", "contains", "read"],
            Self::Queue => &["enqueue", "dequeue"],
            Self::Mutex => &["acquire", "release"],
            Self::SetFull { .. } | Self::Counter { .. } => &["add", "read"],
            Self::Ids => &["generate"],
            Self::TotalQueue { .. } => &["enqueue", "dequeue", "drain"],
            Self::Fencing => &["acquire", "use", "release"],
            Self::Monotone => &["read", "write"],
            Self::Bank { .. } => &["read", "transfer"],
            Self::Log => &["read", "append"],
            Self::Append { .. } => &[],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_its_model() {
        for name in Model::NAMES {
            assert_eq!(Model::named(name).map(|model| model.name()), Some(name));
        }
        assert_eq!(Model::named("stack"), None);
        assert_eq!(Isolation::Snapshot.name(), "snapshot");
    }
}
