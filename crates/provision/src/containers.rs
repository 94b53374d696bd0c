//! The nodes of a lab that are containers of docker or podman: found and joined before anything is made.
//!
//! The engine's program names the container's first process, whose namespaces are opened. The guard forks a keeper
//! into them before the lab exists: a process enters only process namespaces below its own, and the lab has one of
//! its own. The keeper forks the agent, which serves the lab as agents of other nodes do. Kernel parameters are
//! changed through the machine's own `/proc/sys`, and the keeper hears of each beforehand. A socket with an abstract
//! name in the container's network claims it for one lab.

mod engine;

use crate::Event;
use crate::resource::{Ground, Making, Opening, Releasing, Resource, Site, if_none};
use crate::setup_error::{SetupError, killed};
use engine::Answer;
use netloom_host::KernelError;
use netloom_host::node::{Attendant, Container, ContainerError, Keeper, Node, PODMANS_ENTRANCE};
use netloom_judge::RunError;
use netloom_lab::{ContainerEngine, ContainerPlan, NodePlan, Plan};
use netloom_results::ImageOrigin;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// A container as its engine described it.
#[derive(Debug)]
pub(crate) struct Found {
    container: Container,
    engine: ContainerEngine,
    /// Where its programs start.
    folder: PathBuf,
    /// The variables that its programs have.
    env: Vec<(String, String)>,
    /// The identifier of its image.
    image: Option<String>,
}

/// The nodes of a lab that are containers, found and then joined.
#[derive(Default)]
pub struct JoinedContainers {
    /// The containers that were found.
    pub found: Containers,
    /// Those that were joined, each with its node's place.
    attendants: Vec<(usize, Attendant)>,
    /// What gives them back when it is dropped.
    keepers: Vec<Keeper>,
}

impl Resource for JoinedContainers {
    fn check(&self, plan: &Plan, lab_file: &Path) -> Result<Option<String>, Vec<String>> {
        if_none(problems(plan, lab_file))
    }

    fn find(&mut self, plan: Rc<Plan>, lab_file: &Path, _: &mut dyn FnMut(&Event)) -> Result<Rc<Plan>, RunError> {
        let (plan, found) = find(plan, lab_file)?;
        self.found = found;
        Ok(plan)
    }

    fn open(&mut self, opening: Opening, ground: &Ground<'_>) -> Result<(), RunError> {
        if opening == Opening::Last {
            (self.attendants, self.keepers) = self.found.join(ground.plan, ground.lab_file)?;
        }
        Ok(())
    }

    fn make(&mut self, making: Making, site: &mut Site<'_>) -> Result<(), SetupError> {
        if making != Making::Nodes {
            return Ok(());
        }
        for (place, attendant) in std::mem::take(&mut self.attendants) {
            let config = (site.config)(place);
            let config = config.ok_or_else(|| SetupError::Refused("a container without a node".into()))?;
            site.nodes[place] = Some(Box::new(Node::join(attendant, &config).map_err(SetupError::Node)?));
        }
        Ok(())
    }

    fn let_go(&mut self) {
        self.attendants.clear();
    }

    fn release(&mut self, releasing: Releasing) -> Result<(), RunError> {
        if releasing == Releasing::Ended {
            // They are back before the command ends.
            self.keepers.clear();
        }
        Ok(())
    }
}

/// Containers that were joined, each with its node's place, and what gives them back when it is dropped.
type AllJoined = (Vec<(usize, Attendant)>, Vec<Keeper>);

/// The containers of a lab, by their nodes' places in the plan.
#[derive(Clone, Debug, Default)]
pub struct Containers(BTreeMap<usize, Rc<Found>>);

/// Finds the containers of a plan, and completes it by what their engines say.
///
/// # Errors
/// All that is wrong with any of them, each with file, line and key.
fn find(plan: Rc<Plan>, lab_file: &Path) -> Result<(Rc<Plan>, Containers), RunError> {
    if plan.nodes.iter().all(|node| node.container.is_none()) {
        return Ok((plan, Containers::default()));
    }
    let (mut plan, mut found, mut problems) = (Plan::clone(&plan), Containers::default(), Vec::new());
    for (place, node) in plan.nodes.iter_mut().enumerate() {
        let Some(wanted) = node.container.clone() else { continue };
        match look(&wanted) {
            Ok(one) => {
                add_variables(node, &one);
                found.0.insert(place, Rc::new(one));
            }
            Err(why) => problems.push(told(lab_file, node, &wanted, &why)),
        }
    }
    if problems.is_empty() { Ok((Rc::new(plan), found)) } else { Err(RunError::Machine(problems.join("\n"))) }
}

/// The problems with the containers of a plan, each with file, line and key.
fn problems(plan: &Plan, lab_file: &Path) -> Vec<String> {
    let problem = |node: &NodePlan| {
        let wanted = node.container.as_ref()?;
        Some(told(lab_file, node, wanted, &look(wanted).err()?))
    };
    plan.nodes.iter().filter_map(problem).collect()
}

fn told(lab_file: &Path, node: &NodePlan, wanted: &ContainerPlan, why: &str) -> String {
    format!("{}:{}: nodes.{}.container: {why}", lab_file.display(), wanted.line, node.name)
}

