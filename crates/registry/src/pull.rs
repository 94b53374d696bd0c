//! From the name of an image to its place in the cache.

use crate::client::{Ask, Client};
use crate::reference::{Reference, Wanted};
use crate::session::Session;
use crate::{RegistryError, blob};
use netloom_image::{Digest, Download, ImageError, Imported, LONGEST_DOCUMENT, Leads, Part, Store, check_config};
use netloom_lab::ImageName;
use std::fs;
use std::time::Duration;

/// How images are fetched.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long a registry may say nothing.
    pub patience: Duration,
    /// Whether registries on other machines are asked without encryption.
    pub plain_http: bool,
    /// The name of the image in the cache, in the place of its own name.
    pub name: Option<ImageName>,
}

/// A report on the progress of a pull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A part of a layer has arrived.
    Layer {
        /// Its number, from 1.
        number: usize,
        /// How many there are.
        of: usize,
        /// Bytes of it that are there.
        have: u64,
        /// Its bytes.
        bytes: u64,
    },
    /// The progress of the import into the cache.
    Import(netloom_image::Progress),
}

/// What is asked for when a manifest is: the kinds of OCI and of Docker.
const MANIFESTS: &str = "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, \
    application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json";

/// How often an index may lead to another.
const DEEPEST: usize = 4;

/// What an image consists of.
struct Described {
    document: Vec<u8>,
    digest: Digest,
    config: Part,
    layers: Vec<Part>,
}

/// Fetches an image for this machine, and unpacks it into the cache, unless it is there.
///
/// # Errors
/// See [`RegistryError`]. What has come stays for the next attempt if the network or the room for it was to blame.
pub fn pull(
    store: &Store,
    reference: &Reference,
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Imported, RegistryError> {
    let names: Vec<ImageName> = options.name.clone().or_else(|| reference.name()).into_iter().collect();
    let client = Client::new(options.patience, options.plain_http);
    let mut session = Session::new(&client, reference, options.plain_http)?;
    let described = describe(&mut session)?;
    if let Some(known) = store.name(&described.config.digest, &names)? {
        return Ok(known);
    }
    let wanted = described.bytes().filter(|bytes| *bytes <= store.limits().bytes).ok_or_else(|| {
        let why = format!("its layers have more than {} bytes", store.limits().bytes);
        ImageError::Unsuitable(format!("{reference}: {why}"))
    })?;
    let download = store.download(described.digest, &mut |told| progress(Progress::Import(told)))?;
    download.check_room(wanted)?;
    if let Err(error) = fetch(&mut session, &download, &described, progress) {
        // Nothing of an image that is not for this machine, or not what it says, serves anybody.
        let serves = !matches!(error, RegistryError::Image(ImageError::Unsuitable(_) | ImageError::Damaged { .. }));
        if !serves {
            download.remove();
        }
        return Err(error);
    }
    let mut told = |told| progress(Progress::Import(told));
    Ok(store.import_download(download, &reference.to_string(), names, &mut told)?)
}

impl Described {
    /// Those of all layers; none if nothing can count them.
    fn bytes(&self) -> Option<u64> {
        self.layers.iter().try_fold(0_u64, |sum, layer| sum.checked_add(layer.size))
    }
}

/// Finds the manifest of the image for this machine.
fn describe(session: &mut Session<'_>) -> Result<Described, RegistryError> {
    let mut wanted = session.reference.wanted.clone();
    let whole = session.reference.to_string();
    for _ in 0..DEEPEST {
        let answer = session.get(
            &format!("manifests/{wanted}"),
            Ask { accept: Some(MANIFESTS), is_document: true, ..Ask::default() },
        )?;
        let document = session.client.document(answer, "a manifest", LONGEST_DOCUMENT)?;
        let digest = Digest::of(&document);
        match wanted {
            Wanted::Digest(said) if said != digest => {
                let why =
                    format!("the manifest that the registry sends has the digest {digest}, and should have {said}");
                return Err(ImageError::Damaged { what: whole, why }.into());
            }
            _ => {}
        }
        match Leads::read(&document, &whole)? {
            Leads::Manifest(next) => wanted = Wanted::Digest(next.digest),
            Leads::Image { config, layers } => return Ok(Described { document, digest, config, layers }),
        }
    }
    Err(ImageError::Unsuitable(format!("{whole} has indexes inside one another, more than {DEEPEST}")).into())
}

/// Fetches all parts: first what says whether the others are wanted.
fn fetch(
    session: &mut Session<'_>,
    download: &Download,
    described: &Described,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), RegistryError> {
    let whole = session.reference.to_string();
    let io = |attempted: &str, error| ImageError::Io { attempted: format!("{attempted} of {whole}"), error };
    fs::write(download.blob(&described.digest), &described.document)
        .map_err(|error| io("write the manifest", error))?;
    let config = &described.config;
    if config.size > LONGEST_DOCUMENT {
        let why = format!("its configuration has {} bytes, and {LONGEST_DOCUMENT} are possible", config.size);
        return Err(ImageError::Damaged { what: whole, why }.into());
    }
    blob::fetch(session, download, config, &mut |_| {})?;
    let document = fs::read(download.blob(&config.digest)).map_err(|error| io("read the configuration", error))?;
    check_config(&document, &whole)?;
    let of = described.layers.len();
    for (number, layer) in described.layers.iter().enumerate() {
        let mut told = |have| progress(Progress::Layer { number: number + 1, of, have, bytes: layer.size });
        blob::fetch(session, download, layer, &mut told)?;
    }
    Ok(())
}
