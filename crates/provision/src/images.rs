//! The container images of nodes: found and unpacked before anything is made, and what their programs are.
//!
//! The plan gets the image's variables, folder, program and user; the program is a service of the timeline. The
//! node's root is an overlay over the unpacked tree, with `/proc` and `/sys` of the node, a `/dev` of few devices,
//! and volumes (`netloom_host::files`). A kernel node mounts tree and volumes from the machine by `hostfs`, once its
//! agent knows the node's settings. Where an ordinary user's kernel cannot do all of it, the lab process starts
//! fuse-overlayfs beside the nodes. `recorded` finds the images that an earlier run had.

mod format;
mod found;
mod here;
mod program;
mod recorded;
mod words;

use crate::Event;
use crate::resource::{Resource, if_none};
use found::Found;
pub use here::ImagesHere;
use netloom_host::facts::Facts;
use netloom_host::lab::Subordinate;
use netloom_host::node::{ImageConfig, VolumeConfig};
use netloom_image::Store;
use netloom_judge::RunError;
use netloom_lab::{Action, ImagePlan, ImageSource, NodeKey, NodePlan, Plan};
use netloom_results::ImageOrigin;
use recorded::Recorded;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use words::{origin, refused, words};

/// The variables of an `exec` that describe its user on the machine, and mean nothing in an image.
const PERSONAL: [&str; 5] = ["HOME", "LOGNAME", "PATH", "SHELL", "USER"];

/// What only `netloom shell` has in its environment.
const OF_SHELLS: &str = "NETLOOM_BASH_START";

/// The images of a lab's nodes. As long as a process holds them, nobody removes them from the cache.
#[derive(Clone, Debug, Default)]
pub struct Images {
    /// By the nodes' places in the plan.
    of_nodes: BTreeMap<usize, Rc<Found>>,
    /// The users that an ordinary user's lab has to map, so that programs of images can have their users.
    pub users: Option<Subordinate>,
}

/// Finds the images of a lab, and completes its plan by what they say. All that is wrong is refused at once.
fn prepare(given: Rc<Plan>, lab_file: &Path, sink: &mut dyn FnMut(&Event)) -> Result<(Rc<Plan>, Images), RunError> {
    let mut images = Images::default();
    if given.nodes.iter().all(|node| node.image.is_none()) {
        return Ok((given, images));
    }
    let mut plan = Plan::clone(&given);
    let mut known: BTreeMap<String, Rc<netloom_image::Image>> = BTreeMap::new();
    let place = |image: &ImagePlan| format!("{}:{}: key `image`", lab_file.display(), image.line);
    let recorded = Recorded::beside(lab_file, &plan).map_err(RunError::Machine)?;
    for number in 0..plan.nodes.len() {
        let Some(wanted) = plan.nodes[number].image.clone() else { continue };
        let had = recorded.of(&plan.nodes[number].name, &wanted.source);
        let source = had.as_ref().unwrap_or(&wanted.source);
        let name = source.to_string();
        let image = match known.get(&name) {
            Some(image) => Rc::clone(image),
            None => {
                let mut told = |progress| sink(&Event::Preparing { text: words(&name, progress) });
                let got = Store::of_user().and_then(|store| store.get(source, &mut told));
                Rc::new(got.map_err(|error| match &had {
                    Some(_) => RunError::Machine(format!("{}: {error}: {}", place(&wanted), recorded.reason())),
                    None => refused(&place(&wanted), &error),
                })?)
            }
        };
        known.insert(name, Rc::clone(&image));
        let found =
            Found::new(&plan.nodes[number], &wanted, image).map_err(|error| refused(&place(&wanted), &error))?;
        // Machines of a cluster have the lab file in folders of their own, and one description of the lab.
        let called = recorded.source(&plan.nodes[number].name, &wanted.source);
        plan.nodes[number].image = called.map(|own| ImagePlan { source: own, ..wanted.clone() }).or(Some(wanted));
        add_variables(&mut plan.nodes[number], &found);
        images.of_nodes.insert(number, Rc::new(found));
    }
    let problems = images.complete(&mut plan, lab_file);
    if problems.is_empty() { Ok((Rc::new(plan), images)) } else { Err(RunError::Machine(problems.join("\n"))) }
}

/// Takes out what describes the user of an `exec` on the machine. Whether the user wants a shell.
pub fn without_personal(env: &mut Vec<(String, String)>) -> bool {
    env.retain(|(name, _)| !PERSONAL.contains(&name.as_str()));
    env.iter().any(|(name, _)| name == OF_SHELLS)
}

/// The problems with the images of a lab that need not be unpacked, each with file, line and key.
fn problems(plan: &Plan, lab_file: &Path) -> Vec<String> {
    let recorded = match Recorded::beside(lab_file, plan) {
        Ok(recorded) => recorded,
        Err(what) => return vec![what],
    };
    let problem = |node: &NodePlan| {
        let image = node.image.as_ref()?;
        let source = recorded.of(&node.name, &image.source).unwrap_or_else(|| image.source.clone());
        let is_there = matches!(source, ImageSource::Named(_) | ImageSource::Digest(_) | ImageSource::Rootfs(_));
        let got = is_there.then(|| Store::of_user().and_then(|store| store.get(&source, &mut |_| {})))?;
        Some(format!("{}:{}: key `image`: {}", lab_file.display(), image.line, got.err()?))
    };
    plan.nodes.iter().filter_map(problem).collect()
}

