//! Events that two threads record beside each other.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use crate::common::{Add, add, gpu, module};
use warpsmith_host::prelude::*;
use warpsmith_host::{Event, LaunchOptions, Wait};

const ROUNDS: u32 = 200;

/// Whichever recording is the last one, a wait for it is none for what the other stream holds.
#[test]
fn an_event_of_a_launch_and_of_another_stream_says_what_its_last_recording_does() -> Result<()> {
    let gpu = gpu();
    let add = add(&module(&gpu));
    let (busy, idle) = (gpu.stream()?, gpu.stream()?);
    let event = gpu.event_untimed()?;
    for _ in 0..warpsmith_testkit::cases(20) {
        let gate = gpu.flag(0_u32)?;
        let mut words = busy.zeroed::<u32>(32)?;
        let mut page = gpu.pinned::<u32>(32)?;
        busy.wait_value(&gate, Wait::AtLeast(1))?;
        busy.copy_to_host(&words, &mut page)?;
        let (begun, done) = (AtomicU32::new(0), AtomicU32::new(0));
        let told = thread::scope(|scope| {
            scope.spawn(|| {
                for round in 1..=ROUNDS {
                    while begun.load(Ordering::Acquire) < round {
                        thread::yield_now();
                    }
                    // So that it comes at another moment of the launch each time.
                    (0..round * 7 % 150).for_each(|_| spin_loop());
                    idle.record(&event).expect("a recording");
                    done.store(round, Ordering::Release);
                }
            });
            let mut told = Ok(());
            for round in 1..=ROUNDS {
                begun.store(round, Ordering::Release);
                let launched = launch_with(&busy, &add, &mut words, &event);
                while done.load(Ordering::Acquire) < round {
                    thread::yield_now();
                }
                let idle_again = launched.and_then(|()| idle.synchronize());
                let complete = idle_again.and_then(|()| event.is_complete());
                match complete {
                    Ok(true) if page.host().is_ok() => {
                        told = Err("it says what the other does".into())
                    }
                    Ok(_) => {}
                    Err(error) => told = Err(error.to_string()),
                }
            }
            told
        });
        gate.set(1);
        busy.synchronize()?;
        assert_eq!(
            told,
            Ok::<_, String>(()),
            "the page was still to be written"
        );
    }
    Ok(())
}

fn launch_with(
    stream: &Stream,
    add: &Add,
    words: &mut DeviceBuffer<u32>,
    event: &Event,
) -> Result<()> {
    let options = LaunchOptions::new().completion_event(event);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { stream.launch_untyped_with(add, Grid::cover(32, 32), &options, (words, 1)) }
}
