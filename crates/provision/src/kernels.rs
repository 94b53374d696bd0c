//! The nodes of a lab with a kernel of their own, in real and dilated time, virtual machines among them: their folders and sockets, their boot, and what they become.

use crate::guard_link::{FromGuard, GuardLink};
use crate::job::Job;
use crate::resource::{Ground, Opening, Resource};
use crate::setup_error::SetupError;
use crate::{disks, machine_files, vms};
use netloom_guest::counter::{self, Counter};
use netloom_guest::disk::Disk;
use netloom_guest::kernel::{self, Kernel, Need};
use netloom_guest::node::{Boot, Channel, KernelNode, Pump, SocketChannel, Template};
use netloom_guest::processor;
use netloom_guest::shim::{Files, Lapse, Orders, Shim};
use netloom_host::node::{Identity, NodeConfig};
use netloom_host::processors;
use netloom_host::sealed::Bare;
use netloom_judge::RunError;
use netloom_lab::{Clock, NodePlan, Plan, Stack, VmBegin};
use netloom_units::{BranchCount, CpuLevel, Seed};
use netloom_vhost::Listener;
use netloom_vm::Prepared;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, poll};
use std::collections::BTreeMap;
use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Programs read the node's own clock wherever that is not the machine's: `crates/guest/kernel/edits/tsc.c`.
const OWN_TSC: &str = "netloom.tsc=1";

/// How long kernels may take to boot: they take 0.1 s, but a slow machine has many to boot at once.
const UP_WITHIN: Duration = Duration::from_secs(60);

/// Whoever boots a kernel node has found its kernel.
const OWN: &str = "a plan with kernel nodes has a kernel";

/// What a lab says that is ended before its kernels have come up.
pub(crate) const INTERRUPTED: &str = "interrupted while its kernels booted";

/// How often to look at the clock meanwhile, in milliseconds.
const LOOK_AROUND: u16 = 1000;

/// The kernel of a lab's kernel nodes, and how it counts.
#[derive(Default)]
pub struct NodeKernels {
    /// The kernel that was found; none without such nodes.
    pub kernel: Option<Kernel>,
    /// How the processor counts what programs compute; none if no node asks for it.
    pub counter: Option<Counter>,
    /// Whether kernels take samples of their TCP connections themselves.
    pub take_samples: bool,
    /// Whether they have a checkpoint, in virtual time.
    pub have_checkpoint: bool,
    /// Why the lab has no namespaces; none if it has them.
    pub bare: Option<String>,
}

impl Resource for NodeKernels {
    fn open(&mut self, opening: Opening, ground: &Ground<'_>) -> Result<(), RunError> {
        if opening == Opening::Stacks {
            self.kernel = kernel_of(ground.plan, ground.kernel)?;
            self.counter = counter_of(ground.plan, self.kernel.as_ref())?;
            without_disks(ground.plan, self.kernel.as_ref())?;
            without_level(ground.plan)?;
            self.take_samples = takes_samples(ground.plan, self.kernel.as_ref());
            self.have_checkpoint = has_checkpoint(ground.plan, self.kernel.as_ref());
        }
        Ok(())
    }
}

/// What belongs to the nodes of a lab with a kernel of their own, before they run.
pub(crate) struct Kernels {
    /// By the nodes' places in the plan.
    folders: Vec<Option<PathBuf>>,
    /// Which of them are virtual machines.
    are_vms: Vec<bool>,
    /// By node: whether frames come to it as on a wire.
    want_whole_frames: Vec<bool>,
    /// Of kernel nodes; none if there are none.
    own: Option<(PathBuf, Shim)>,
    /// Of virtual machines; none if there are none.
    vms: Option<Prepared>,
    /// The disks of kernel nodes and virtual machines, by their nodes' places.
    disks: BTreeMap<usize, Rc<Disk>>,
    pub(crate) lapse: Lapse,
    /// How they are confined in a lab without namespaces; none in others.
    bare: Option<Rc<Bare>>,
}

