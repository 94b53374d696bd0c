//! From figures and facts to the lines of the table: what is fine, what could be better, and with which command. Pure.

mod packets;
mod size;
mod time;

use super::kvm::Kvm;
use super::programs;
use super::tree::Facts;
use super::trial::Outcome;
use netloom_guest::counter::{CannotCount, Counter};
use netloom_guest::kernel::{Kernel, KernelMissing};
use netloom_host::cgroup::{Hierarchy, Unavailable};
use netloom_host::facts::Facts as Rights;
use netloom_judge::examination::{Check, State, Timing};
use netloom_judge::quantity::span;

/// All that was looked up and measured.
pub(super) struct Found<'a> {
    pub(super) facts: &'a Facts,
    pub(super) rights: &'a Rights,
    /// The release of the machine's kernel, as uname(2) has it.
    pub(super) release: &'a str,
    /// How many processors this process may use.
    pub(super) processors: usize,
    pub(super) timing: &'a Timing,
    pub(super) trial: &'a Outcome,
    pub(super) cgroups: Result<Hierarchy, Unavailable>,
    pub(super) kernel: Result<Kernel, KernelMissing>,
    pub(super) counter: Result<Counter, CannotCount>,
    pub(super) kvm: Kvm,
    pub(super) missing_programs: Vec<&'static str>,
}

/// The load per processor above which other programs ran all the time.
const LOAD: f64 = 0.5;

impl Found<'_> {
    /// Whether other programs ran meanwhile, so that all figures are lower than they could be.
    pub(super) fn is_busy(&self) -> bool {
        self.facts.load.unwrap_or(0.0) > LOAD * self.processors as f64
    }
}

/// All lines, in their order.
pub(super) fn all(found: &Found<'_>) -> Vec<Check> {
    let mut checks = vec![namespaces(found)];
    checks.extend(ordinary_users(found));
    checks.extend([machines_kernel(found.release), shares(found)]);
    checks.extend(time::all(found));
    checks.extend(packets::all(found));
    checks.extend(size::all(found));
    checks.extend([kernel_nodes(found), branch_counter(found), kvm(found), tools(found)]);
    checks
}

fn fine(group: &str, name: &str, result: impl Into<String>) -> Check {
    Check { group: group.into(), name: name.into(), state: State::Fine, result: result.into(), change: None }
}

fn not_fine(group: &str, name: &str, state: State, result: impl Into<String>, change: impl Into<String>) -> Check {
    Check { group: group.into(), name: name.into(), state, result: result.into(), change: Some(change.into()) }
}

fn better(group: &str, name: &str, result: impl Into<String>, change: impl Into<String>) -> Check {
    not_fine(group, name, State::CouldBeBetter, result, change)
}

/// The advice where labs in virtual time are possible and no others.
const WITHOUT_NAMESPACES: &str =
    "this machine refuses namespaces; `--clock virtual` works without any, on kernel nodes";

fn namespaces(found: &Found<'_>) -> Check {
    match found.trial {
        Outcome::Carried(forwarding, _) => {
            let who = if found.rights.root { "root" } else { "an ordinary user" };
            let setup = span((forwarding.setup_ms * 1e6) as u64);
            fine("labs", "namespaces", format!("a lab of two nodes was made in {setup}, as {who}"))
        }
        Outcome::Refused { what, advice, bare } => {
            let change = advice.clone().unwrap_or_else(|| "see docs/troubleshooting.md".into());
            let change = if matches!(bare, Some(Ok(_))) {
                format!("{WITHOUT_NAMESPACES}. For real time: {change}")
            } else {
                change
            };
            not_fine("labs", "namespaces", State::Missing, what, change)
        }
    }
}

/// The oldest kernel of a machine on which labs were tried.
const OLDEST: (u32, u32) = (5, 10);

/// The things that later kernels of a machine add for labs, each since when; docs/install.md says more of them.
const ADDED: [((u32, u32), &str); 7] = [
    ((5, 11), "overlays in an ordinary user's namespace nodes"),
    ((5, 12), "read-only volumes of containers"),
    ((5, 13), "kernels without namespaces confined by Landlock"),
    ((5, 13), "frames redirected by XDP on links with `offload: false`"),
    ((5, 19), "fast system calls in kernel nodes"),
    ((6, 6), "removal of the machine's folders in an ordinary user's namespace nodes"),
    ((6, 12), "precise dilated time beside other programs"),
];

/// Labs run where the kernel has what they need; with an older one, what it lacks is a system call that nobody expects.
fn machines_kernel(release: &str) -> Check {
    const NAME: &str = "kernel of the machine";
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|number| number.parse().ok());
    let version = numbers.next().flatten().zip(numbers.next().flatten());
    let (major, minor) = OLDEST;
    match version {
        Some(version) if version < OLDEST => {
            let result = format!("Linux {release}; {major}.{minor} is the oldest that Netloom is tried with");
            better("labs", NAME, result, "use a newer kernel: older ones lack system calls")
        }
        Some(version) => {
            let lacks: Vec<String> = ADDED
                .iter()
                .filter(|(since, _)| *since > version)
                .map(|((since, part), what)| format!("{what} ({since}.{part})"))
                .collect();
            let without =
                if lacks.is_empty() { String::new() } else { format!("; newer ones add {}", lacks.join(", ")) };
            fine("labs", NAME, format!("Linux {release}; {major}.{minor} or newer will do{without}"))
        }
        None => fine("labs", NAME, format!("Linux {release}; {major}.{minor} or newer will do")),
    }
}

