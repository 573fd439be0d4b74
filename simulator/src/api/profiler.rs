//! What turns a profiling tool on and off. The simulator has none, which is what a GPU's driver is without one: the calls do nothing. Its
//! [observers](crate::observe) are told of everything as long as they are registered.

use super::entry::*;
use crate::context::current;

driver_calls! {
    Ready fn cuProfilerStart() {
        current()?;
    }

    Ready fn cuProfilerStop() {
        current()?;
    }
}