/// The container that is wanted, or why it cannot be had.
fn look(wanted: &ContainerPlan) -> Result<Found, String> {
    let engines = wanted.engine.map_or_else(|| ContainerEngine::ALL.to_vec(), |engine| vec![engine]);
    let mut reasons = Vec::new();
    for engine in engines {
        match engine::inspect(engine, &wanted.name) {
            Answer::Found(described) => return open(engine, &wanted.name, &described),
            Answer::Nothing(why) => reasons.push(why),
        }
    }
    Err(reasons.join("; "))
}

/// Opens a container that its engine has described.
fn open(engine: ContainerEngine, name: &str, described: &engine::Described) -> Result<Found, String> {
    let program = engine.name();
    if described.is_paused {
        return Err(format!("the container {name} of {program} is paused: `{program} unpause {name}`"));
    }
    if !described.is_running {
        return Err(format!(
            "the container {name} of {program} does not run (it is {}): `{program} start {name}`",
            described.status
        ));
    }
    if described.network == "host" {
        return Err(our_network(name));
    }
    let container = Container::open(described.pid).map_err(|error| match error {
        ContainerError::OurNetwork => our_network(name),
        ContainerError::NoProcess => format!(
            "{program} says that the first process of {name} is {}, and this machine has no such process: an engine on another machine, \
             or in a virtual one, cannot be used",
            described.pid
        ),
        ContainerError::Forbidden => format!("{name} of {program} {}", forbidden(engine)),
        ContainerError::Refused(error) => format!("{name} of {program}: {error}"),
    })?;
    Ok(Found {
        container,
        engine,
        folder: Path::new("/").join(&described.folder),
        env: described.env.clone(),
        image: described.image.clone(),
    })
}

fn our_network(name: &str) -> String {
    format!(
        "the container {name} has this machine's own network (`--network host`): start it with another, for example `--network none`"
    )
}

fn forbidden(engine: ContainerEngine) -> String {
    match engine {
        ContainerEngine::Docker => "belongs to root, and so do its namespaces: run netloom as root".to_owned(),
        ContainerEngine::Podman => format!(
            "lives in namespaces that this user does not have: run `{PODMANS_ENTRANCE} netloom …` for containers of your own, and \
             netloom as root for those of root"
        ),
    }
}

/// What the container says of the environment holds unless the lab file says otherwise.
fn add_variables(node: &mut NodePlan, found: &Found) {
    let said: Vec<String> = node.env.iter().map(|(name, _)| name).chain(&node.inherit).cloned().collect();
    let own = found.env.iter().filter(|(name, _)| !said.contains(name)).cloned();
    node.env = own.chain(std::mem::take(&mut node.env)).collect();
}

impl Containers {
    /// Where programs of the node at this place start; none if it is no container.
    pub fn folder(&self, node: usize) -> Option<&Path> {
        self.0.get(&node).map(|found| found.folder.as_path())
    }

    /// For the provenance, by the nodes' names.
    pub fn origins(&self, plan: &Plan) -> BTreeMap<String, ImageOrigin> {
        let origin = |(node, found): (&usize, &Rc<Found>)| {
            let node = &plan.nodes[*node];
            let name = node.container.as_ref().map(|container| container.name.as_str()).unwrap_or_default();
            let source = format!("container {name} of {}", found.engine.name());
            (node.name.clone(), ImageOrigin { source, id: found.image.clone(), manifest: None })
        };
        self.0.iter().map(origin).collect()
    }

    /// Joins all of them.
    fn join(&self, plan: &Plan, lab_file: &Path) -> Result<AllJoined, RunError> {
        let (mut attendants, mut keepers) = (Vec::new(), Vec::new());
        for (place, found) in &self.0 {
            let node = &plan.nodes[*place];
            let interfaces: Vec<String> = node.interfaces.iter().map(|interface| interface.name.clone()).collect();
            let Some(wanted) = &node.container else { continue };
            match Attendant::join(&found.container, &interfaces) {
                Ok((attendant, keeper)) => {
                    attendants.push((*place, attendant));
                    keepers.push(keeper);
                }
                Err(error) => {
                    // They end when they see that nobody is there.
                    drop(attendants);
                    let why = not_joined(wanted, found.engine, &error);
                    return Err(RunError::Machine(told(lab_file, node, wanted, &why)));
                }
            }
        }
        Ok((attendants, keepers))
    }
}

fn not_joined(wanted: &ContainerPlan, engine: ContainerEngine, error: &KernelError) -> String {
    let name = &wanted.name;
    match error.errno() {
        libc::EEXIST => format!(
            "the container {name} has such an interface already ({error}): name the lab's otherwise, for example `ends: [{{node: …, \
             interface: lab0}}, …]`"
        ),
        libc::EADDRINUSE => format!("another lab, or another node of this one, has the container {name}"),
        libc::EPERM => format!("{name} of {} {} ({error})", engine.name(), forbidden(engine)),
        _ => format!("joining the container {name}: {error}{}", killed(error)),
    }
}
