//! What is freed later, beside what another device uses.

use std::sync::{Mutex, PoisonError};

use crate::common::hold_up;
use crate::common::two::with_two;
use warpsmith_host::prelude::*;
use warpsmith_host::{PoolOptions, set_drop_error_hook};

static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn a_pool_ends_beside_memory_that_another_device_uses() {
    with_two(|one, other| {
        set_drop_error_hook(|error| {
            let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
            told.push(error.to_string());
        });
        end_pool(&one, &other).unwrap_or_else(|error| panic!("{error}"));
    });
}

fn end_pool(one: &Gpu, other: &Gpu) -> Result<()> {
    let (here, there) = (one.stream()?, other.stream()?);
    let pool = one.pool(PoolOptions::default())?;
    let of_pool = here.alloc_from(&pool)?.zeroed::<u32>(8)?;
    let access = one.allow_peer(other)?;
    let shared = one.exportable::<u32>(8)?;
    let mut far = there.zeroed::<u32>(8)?;
    here.synchronize()?;
    there.synchronize()?;
    let late = hold_up(&there)?;
    there.copy(&access.view(&shared)?, &mut far)?;
    // The pool waits for its memory, and what is shared for the other device.
    drop(pool);
    drop(shared);
    drop(of_pool);
    here.synchronize()?;
    drop(late);
    assert_eq!(there.download(&far)?, [0; 8]);
    here.synchronize()?;
    let told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(told.is_empty(), "{told:?}");
    Ok(())
}
