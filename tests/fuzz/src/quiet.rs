//! Keeps the panics to itself that an input causes on its way to be made small: the last one is printed in the end.

use std::cell::{Cell, RefCell};
use std::panic::{set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

/// Does `work`, which catches its own panics; also says where the last of them was.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> (T, String) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let loud = take_hook();
        set_hook(Box::new(move |panic| {
            if IS_QUIET.get() {
                let place = panic.location().map(ToString::to_string);
                PLACE.set(place.unwrap_or_default());
            } else {
                loud(panic);
            }
        }));
    });
    IS_QUIET.set(true);
    let result = work();
    IS_QUIET.set(false);
    (result, PLACE.take())
}
