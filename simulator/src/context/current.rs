//! Each thread's stack of current contexts.

use std::cell::RefCell;
use std::sync::Arc;

use super::state::Context;
use crate::error::{Result, code};

thread_local! {
    static STACK: RefCell<Vec<Arc<Context>>> = const { RefCell::new(Vec::new()) };
}

/// The calling thread's current context, fit for use.
pub(crate) fn current() -> Result<Arc<Context>> {
    let context = current_unchecked().ok_or(code::INVALID_CONTEXT)?;
    context.check()?;
    Ok(context)
}

/// The calling thread's current context, whatever its state.
pub(crate) fn current_unchecked() -> Option<Arc<Context>> {
    STACK.with_borrow(|stack| stack.last().cloned())
}

/// Makes a context current above the present one.
pub(crate) fn push(context: Arc<Context>) {
    STACK.with_borrow_mut(|stack| stack.push(context));
}

/// Takes the current context off.
pub(crate) fn pop() -> Result<Arc<Context>> {
    STACK.with_borrow_mut(Vec::pop).ok_or(code::INVALID_CONTEXT)
}

/// Replaces the current context; `None` leaves none.
pub(crate) fn set_current(context: Option<Arc<Context>>) {
    STACK.with_borrow_mut(|stack| {
        stack.pop();
        stack.extend(context);
    });
}
