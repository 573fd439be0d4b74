//! Panics of kernels: each is told to the first wait that covers its launch, and to no other.

mod graphs;
mod threads;
mod waits;

use crate::common::panicking::{Kernels, kernels, launch, launch_at};
use crate::common::{add, gpu, hold_up, in_own_process, launch_add, module, wait_silently};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use warpsmith_host::KernelPanic;
use warpsmith_host::prelude::*;

/// The panic that a wait must tell.
#[track_caller]
fn told<T>(result: Result<T>) -> KernelPanic {
    match result {
        Ok(_) => panic!("the wait tells no panic"),
        Err(error) => error.panic().unwrap_or_else(|| panic!("{error}")).clone(),
    }
}

/// The lines of the panics that a wait must tell.
#[track_caller]
fn lines(result: Result<()>) -> Vec<u32> {
    let panic = told(result);
    let others = panic.others.iter().map(|other| other.line);
    [panic.line].into_iter().chain(others).collect()
}
