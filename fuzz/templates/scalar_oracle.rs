// The programs compiled for the host: a library that answers what a program does with an input.

use std::cell::RefCell;
use std::panic::{catch_unwind, set_hook};
use std::sync::Once;

/// What a program did.
#[repr(C)]
pub struct Answer {
    value: u64,
    /// The line of its panic, 0 for none.
    line: u32,
    column: u32,
    /// The panic's message, as far as it fits.
    length: usize,
    message: [u8; 256],
}

thread_local! {
    /// The last panic's place and message.
    static PANIC: RefCell<(u32, u32, String)> = const { RefCell::new((0, 0, String::new())) };
}

#[unsafe(no_mangle)]
pub extern "C" fn answer(program: usize, input: &[u64; 6], answer: &mut Answer) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        set_hook(Box::new(|info| {
            let place = info.location().map_or((0, 0), |place| (place.line(), place.column()));
            let message = info.payload_as_str().unwrap_or_default().to_owned();
            PANIC.with(|panic| *panic.borrow_mut() = (place.0, place.1, message));
        }));
    });
    match catch_unwind(|| PROGRAMS[program](input)) {
        Ok(value) => {
            answer.value = value;
            answer.line = 0;
        }
        Err(_) => PANIC.with(|panic| {
            let panic = panic.borrow();
            (answer.line, answer.column) = (panic.0, panic.1);
            answer.length = panic.2.len().min(answer.message.len());
            answer.message[..answer.length].copy_from_slice(&panic.2.as_bytes()[..answer.length]);
        }),
    }
}
