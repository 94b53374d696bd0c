//! What others may reach of what is shared: whoever has started the server may reach all labs of their account, and others those that were named.

use crate::answer::Refusal;
use crate::token::Role;

/// What is shared with others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// The labs whose files are in the folder, and all results.
    Folder,
    /// One lab, its file, and its results.
    Lab {
        name: String,
        /// The path of its file in the folder, if it is there.
        file: Option<String>,
    },
    /// The results with this ID, and no lab.
    Results(String),
}

impl Scope {
    /// Whether somebody of this role may read this lab file.
    pub(crate) fn has_file(&self, role: Role, path: &str) -> bool {
        role == Role::Edit
            || match self {
                Self::Folder => true,
                Self::Lab { file, .. } => file.as_deref() == Some(path),
                Self::Results(_) => false,
            }
    }

    /// Refuses a lab file that is not shared with somebody of this role.
    pub(crate) fn check_file(&self, role: Role, path: &str) -> Result<(), Refusal> {
        if self.has_file(role, path) {
            return Ok(());
        }
        Err(Refusal::forbidden(format!("{} is not shared with you", path.escape_debug())))
    }

    /// Whether somebody of this role may read what this lab has left behind.
    pub(crate) fn has_results(&self, role: Role, id: &str) -> bool {
        role == Role::Edit
            || match self {
                Self::Folder => true,
                Self::Results(own) => own == id,
                Self::Lab { name, .. } => id.split_once(':').is_some_and(|(lab, _)| lab == name),
            }
    }

    /// Whether somebody of this role may see a command by which this lab was brought up or run.
    pub(crate) fn has_job(&self, role: Role, lab: Option<&str>, path: &str) -> bool {
        role == Role::Edit
            || match self {
                Self::Folder => true,
                Self::Lab { name, .. } => lab == Some(name) && self.has_file(role, path),
                Self::Results(_) => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_is_reached_and_nothing_else() {
        let star = Scope::Lab { name: "star".into(), file: Some("star.yaml".into()) };
        for role in [Role::Look, Role::Use] {
            assert!(star.has_file(role, "star.yaml") && !star.has_file(role, "ring.yaml"));
            assert!(star.has_results(role, "star:x") && !star.has_results(role, "ring:x"));
            assert!(!star.has_results(role, "given") && !star.has_results(role, "starlet:x"));
            assert!(star.has_job(role, Some("star"), "star.yaml"));
            assert!(!star.has_job(role, Some("ring"), "ring.yaml") && !star.has_job(role, None, "star.yaml"));
            assert!(
                Scope::Folder.has_file(role, "ring.yaml") && !Scope::Results("x:y".into()).has_file(role, "ring.yaml")
            );
        }
        assert!(star.has_file(Role::Edit, "ring.yaml") && star.has_results(Role::Edit, "ring:x"));
    }
}
