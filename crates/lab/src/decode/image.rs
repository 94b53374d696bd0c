//! The container image of a node.

use super::files::target;
use super::timeline::ready;
use crate::diagnostics::{Diagnostic, Spanned};
use crate::errors::{Errors, keep};
use crate::fields::{Fields, list};
use crate::forms::{Command, Filled, forms};
use crate::image::ImageSource;
use crate::keyed::{Keyed, sections};
use crate::keys::Condition;
use crate::plan::{ImagePlan, VolumePlan};
use crate::scalar::{filled, text};
use crate::section::{Form, Kind};
use crate::spec::ImageSpec;
use crate::yaml::Node;
use std::collections::BTreeMap;

forms! {
    /// The place that an image comes from.
    pub(crate) struct Source = ImageSource, Filled::KIND, source;
    /// A user and perhaps a group, by name or number.
    pub(crate) struct ImageUser = String, Kind::OneOf(&[
        Kind::Text("^[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,31}(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,31})?$"),
        Kind::Integer { least: 0, most: u32::MAX as u64 - 1 },
    ]), user;
}

sections! {
    /// The container image of a node.
    pub(crate) struct ImageKeys = "" {
        /// A container image as its file system: the name of one in the cache, oci:FOLDER[:TAG], docker-archive:FILE[:NAME] or
        /// rootfs:FOLDER.
        image: Source, "debian:12";
        /// What starts in the place of the image's entry point and command; none: nothing.
        entrypoint: Command, "[sleep, infinity]";
        /// What the entry point is given in the place of the image's command.
        command: Command, "[redis-server, --save, '']";
        /// The user of the image's program: a name or number that the image knows, perhaps with a group behind a colon.
        user: ImageUser, "postgres";
        /// Files and folders of this machine that are seen in a node with an image: SOURCE:TARGET, and :ro if nothing may be written there.
        volumes = Kind::list(&Kind::Text("^[^:]+:/[^:]+(:r[ow])?$"), 0), "[/srv:/data, /etc/hosts:/etc/hosts.machine:ro]";
        /// When the image's program is ready to be used; services wait for it.
        ready = Condition::KIND, "{tcp: 5432}";
    }
}

/// The image among the keys of a node.
pub(super) fn image(fields: &Fields<'_>, errors: &mut Errors) -> Option<ImageSpec> {
    let Some(node) = fields.get("image") else {
        let why = |key| format!("`{key}` is for nodes with an image: write `image`, too, or leave it out");
        fields.refuse(ImageKeys::SECTION.keys().map(|key| (key.name, why(key.name))), errors);
        return None;
    };
    let starts = fields.get("entrypoint").is_none_or(|value| value.text() != Some("none"));
    if let (false, Some(value)) = (starts, ["command", "user", "ready"].iter().find_map(|key| fields.get(key))) {
        errors.push(value.error("with `entrypoint: none` nothing of the image starts: leave this out"));
    }
    let ImageKeys { image, entrypoint, command, user } = ImageKeys::read_keys(fields, errors)?;
    let (volumes, places): (Vec<_>, Vec<_>) =
        fields.get("volumes").map_or_else(Vec::new, |value| volumes(value, errors)).into_iter().unzip();
    let writable = volumes.iter().zip(places).find(|(volume, _)| !volume.is_read_only).map(|(_, place)| place);
    let ready = fields.get("ready").and_then(|value| ready(value, errors));
    let source = image?.map_path(|path| errors.folder().join(path));
    let entrypoint = entrypoint.filter(|_| starts);
    let plan = ImagePlan { line: node.span.line, source, starts, entrypoint, command, user, volumes };
    Some(ImageSpec { plan: node.spanned(plan), ready, writable })
}

fn source(node: &Node) -> Result<ImageSource, Diagnostic> {
    let text = filled(node)?;
    ImageSource::parse(&text).map_err(|why| node.error(why))
}

/// A user with or without a group, which the image's own files have to know: what they say is not known here.
fn user(node: &Node) -> Result<String, Diagnostic> {
    let name = text(node)?;
    let plain = |part: &str| {
        let bytes = part.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b));
        bytes && !part.is_empty() && part.len() <= 32 && !part.starts_with(['-', '.'])
    };
    let mut parts = name.splitn(2, ':');
    if parts.all(plain) {
        return Ok(name);
    }
    Err(node.error(format!("\"{name}\" is not a user: write a name or number, for example postgres or 1000:1000")))
}

/// Each volume with its place.
fn volumes(node: &Node, errors: &mut Errors) -> Vec<(VolumePlan, Spanned<()>)> {
    let mut volumes = Vec::new();
    let mut targets: BTreeMap<_, Spanned<()>> = BTreeMap::new();
    for item in list(node, errors) {
        let Some(volume) = keep(volume(item, errors), errors) else { continue };
        match targets.get(&volume.target) {
            Some(first) => {
                let again = item.error(format!("{} is listed twice: leave one out", volume.target.display()));
                errors.push(again.and(first.span, "first here"));
            }
            None => {
                targets.insert(volume.target.clone(), item.spanned(()));
                volumes.push((volume, item.spanned(())));
            }
        }
    }
    volumes
}

fn volume(node: &Node, errors: &Errors) -> Result<VolumePlan, Diagnostic> {
    let said = filled(node)?;
    let wrong = |what: &str| {
        Err(node.error(format!(
            "\"{said}\" {what}: write SOURCE:TARGET or SOURCE:TARGET:ro, for example ./data:/var/lib/data"
        )))
    };
    let parts: Vec<&str> = said.split(':').collect();
    let (from, to, is_read_only) = match parts[..] {
        [from, to] | [from, to, "rw"] => (from, to, false),
        [from, to, "ro"] => (from, to, true),
        [_, _, _] => return wrong("has another ending than ro and rw"),
        _ => return wrong("is no volume"),
    };
    if from.is_empty() {
        return wrong("has no source");
    }
    let target = target(to).map_err(|why| node.error(why))?;
    let source = errors.folder().join(from);
    if let Err(error) = std::fs::metadata(&source) {
        return Err(node.error(format!("looking at {}: {error}", source.display())));
    }
    Ok(VolumePlan { line: node.span.line, source, target, is_read_only })
}