/// What the image says of the environment holds unless the lab file says otherwise.
fn add_variables(node: &mut NodePlan, found: &Found) {
    let said: Vec<String> = node.env.iter().map(|(name, _)| name).chain(&node.inherit).cloned().collect();
    let own = found.variables().into_iter().filter(|(name, _)| !said.contains(name));
    node.env = own.chain(std::mem::take(&mut node.env)).collect();
}

impl Resource for Images {
    fn check(&self, plan: &Plan, lab_file: &Path) -> Result<Option<String>, Vec<String>> {
        if_none(problems(plan, lab_file))
    }

    fn find(&mut self, plan: Rc<Plan>, lab_file: &Path, sink: &mut dyn FnMut(&Event)) -> Result<Rc<Plan>, RunError> {
        let (plan, found) = prepare(plan, lab_file, sink)?;
        *self = found;
        Ok(plan)
    }
}

impl Images {
    /// What is in the node at this place; none if it has no image.
    pub(crate) fn of(&self, node: usize) -> Option<&Found> {
        self.of_nodes.get(&node).map(Rc::as_ref)
    }

    /// Gives the programs of images to the timeline. What is wrong with them, and with others that are to run in nodes with images.
    fn complete(&mut self, plan: &mut Plan, lab_file: &Path) -> Vec<String> {
        let mut problems = Vec::new();
        let is_ordinary = !Facts::gather().privileged;
        for event in 0..plan.timeline.len() {
            let line = plan.timeline[event].line;
            let mut wrong = |key: &str, what: String| {
                problems.push(format!("{}:{line}: key `{key}`: {what}", lab_file.display()));
            };
            let Action::Run(run) = &plan.timeline[event].action else { continue };
            let Some(found) = self.of_nodes.get(&run.node).cloned() else { continue };
            let mut run = run.clone();
            let node = &plan.nodes[run.node];
            let mut key = run.key.map_or("run", NodeKey::name);
            if let (Some(NodeKey::Image), Some(wanted)) = (run.key, &node.image) {
                match found.command(wanted) {
                    Ok(command) => run.command = command,
                    Err(why) => {
                        wrong("image", why);
                        continue;
                    }
                }
                run.user = found.user_of(wanted);
                if wanted.entrypoint.is_some() {
                    key = "entrypoint";
                }
            }
            if let Err(why) = found.has_program(node, &run) {
                wrong(key, why);
            }
            match run.user.as_deref().map(|user| found.user(user)).transpose() {
                Ok(Some(user)) if is_ordinary && (user.uid, user.gid) != (0, 0) => {
                    match Subordinate::find().and_then(|all| all.has(&user).map(|()| all)) {
                        Ok(all) => self.users = Some(all),
                        Err(why) => wrong(
                            "user",
                            format!(
                                "user `{}` of the image cannot be had without root: {why}; or write `user: root`, or run netloom as root",
                                run.user.as_deref().unwrap_or_default()
                            ),
                        ),
                    }
                }
                Ok(_) => {}
                Err(why) => wrong("user", why),
            }
            plan.timeline[event].action = Action::Run(run);
        }
        problems
    }

    /// Where a program of this node starts that wants to start in `folder`; none: it names none.
    pub fn folder(&self, node: usize, folder: Option<&Path>, otherwise: &Path) -> PathBuf {
        let base = self.of(node).map_or(otherwise, |found| &found.folder);
        folder.map_or_else(|| base.to_owned(), |folder| base.join(folder))
    }

    /// Adapts what `netloom exec` asks for to the node: its user's folders and shell are those of another file system.
    pub fn adapt(&self, node: usize, argv: &mut Vec<String>, env: &mut Vec<(String, String)>, folder: &mut String) {
        let Some(found) = self.of(node) else { return };
        let is_shell = without_personal(env);
        if !found.has_folder(folder) {
            *folder = found.folder.to_string_lossy().into_owned();
        }
        if is_shell {
            found.adapt_shell(argv);
        }
    }

    /// For the provenance, by the nodes' names.
    pub fn origins(&self, plan: &Plan) -> BTreeMap<String, ImageOrigin> {
        let named = |(node, found): (&usize, &Rc<Found>)| {
            let node = &plan.nodes[*node];
            let image = node.image.as_ref()?;
            Some((node.name.clone(), origin(&image.source, found.record())))
        };
        self.of_nodes.iter().filter_map(named).collect()
    }
}

/// The settings that the node at this place gets from its image.
pub(crate) fn config(images: &Images, node: usize, plan: &NodePlan, cwd: &Path) -> Option<ImageConfig> {
    let (found, wanted) = images.of(node).zip(plan.image.as_ref())?;
    let volumes = wanted.volumes.iter().map(|volume| VolumeConfig {
        source: cwd.join(&volume.source),
        target: volume.target.clone(),
        is_read_only: volume.is_read_only,
    });
    Some(ImageConfig { root: cwd.join(found.root_folder()), folders: found.folders(), volumes: volumes.collect() })
}