impl Kernels {
    /// Makes folders for the kernels of a lab. None if it has no such nodes.
    pub(crate) fn prepare(job: &Job, is_bare: bool) -> Result<Option<Self>, SetupError> {
        let plan = &job.plan;
        if job.kernel.is_none() && job.qemu.is_none() {
            return Ok(None);
        }
        let base = job.control_socket.parent().unwrap_or(Path::new("/")).join("k");
        let folder = |(number, node): (usize, &NodePlan)| {
            if !node.stack.is_own() {
                return Ok(None);
            }
            // Short names: the path of a Unix socket has 107 bytes at most.
            let folder = base.join(number.to_string());
            let own = folder.join("own");
            fs::create_dir_all(&own).map_err(SetupError::file("make", &own))?;
            Ok(Some(folder))
        };
        let folders = plan.nodes.iter().enumerate().map(folder).collect::<Result<_, SetupError>>()?;
        let logs = job.folder.path().join("logs");
        fs::create_dir_all(&logs).map_err(SetupError::file("make", &logs))?;
        let dilation = plan.clock.dilation().unwrap_or_default();
        let files = Files { record: job.read_files.clone(), root: machine_files::places(job)? };
        let with_shim = |kernel: &Kernel| Ok((kernel.path.clone(), Shim::in_memory()?.with_files(files)));
        let own = job.kernel.as_ref().map(with_shim).transpose();
        let own = own.map_err(|error: netloom_guest::shim::ShimError| SetupError::Refused(error.to_string()))?;
        let mut lapse = Lapse::from_now(dilation);
        if let Some(day) = plan.start {
            lapse.wall_ns = day.unix_seconds() * 1_000_000_000;
        }
        let slowed = (plan.clock != Clock::Real).then_some(lapse);
        let vms = job.qemu.clone().map(|qemu| Prepared::new(qemu, slowed)).transpose();
        let vms = vms.map_err(|error| SetupError::Refused(format!("preparing virtual machines: {error}")))?;
        let are_vms = plan.nodes.iter().map(|node| node.stack == Stack::Vm).collect();
        let want_whole_frames = plan.nodes.iter().map(|node| node.whole_frames).collect();
        let disks = disks::make(job)?;
        let bare = is_bare.then(|| Bare::of_lab(&job.hosts_file, &base)).transpose();
        let bare = bare.map_err(|error| SetupError::Refused(error.to_string()))?.map(Rc::new);
        Ok(Some(Self { folders, are_vms, want_whole_frames, own, vms, disks, lapse, bare }))
    }

    /// The disk of this node; none if it has none.
    pub(crate) fn disk(&self, node: usize) -> Option<&Disk> {
        self.disks.get(&node).map(Rc::as_ref)
    }

    /// The folder of the kernel of this node; none for a namespace node.
    pub(crate) fn folder(&self, node: usize) -> Option<&Path> {
        self.folders[node].as_deref()
    }

    /// Where the device of an interface connects to; none for a namespace node.
    pub(crate) fn listen(&self, node: usize, interface: usize) -> Result<Option<Listener>, SetupError> {
        let Some(folder) = &self.folders[node] else { return Ok(None) };
        let listener = self.of_kind(node, bind(&folder.join(interface.to_string()))?);
        // Not the agent's own, whose driver would learn a moment after the agent has begun to send that there is a carrier.
        let listener = if self.are_vms[node] { listener } else { listener.with_status() };
        Ok(Some(if self.want_whole_frames[node] { listener.with_whole_frames() } else { listener }))
    }

    /// QEMU is sealed as kernels are, but what runs in a machine does not choose what QEMU passes on.
    fn of_kind(&self, node: usize, listener: Listener) -> Listener {
        let listener = listener.again();
        if self.are_vms[node] { listener.with_counters() } else { listener }
    }

