//! The images that machines of a cluster get from this one if they lack them.

use super::recorded::Recorded;
use super::words::{origin, refused, words};
use crate::Event;
use netloom_image::{ImageError, Record, Store};
use netloom_judge::RunError;
use netloom_lab::{ImageSource, Plan};
use netloom_results::ImageOrigin;
use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;

/// The images that nodes of labs have on this machine, unpacked if they have to be.
#[derive(Debug, Default)]
pub struct ImagesHere {
    /// By the words of lab files; none of one that is not here.
    known: BTreeMap<String, Option<Record>>,
    of_nodes: BTreeMap<String, Vec<ImageOrigin>>,
}

impl ImagesHere {
    /// Adds those of a lab; of a folder, its copy in the cache. What is not here, and a folder that cannot be copied, is left out: other machines may
    /// have it.
    ///
    /// # Errors
    /// If an image is here and cannot be used.
    pub fn add(&mut self, plan: &Plan, lab_file: &Path, sink: &mut dyn FnMut(&Event)) -> Result<(), RunError> {
        let recorded = Recorded::beside(lab_file, plan).map_err(RunError::Machine)?;
        for node in &plan.nodes {
            let Some(wanted) = &node.image else { continue };
            let source = recorded.of(&node.name, &wanted.source).unwrap_or_else(|| wanted.source.clone());
            let name = source.to_string();
            let record = match self.known.get(&name) {
                Some(record) => record.clone(),
                None => {
                    let found = Store::of_user().and_then(|store| find(&store, &source, sink));
                    let place = || format!("{}:{}: key `image`", lab_file.display(), wanted.line);
                    found.map_err(|error| refused(&place(), &error))?
                }
            };
            self.known.insert(name, record.clone());
            let Some(record) = record else { continue };
            let (of_node, origin) =
                (self.of_nodes.entry(node.name.clone()).or_default(), origin(&wanted.source, Some(&record)));
            if !of_node.contains(&origin) {
                of_node.push(origin);
            }
        }
        Ok(())
    }

    /// Returns them by the nodes' names: several of a node whose image is another one in each lab.
    pub fn of_nodes(&self) -> &BTreeMap<String, Vec<ImageOrigin>> {
        &self.of_nodes
    }
}

/// Finds or copies an image; none if that cannot be, which is told of a folder that is here.
fn find(store: &Store, source: &ImageSource, sink: &mut dyn FnMut(&Event)) -> Result<Option<Record>, ImageError> {
    let name = source.to_string();
    let mut told = |progress| sink(&Event::Preparing { text: words(&name, progress) });
    let ImageSource::Rootfs(folder) = source else { return store.find(source, &mut told) };
    match store.copy(folder, &mut told) {
        Ok(record) => Ok(Some(record)),
        Err(ImageError::Io { error, .. }) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(why @ (ImageError::Unsuitable(_) | ImageError::Io { .. })) => {
            let text = format!("{name} does not travel, and each machine needs the folder: {why}");
            sink(&Event::Preparing { text });
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