/// What root would not notice.
fn ordinary_users(found: &Found<'_>) -> Option<Check> {
    if !found.rights.privileged {
        return None;
    }
    let user = Rights { root: false, privileged: false, ..*found.rights };
    let forbidden = user.max_user_namespaces == Some(0)
        || user.unprivileged_userns_clone == Some(0)
        || user.apparmor_restrict_unprivileged_userns.is_some_and(|value| value > 0);
    Some(if forbidden {
        let change = user.advice(libc::EPERM).unwrap_or_default();
        better("labs", "ordinary users", "only root can run labs here", change)
    } else {
        fine("labs", "ordinary users", "no setting keeps them from running labs")
    })
}

fn shares(found: &Found<'_>) -> Check {
    match &found.cgroups {
        Ok(hierarchy) => {
            let version = match hierarchy {
                Hierarchy::V1 { .. } => 1,
                Hierarchy::V2 { .. } => 2,
            };
            let base = hierarchy.base().display().to_string();
            fine(
                "labs",
                "shares of nodes",
                format!("cgroups of version {version}, below {}", base.trim_end_matches('/')),
            )
        }
        Err(reason) => {
            let text = reason.to_string();
            let (what, change) = text.split_once(": ").unwrap_or((&text, "labs without `cpus` do not need them"));
            better("labs", "shares of nodes", what, change)
        }
    }
}

fn kernel_nodes(found: &Found<'_>) -> Check {
    const NAME: &str = "kernel of nodes";
    let booted = match found.trial {
        Outcome::Carried(_, booted) => booted.as_ref(),
        Outcome::Refused { bare, .. } => bare.as_ref(),
    };
    let how = match booted {
        Some(Ok(took_ms)) => format!("; one booted within {}", span((took_ms * 1e6) as u64)),
        Some(Err(why)) => {
            let result = match &found.kernel {
                Ok(kernel) => {
                    let path = kernel.path.display();
                    format!("Linux {} ({path}) is there, and does not boot here: {why}", kernel.version)
                }
                Err(error) => error.to_string(),
            };
            let change = match found.trial {
                Outcome::Carried(..) => "labs in real time on namespace nodes work; see docs/troubleshooting.md",
                Outcome::Refused { .. } => "see docs/troubleshooting.md",
            };
            return not_fine("extras", NAME, State::Missing, result, change);
        }
        None => match &found.kernel {
            Ok(kernel) => {
                let result =
                    format!("Linux {} ({}) is there; none was booted to try it", kernel.version, kernel.path.display());
                return better("extras", NAME, result, "see the line `namespaces`, then run `netloom doctor` again");
            }
            Err(_) => String::new(),
        },
    };
    match &found.kernel {
        Ok(kernel) if kernel.time_travel => {
            let path = kernel.path.display();
            fine("extras", NAME, format!("Linux {} ({path}), for dilated and virtual time{how}", kernel.version))
        }
        Ok(kernel) => {
            let path = kernel.path.display();
            let result = format!("Linux {} ({path}), for dilated time only{how}", kernel.version);
            better("extras", NAME, result, "netloom kernel build")
        }
        Err(KernelMissing::Processor) => {
            let change = "a machine with x86-64 has dilated and virtual time as well; see docs/systems.md";
            not_fine(
                "extras",
                NAME,
                State::Missing,
                "none for this processor: labs in real time, and `netloom sim`",
                change,
            )
        }
        Err(KernelMissing::None { .. }) => {
            not_fine("extras", NAME, State::Missing, "none: labs in real time only", "netloom kernel build")
        }
        Err(error) => not_fine("extras", NAME, State::Missing, error.to_string(), "netloom kernel build"),
    }
}

/// Only labs in virtual time in which computing takes time need it, and they can do without.
fn branch_counter(found: &Found<'_>) -> Check {
    const NAME: &str = "branch counter";
    match &found.counter {
        Ok(counter) => {
            fine("extras", NAME, format!("event {:#x} counts exactly, for `cpu: {{branch: ...}}`", counter.event))
        }
        Err(CannotCount::NoCounter) => {
            fine("extras", NAME, "none, as in most virtual machines; labs can count by steps")
        }
        Err(why) => {
            better("extras", NAME, why.to_string(), "write `count: steps` in labs that need it, or `on_spin: advance`")
        }
    }
}

/// Nothing here needs it yet, so that nothing is missing without it; but who has it wants to know that it does not work.
fn kvm(found: &Found<'_>) -> Check {
    const NAME: &str = "KVM";
    match &found.kvm {
        Kvm::Works => fine("extras", NAME, "a virtual machine was made"),
        Kvm::None => fine("extras", NAME, "none; kernel nodes do without"),
        Kvm::Fails { why, change } => better("extras", NAME, format!("{why}; kernel nodes do without"), change),
    }
}

fn tools(found: &Found<'_>) -> Check {
    const NAME: &str = "programs";
    if found.missing_programs.is_empty() {
        return fine("extras", NAME, programs::usual().join(", "));
    }
    let there: Vec<&str> =
        programs::usual().into_iter().filter(|program| !found.missing_programs.contains(program)).collect();
    let there = if there.is_empty() { String::new() } else { format!("; {} are there", there.join(", ")) };
    let result = format!("no {}{there}; labs that call them need them", found.missing_programs.join(", no "));
    let change = programs::install(&found.missing_programs, &found.facts.distribution);
    not_fine("extras", NAME, State::Missing, result, change)
}

#[cfg(test)]
pub(super) mod tests;
