//! A node's image as it was found.

use netloom_host::users::User;
use netloom_image::{Config, Found as Kind, Image, ImageError, Record, Root};
use netloom_lab::{Argv, ImagePlan, NodePlan};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Bytes of a file of users; those of large installations have some hundred thousand.
const LONGEST_PASSWD: u64 = 4 << 20;

/// See the module.
#[derive(Debug)]
pub(crate) struct Found {
    image: Rc<Image>,
    root: Root,
    /// Where its programs start.
    pub(crate) folder: PathBuf,
    /// What the image does not have, and its node does: what volumes and files are put at.
    added: Vec<PathBuf>,
}

impl Found {
    pub(super) fn new(node: &NodePlan, wanted: &ImagePlan, image: Rc<Image>) -> Result<Self, ImageError> {
        let root = Root::open(&image.folder)?;
        for volume in &wanted.volumes {
            readable(&volume.source).map_err(|error| {
                let attempted = format!("the volume {}: read {}", volume.target.display(), volume.source.display());
                ImageError::Io { attempted, error }
            })?;
        }
        let said = image.record.as_ref().map_or("", |record| &record.config.working_dir);
        let folder = Path::new("/").join(said);
        let volumes = wanted.volumes.iter().map(|volume| volume.target.clone());
        let added = volumes.chain(node.files.iter().map(|file| file.target.clone())).collect();
        Ok(Self { image, root, folder, added })
    }

    fn settings(&self) -> Option<&Config> {
        self.image.record.as_ref().map(|record| &record.config)
    }

    pub(super) fn record(&self) -> Option<&Record> {
        self.image.record.as_ref()
    }

    pub(crate) fn root_folder(&self) -> &Path {
        &self.image.folder
    }

    pub(super) fn root(&self) -> &Root {
        &self.root
    }

    /// Folders that programs need and that the image may lack.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let volumes = self.settings().into_iter().flat_map(|config| config.volumes.keys().map(PathBuf::from));
        let is_plain = |path: &PathBuf| path.is_absolute() && !path.components().any(|part| part.as_os_str() == "..");
        [self.folder.clone()].into_iter().chain(volumes).filter(is_plain).collect()
    }

    /// The environment that the image describes.
    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let all = self.settings().into_iter().flat_map(Config::variables);
        all.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    /// The image's program with its arguments, as far as the lab file does not say otherwise.
    ///
    /// # Errors
    /// That there is none.
    pub(super) fn command(&self, wanted: &ImagePlan) -> Result<Argv, String> {
        let none = Config::default();
        let config = self.settings().unwrap_or(&none);
        let words = |command: &Argv| match command {
            Argv::Shell(text) => ["/bin/sh", "-c", text].map(str::to_owned).to_vec(),
            Argv::Exec(words) => words.clone(),
        };
        let entry = wanted.entrypoint.as_ref().map_or_else(|| config.entrypoint.clone(), words);
        let usual = if wanted.entrypoint.is_some() { Vec::new() } else { config.cmd.clone() };
        let command = wanted.command.as_ref().map_or(usual, words);
        let all = [entry, command].concat();
        if all.is_empty() {
            let source = &wanted.source;
            return Err(format!(
                "{source} names no program to start: write `command`, for example `command: sleep infinity`, or `entrypoint: none` \
                 for a node that only has its files"
            ));
        }
        Ok(Argv::Exec(all))
    }

    /// The user of the image's program; none if it is root.
    pub(super) fn user_of(&self, wanted: &ImagePlan) -> Option<String> {
        let said = wanted.user.clone().or_else(|| self.settings().map(|config| config.user.clone()));
        said.filter(|user| !matches!(user.as_str(), "" | "0" | "root" | "0:0" | "root:root"))
    }

    /// The user that the image has under this name.
    ///
    /// # Errors
    /// That there is none.
    pub(super) fn user(&self, name: &str) -> Result<User, String> {
        let read = |path: &str| {
            if self.is_added(path) {
                return None;
            }
            let bytes = self.root.read(Path::new(path), LONGEST_PASSWD).ok()?.unwrap_or_default();
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        let (passwd, group) = (read("/etc/passwd"), read("/etc/group"));
        let found = User::among(name, passwd.as_deref().unwrap_or_default(), group.as_deref().unwrap_or_default());
        found.ok_or_else(|| {
            format!("the image has no user `{name}` in its /etc/passwd and /etc/group: name another, or a number")
        })
    }

    /// Whether a path leads to something that the image itself does not have.
    pub(super) fn is_added(&self, path: &str) -> bool {
        self.added.iter().any(|added| Path::new(path).starts_with(added))
    }

    pub(super) fn has_folder(&self, path: &str) -> bool {
        self.is_added(path) || self.root.find(path) == Some(Kind::Folder)
    }

    /// A shell of the image in the place of one that it does not have.
    pub(super) fn adapt_shell(&self, argv: &mut Vec<String>) {
        let is_there = argv.first().is_some_and(|shell| self.root.find(shell) == Some(Kind::Program));
        if is_there {
            return;
        }
        let shell = ["/bin/bash", "/bin/sh"].into_iter().find(|shell| self.root.find(shell) == Some(Kind::Program));
        *argv = vec![shell.unwrap_or("/bin/sh").to_owned()];
    }
}

/// Whether this user can read a file, or list a folder.
fn readable(path: &Path) -> std::io::Result<()> {
    if fs::metadata(path)?.is_dir() { fs::read_dir(path).map(drop) } else { netloom_regular::open(path).map(drop) }
}
