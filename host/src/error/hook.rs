//! A destructor cannot return an error and must not hide one: it passes the error to a hook, which by default
//! writes it to stderr.

use std::sync::atomic::{AtomicPtr, Ordering};

use super::Error;

/// What is called with an error that happened in a destructor.
pub type DropErrorHook = fn(&Error);

static HOOK: AtomicPtr<()> = AtomicPtr::new(std::ptr::null_mut());

/// Replaces what happens to errors in destructors (by default a line on stderr). Returns nothing to restore: pass a function of
/// your own that does what you need.
///
/// ```
/// fn count(error: &warpsmith_host::Error) {
///     eprintln!("while dropping: {error}");
/// }
/// warpsmith_host::set_drop_error_hook(count);
/// ```
pub fn set_drop_error_hook(hook: DropErrorHook) {
    HOOK.store(hook as *mut (), Ordering::Release);
}

#[cold]
pub(crate) fn report_drop_error(error: &Error) {
    let hook = HOOK.load(Ordering::Acquire);
    if hook.is_null() {
        eprintln!("warpsmith: while dropping: {error}");
    } else {
        // SAFETY: the only non-null values stored are `DropErrorHook` function pointers.
        let hook = unsafe { core::mem::transmute::<*mut (), DropErrorHook>(hook) };
        hook(error);
    }
}