    /// Boots all of them at the same time, and waits until each has become its node, but for the interfaces.
    pub(crate) fn boot(
        &self,
        job: &Job,
        configs: &[NodeConfig],
        guard: &mut GuardLink,
    ) -> Result<(Vec<Option<KernelNode>>, Pump), SetupError> {
        let folders = self.folders.iter().enumerate().filter_map(|(node, folder)| Some((node, folder.as_ref()?)));
        let control = |(node, folder): (usize, &PathBuf)| Ok(self.of_kind(node, bind(&folder.join("c"))?));
        let controls = folders.map(control).collect::<Result<_, SetupError>>()?;
        let (pump, lab_ends) =
            Pump::start(controls).map_err(|error| SetupError::Step("serving the kernels' agents", error))?;
        let mut lab_ends = lab_ends.into_iter();
        let (mut nodes, mut ends) = (Vec::new(), BTreeMap::new());
        for (number, config) in configs.iter().enumerate() {
            let end = if self.folders[number].is_some() { lab_ends.next() } else { None };
            let node = match (end, &self.folders[number]) {
                (Some(end), Some(folder)) if is_kernel(&job.plan.nodes[number]) => {
                    Some(self.start_own(job, (number, 0), config, folder, end)?)
                }
                (Some(end), Some(folder)) => {
                    let copy = end.try_clone().map_err(SetupError::file("copy the end of", folder))?;
                    ends.insert(number, copy);
                    Some(self.start_vm(job, (number, 0), config, folder, end)?)
                }
                _ => None,
            };
            nodes.push(node);
        }
        let mut again = |number: usize, node: &mut Option<KernelNode>| {
            let (Some(end), Some(folder)) = (ends.remove(&number), &self.folders[number]) else { return Ok(false) };
            // Its process and its sockets go before others come.
            *node = None;
            *node = Some(self.start_vm(job, (number, 0), &configs[number], folder, end)?);
            Ok(true)
        };
        become_nodes(job, configs, &mut nodes, guard, &mut again)?;
        self.folders.iter().flatten().for_each(|folder| netloom_vm::forget_initrd(folder));
        Ok((nodes, pump))
    }

    /// Starts the kernel of a kernel node that has crashed so often.
    pub(crate) fn start_own(
        &self,
        job: &Job,
        (number, crashes): (usize, u64),
        config: &NodeConfig,
        folder: &Path,
        end: OwnedFd,
    ) -> Result<KernelNode, SetupError> {
        let processors = processors::allowed().map_err(|errno| SetupError::Refused(errno.to_string()))?;
        let turn = job.plan.nodes[..number].iter().filter(|before| is_kernel(before)).count();
        let mut boot = self.boot_of(job, number, config, folder, in_turn(config, &processors, turn));
        let mut seed = seed(&job.plan, number);
        if crashes > 0 {
            boot.console.set_file_name(format!("console-{}-{crashes}.log", job.plan.nodes[number].name));
            seed = chance(&job.plan, "kernel", number, crashes).get();
        }
        let orders = Orders { lapse: Some(self.lapse), seed: Some(seed), machine: false };
        self.start(&boot, Box::new(SocketChannel::new(end)), &orders, |_| {})
    }

    /// Starts the machine of a node that has crashed so often.
    pub(crate) fn start_vm(
        &self,
        job: &Job,
        (number, crashes): (usize, u64),
        config: &NodeConfig,
        folder: &Path,
        end: OwnedFd,
    ) -> Result<KernelNode, SetupError> {
        let prepared = self.vms.as_ref().expect("a plan with virtual machines has a QEMU");
        vms::start(prepared, job, (number, crashes, config), (folder, self.disk(number)), end).map_err(SetupError::Node)
    }

    /// Boots a template for kernels in virtual time; see [`Template`].
    pub(crate) fn start_template(&self, boot: &Boot, wall_clock_ns: u64) -> Result<Template, String> {
        let (_, shim) = self.own.as_ref().expect(OWN);
        Template::start(boot, netloom_units::Instant::ZERO, wall_clock_ns, &mut |command| {
            shim.arm(command, &Orders::default());
        })
    }

    /// Boots one kernel. `prepare` adds to its command what the shim does not.
    pub(crate) fn start(
        &self,
        boot: &Boot,
        channel: Box<dyn Channel>,
        orders: &Orders,
        prepare: impl Fn(&mut Command),
    ) -> Result<KernelNode, SetupError> {
        let mut arm = |command: &mut Command| {
            let (_, shim) = self.own.as_ref().expect(OWN);
            shim.arm(command, orders);
            prepare(command);
        };
        KernelNode::start(boot, channel, &mut arm).map_err(SetupError::Boot)
    }

