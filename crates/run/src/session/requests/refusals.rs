//! Why requests are refused: no such node or link, or a key that is wrong.

use netloom_control::Refused;
use netloom_judge::ExitCode;
use netloom_lab::Plan;
use netloom_provision::links::Links;

/// Why a request is refused: the client's exit code, and a text.
pub(super) type Refusal = (ExitCode, String);

/// How many names a message lists.
const NAMES_LISTED: usize = 20;

/// The place of the node with this name.
pub(super) fn find_node(plan: &Plan, name: &str) -> Result<usize, Refusal> {
    let nodes = &plan.nodes;
    nodes.iter().position(|node| node.name == name).ok_or_else(|| {
        let names: Vec<&str> = nodes.iter().take(NAMES_LISTED).map(|node| node.name.as_str()).collect();
        (ExitCode::NoSuchLab, format!("no node is called `{name}`: there are {}", names.join(", ")))
    })
}

fn find_link(links: &Links, name: &str) -> Result<usize, Refusal> {
    links.find(name).ok_or_else(|| {
        let names: Vec<&str> = links.names().iter().take(NAMES_LISTED).map(|link| link.name.as_str()).collect();
        (ExitCode::NoSuchLab, format!("no link is called `{name}`: there are {}", names.join(", ")))
    })
}

/// The link with this name, of which clients want what only the engine can give them.
pub(super) fn find_link_in_engine(links: &Links, name: &str, wanted: &str) -> Result<usize, Refusal> {
    let link = find_link(links, name)?;
    if !links.names()[link].joined {
        return Ok(link);
    }
    let message = format!(
        "`{name}` is joined in the kernel, past the engine, and cannot be {wanted}: write `bypass: false` for it in the \
         lab file and start the lab again"
    );
    Err((ExitCode::Usage, message))
}

/// The refusal of a request whose key has this wrong value.
pub(super) fn wrong(key: &str, message: String) -> Refused {
    Refused { key: Some(key.to_owned()), ..Refused::usage(message) }
}
