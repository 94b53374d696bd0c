//! Who may have a lab file read: that takes a processor, and cannot be stopped once it has begun.

use crate::answer::{Refusal, apart};
use crate::shares::{Limits, Share, Shares};
use crate::token::Role;
use crate::visitors::Visitor;
use axum::http::StatusCode;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Files that are read at a time for the role `edit`, which asks at each keystroke, and for all others together.
const MOST_FOR_EDIT: usize = 2;
const MOST_FOR_OTHERS: usize = 1;
/// Those who wait for that.
const WAITING: Limits = Limits { all: 96, role: 24, address: 24, one: 2 };
/// How long somebody waits for their turn, and then for what is found.
const TURN_WITHIN: Duration = Duration::from_secs(20);
const FOUND_WITHIN: Duration = Duration::from_secs(20);

/// See the module.
pub(crate) struct Turns {
    edit: Arc<Semaphore>,
    others: Arc<Semaphore>,
    waiting: Arc<Shares>,
}

impl Turns {
    pub(crate) fn new() -> Self {
        Self {
            edit: Arc::new(Semaphore::new(MOST_FOR_EDIT)),
            others: Arc::new(Semaphore::new(MOST_FOR_OTHERS)),
            waiting: Shares::new("checks", WAITING),
        }
    }

    /// Does this when it is the visitor's turn. Whoever does not wait for the end, or waits too long, does not let the next one begin earlier.
    pub(crate) async fn take<T: Send + 'static>(
        &self,
        visitor: &Visitor,
        address: IpAddr,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Refusal> {
        let share = self.waiting.take(visitor, address)?;
        let turns = if visitor.role == Role::Edit { &self.edit } else { &self.others };
        let turn = tokio::time::timeout(TURN_WITHIN, Arc::clone(turns).acquire_owned()).await;
        let turn = turn.map_err(|_| busy())?.map_err(|_| Refusal::failed("the server ends"))?;
        let held: (Share, OwnedSemaphorePermit) = (share, turn);
        let found = apart(move || {
            let found = work();
            drop(held);
            found
        });
        tokio::time::timeout(FOUND_WITHIN, found).await.map_err(|_| busy())?
    }
}

fn busy() -> Refusal {
    Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "this takes too long here: try again, or make it smaller")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[tokio::test]
    async fn others_do_not_keep_whoever_shares_the_page_waiting() {
        let turns = Turns::new();
        let address = IpAddr::from([192, 0, 2, 1]);
        let student = Visitor::new(2, Role::Look, None, address);
        let teacher = Visitor::new(1, Role::Edit, None, address);
        let (release, held) = mpsc::channel::<()>();
        let slow = turns.take(&student, address, move || held.recv().is_ok());
        let (mut slow, mut second) = (Box::pin(slow), Box::pin(turns.take(&student, address, || ())));
        let a_moment = Duration::from_millis(50);
        assert!(tokio::time::timeout(a_moment, &mut slow).await.is_err());
        assert!(tokio::time::timeout(a_moment, &mut second).await.is_err(), "it waits for the first");
        let refused = turns.take(&student, address, || ()).await.unwrap_err();
        assert!(refused.message().contains("by you"), "{}", refused.message());
        turns.take(&teacher, address, || ()).await.unwrap();
        release.send(()).unwrap();
        assert!(slow.await.unwrap());
        second.await.unwrap();
    }
}