    /// How the node at this place is to be booted.
    pub(crate) fn boot_of(
        &self,
        job: &Job,
        number: usize,
        config: &NodeConfig,
        folder: &Path,
        processor: Option<usize>,
    ) -> Boot {
        let node = &job.plan.nodes[number];
        // From the kernel's own folder, which is below.
        let sockets = std::iter::once("../c".to_owned()).chain((0..node.interfaces.len()).map(|i| format!("../{i}")));
        Boot {
            name: node.name.clone(),
            kernel: self.own.as_ref().expect(OWN).0.clone(),
            init: std::env::current_exe().unwrap_or_else(|_| "/proc/self/exe".into()),
            memory_mib: node.memory.map_or(0, |memory| memory.get() >> 20),
            folder: folder.join("own"),
            console: job.folder.path().join(format!("logs/console-{}.log", node.name)),
            devices: sockets.map(PathBuf::from).collect(),
            processor,
            polls: Vec::new(),
            cgroup: config.cgroup.clone(),
            disk: self.disks.get(&number).cloned(),
            arguments: if job.plan.clock == Clock::Real { Vec::new() } else { vec![OWN_TSC.to_owned()] },
            late: false,
            bare: self.bare.clone(),
        }
    }
}

/// Puts the machine of the node at this place into the place of one that hangs, and says whether it did.
type Again<'a> = &'a mut dyn FnMut(usize, &mut Option<KernelNode>) -> Result<bool, SetupError>;

/// Waits until all kernels are up, tells them what they are, and waits until they are that. `again`: for machines that hang.
pub(crate) fn become_nodes(
    job: &Job,
    configs: &[NodeConfig],
    nodes: &mut [Option<KernelNode>],
    guard: &mut GuardLink,
    again: Again<'_>,
) -> Result<(), SetupError> {
    let count = nodes.iter().flatten().count();
    guard.step(format!("booting {count} kernel{}", if count == 1 { "" } else { "s" }));
    if job.plan.clock == Clock::Virtual {
        // Time goes on only while a caller waits in it.
        nodes.iter_mut().flatten().try_for_each(|node| node.await_up(UP_WITHIN).map_err(SetupError::Node))?;
    } else {
        await_up(&job.plan, nodes, guard, again)?;
    }
    let is_open = |place: usize| job.plan.nodes[place].takes_commands();
    for (place, (node, config)) in nodes.iter_mut().zip(configs).enumerate().filter(|(place, _)| is_open(*place)) {
        let Some(node) = node else { continue };
        // A cgroup and processors of this machine mean nothing inside.
        let config = NodeConfig { cgroup: None, processors: Vec::new(), ..config.clone() };
        let cwd = folder_in(job, place).to_owned();
        node.begin_become(Identity { config, cwd }).map_err(SetupError::Node)?;
    }
    let open = nodes.iter_mut().enumerate().filter(|(place, _)| is_open(*place));
    let mut open = open.filter_map(|(_, node)| node.as_mut());
    open.try_for_each(|node| node.finish_become().map_err(SetupError::Node))
}

/// Where a program starts in a node if nothing else is said: a virtual machine does not have the user's folders.
pub fn folder_in(job: &Job, node: usize) -> &Path {
    if job.plan.nodes[node].stack == Stack::Vm { Path::new("/") } else { job.start_folder() }
}

/// How long a node's kernel may take until it serves the lab, as the lab counts it, and in wall time.
pub(crate) fn up_within(node: &NodePlan, clock: Clock) -> (Duration, Duration) {
    let Some(vm) = &node.vm else { return (UP_WITHIN, UP_WITHIN) };
    let lab = vm.boot_within;
    (Duration::from_nanos(lab.as_nanos()), clock.dilation().unwrap_or_default().to_real(lab))
}

