//! Tokens, and what each of them allows.

use rustix::rand::{GetRandomFlags, getrandom};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io;

/// What a browser may do. Each may do what those before it may, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Read: labs, their counters, files, results.
    Look,
    /// Work with labs that are up: change links, open terminals, capture.
    Use,
    /// Write lab files, bring labs up and take them down.
    Edit,
}

impl Role {
    /// All of them, the least first.
    pub const ALL: [Self; 3] = [Self::Look, Self::Use, Self::Edit];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Use => "use",
            Self::Edit => "edit",
        }
    }
}

/// The tokens of a server.
#[derive(Debug)]
pub(crate) struct Tokens(Vec<(Role, String)>);

impl Tokens {
    /// One for each of these roles, which nobody can guess.
    ///
    /// # Errors
    /// When the kernel has no random numbers.
    pub(crate) fn new(roles: &[Role]) -> io::Result<Self> {
        roles.iter().map(|role| Ok((*role, random()?))).collect::<io::Result<_>>().map(Self)
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Role, &str)> {
        self.0.iter().map(|(role, token)| (*role, token.as_str()))
    }

    /// What `text` allows. How long that takes tells nothing of the tokens: digests are compared.
    pub(crate) fn role(&self, text: &str) -> Option<Role> {
        let digest = Sha256::digest(text);
        self.0.iter().find(|(_, token)| Sha256::digest(token) == digest).map(|(role, _)| *role)
    }
}

/// 160 bits as 40 digits.
fn random() -> io::Result<String> {
    let mut bytes = [0_u8; 20];
    let mut filled = 0;
    while filled < bytes.len() {
        filled += getrandom(&mut bytes[filled..], GetRandomFlags::empty())?;
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_its_role_and_no_other_text_has_one() {
        let tokens = Tokens::new(&Role::ALL).unwrap();
        for (role, token) in tokens.iter() {
            assert_eq!(tokens.role(token), Some(role));
            assert_eq!(token.len(), 40);
        }
        assert_eq!(tokens.role(""), None);
        assert_eq!(tokens.role(&"0".repeat(40)), None);
        assert!(Role::Look < Role::Use && Role::Use < Role::Edit);
    }
}