/// Whether a virtual machine's kernel writes to its console as soon as it begins. Of others, silence says nothing: a disk's system may have
/// another console, and a slow machine is not to be killed while it boots.
fn speaks(node: &NodePlan) -> bool {
    let hushes = |word: &str| word == "quiet" || word.starts_with("console=") || word.starts_with("loglevel=");
    let begin = node.vm.as_ref().map(|vm| &vm.begin);
    matches!(begin, Some(VmBegin::Kernel { append, .. }) if !append.split_ascii_whitespace().any(hushes))
}

/// Kernels take long to boot compared to everything else here, so that the user may want them not to.
///
/// A virtual machine [whose kernel speaks at once](speaks) and that has shown nothing after half of its time hangs before its kernel has begun: it
/// is started once more, and has all of its time again. So nobody waits for longer than one and a half times that.
fn await_up(
    plan: &Plan,
    nodes: &mut [Option<KernelNode>],
    guard: &mut GuardLink,
    again: Again<'_>,
) -> Result<(), SetupError> {
    let mut begins = vec![Instant::now(); nodes.len()];
    loop {
        let mut late = Vec::new();
        for ((place, node), described) in nodes.iter_mut().enumerate().zip(&plan.nodes) {
            let Some(waiting) = node else { continue };
            // Of a machine that nobody gets into, nothing but its end can be known.
            if waiting.is_up().map_err(SetupError::Node)? || !described.takes_commands() {
                continue;
            }
            let (lab, wall) = up_within(described, plan.clock);
            let elapsed = begins[place].elapsed();
            if elapsed >= wall {
                return Err(SetupError::Node(waiting.lateness(lab)));
            }
            if elapsed >= wall / 2 && speaks(described) && waiting.is_silent() && again(place, node)? {
                let name = &described.name;
                guard.step(format!("booting {name} once more: it has shown nothing within {} s", elapsed.as_secs()));
                begins[place] = Instant::now();
            }
            late.extend(node.as_ref());
        }
        if late.is_empty() {
            return Ok(());
        }
        let mut fds: Vec<_> = late.iter().map(|node| PollFd::new(node.as_fd(), PollFlags::POLLIN)).collect();
        fds.push(PollFd::new(guard.as_fd(), PollFlags::POLLIN));
        match poll(&mut fds, LOOK_AROUND) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(SetupError::Wait("the kernels", errno)),
        }
        if fds.last().and_then(PollFd::any) == Some(true) && guard.listen() != FromGuard::Nothing {
            return Err(SetupError::Interrupted(INTERRUPTED));
        }
    }
}

/// The processor of a kernel: of those that its node is to run on, or of all.
pub(crate) fn in_turn(config: &NodeConfig, all: &[usize], turn: usize) -> Option<usize> {
    let own = if config.processors.is_empty() { all } else { &config.processors };
    own.get(turn % own.len().max(1)).copied()
}

/// Whether a node runs on a kernel of its own.
pub(crate) fn is_kernel(node: &NodePlan) -> bool {
    node.stack == Stack::Kernel
}

/// Chance of a node's kernel: of the lab's seed and the node's name.
pub(crate) fn seed(plan: &Plan, number: usize) -> u64 {
    plan.seed.derive("kernel").derive(&plan.nodes[number].name).get()
}

/// Chance of a node that has crashed so often.
pub(crate) fn chance(plan: &Plan, what: &str, node: usize, crashes: u64) -> Seed {
    plan.seed.derive(what).derive(&plan.nodes[node].name).derive(&crashes.to_string())
}

/// The kernel that the kernel nodes of a plan run on, which the user may have `given`; none without such nodes.
pub(crate) fn kernel_of(plan: &Plan, given: Option<&Path>) -> Result<Option<Kernel>, RunError> {
    if !plan.nodes.iter().any(is_kernel) {
        return Ok(None);
    }
    let need = if plan.clock == Clock::Virtual { Need::VirtualTime } else { Need::Clock };
    kernel::find(need, given).map(Some).map_err(|error| RunError::Machine(error.to_string()))
}

/// Whether the kernel takes samples of TCP connections itself, in virtual time and where a node wants them.
fn takes_samples(plan: &Plan, kernel: Option<&Kernel>) -> bool {
    plan.clock == Clock::Virtual && kernel.is_some_and(Kernel::takes_samples)
}

/// Whether the kernel can be copied, in virtual time.
fn has_checkpoint(plan: &Plan, kernel: Option<&Kernel>) -> bool {
    plan.clock == Clock::Virtual && kernel.is_some_and(Kernel::has_checkpoint)
}

/// How the processor counts what the nodes of a plan compute, if one of them wants to know; with the kernel that was
/// chosen for them.
fn counter_of(plan: &Plan, kernel: Option<&Kernel>) -> Result<Option<Counter>, RunError> {
    let first = |counts: fn(BranchCount) -> bool| {
        let cost = |node: &NodePlan| node.cpu.and_then(|cpu| cpu.cost.computing);
        plan.nodes.iter().find(|node| cost(node).is_some_and(|cost| counts(cost.count)))
    };
    let Some(asking) = first(|_| true) else { return Ok(None) };
    if let Some(kernel) = kernel.filter(|kernel| !kernel.counts_branches()) {
        return Err(RunError::Machine(format!(
            "nodes.{}.cpu.branch: the kernel {} (Linux {}) cannot count branches: run `netloom kernel build` (some minutes, \
             once)",
            asking.name,
            kernel.path.display(),
            kernel.version
        )));
    }
    let Some(node) = first(|count| count == BranchCount::Processor) else { return Ok(None) };
    counter::of_this_machine().map(Some).map_err(|why| {
        RunError::Machine(format!(
            "nodes.{}.cpu.branch: this machine cannot count the branches of programs: {why}. Write `count: steps` beside \
             `branch`, which is slow and exact on every machine; or leave `branch` out, with `on_spin: advance` for \
             programs that would compute for ever",
            node.name
        ))
    })
}

/// Refuses a plan whose programs are to see what this machine's processor does not have.
fn without_level(plan: &Plan) -> Result<(), SetupError> {
    let asked = plan.nodes.iter().filter_map(|node| Some((node, node.cpu?.level?)));
    let found = asked.filter_map(|(node, level)| Some((node, level, processor::missing(level)?))).next();
    let Some((node, level, feature)) = found else { return Ok(()) };
    let here = processor::of_this_machine().map_or("is no x86-64 processor", CpuLevel::name);
    Err(SetupError::Refused(format!(
        "nodes.{}.cpu.level: this machine's processor lacks {feature}, which {} has: write {here} or less",
        node.name,
        level.name()
    )))
}

/// Refuses a kernel that knows no disks for a plan that has some.
fn without_disks(plan: &Plan, kernel: Option<&Kernel>) -> Result<(), SetupError> {
    let with_disk = plan.nodes.iter().find(|node| is_kernel(node) && node.disk.is_some());
    match with_disk.zip(kernel.filter(|kernel| !kernel.has_disks())) {
        None => Ok(()),
        Some((node, kernel)) => Err(SetupError::Refused(format!(
            "nodes.{}.disk: the kernel {} (Linux {}) knows no disks: run `netloom kernel build` (some minutes, once)",
            node.name,
            kernel.path.display(),
            kernel.version
        ))),
    }
}

fn bind(path: &Path) -> Result<Listener, SetupError> {
    Listener::bind(path).map_err(SetupError::file("listen at", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_kernel_that_speaks_at_once_hangs_if_it_is_silent() {
        let speaks_with = |vm: &str| {
            let text = format!("nodes: {{m: {{vm: {vm}}}, h: }}\nlinks: {{l: {{ends: [m, h]}}}}\n");
            let plan = netloom_lab::parse(&text, "test.yaml").unwrap_or_else(|wrong| panic!("{wrong}")).plan;
            speaks(plan.nodes.iter().find(|node| node.vm.is_some()).unwrap())
        };
        assert!(speaks_with("{kernel: /k, initrd: /i}") && speaks_with("{kernel: /k, initrd: /i, append: panic=1}"));
        assert!(!speaks_with("{kernel: /k, initrd: /i, append: panic=1 quiet}"));
        assert!(!speaks_with("{kernel: /k, initrd: /i, append: console=tty0}"));
        assert!(!speaks_with("{disk: /d.qcow2}"));
    }
}
