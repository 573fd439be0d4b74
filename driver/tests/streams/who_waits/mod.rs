//! Which calls of the driver wait while a stream is held up that has nothing to do with them, and which enqueue work behind what holds a stream
//! up without waiting for it. The manual does not say; the test tells (`--nocapture`), and holds what does not depend on it: that each is done
//! once the stream goes on.

mod cases;
mod objects;

use std::sync::mpsc;
use std::time::Duration;

use self::cases::{BEHIND, BESIDE, FREES, MAKERS};
use crate::common::*;

/// So long a call is waited for before it counts as one that waits.
const WHILE: Duration = Duration::from_millis(300);
const BYTES: usize = 2 << 20;

/// A call, on a thread of its own; it is given the stream that is held up.
type Call = Box<dyn FnOnce(CUstream)>;

/// What is made before the stream is held up, and what is called meanwhile.
struct Case {
    call: &'static str,
    prepare: fn() -> Call,
}

/// What goes to another thread.
struct Sent<T>(T);

// SAFETY: handles of the driver, and addresses, may be used by any thread.
unsafe impl<T> Send for Sent<T> {}

impl<T> Sent<T> {
    fn get(self) -> T {
        self.0
    }
}

/// What holds a stream up until the host lets it go on.
trait Hold {
    const NAME: &'static str;
    fn new(stream: CUstream) -> Self;
    fn let_go(&self);
}

/// A function on the host.
struct Function(&'static Gate);

impl Hold for Function {
    const NAME: &'static str = "a host function";

    fn new(stream: CUstream) -> Self {
        let gate = Gate::new();
        gate.block(stream);
        Self(gate)
    }

    fn let_go(&self) {
        self.0.open();
    }
}

/// A wait for a word.
struct Wait(Word);

impl Hold for Wait {
    const NAME: &'static str = "a wait for a word";

    fn new(stream: CUstream) -> Self {
        let word = Word::new();
        ok!(cuStreamWaitValue32_v2(stream, word.address(), 1, 0));
        Self(word)
    }

    fn let_go(&self) {
        self.0.store(1);
    }
}

/// Makes the calls of all cases, each while a stream is held up in this way.
fn tell<H: Hold>(backend: Backend, role: &str, cases: &[Case]) {
    for case in cases {
        let call = Sent((case.prepare)());
        ok!(cuCtxSynchronize());
        let held = stream();
        let hold = H::new(held);
        let (done, is_done) = mpsc::channel();
        let held_there = Sent(held);
        let thread = std::thread::spawn(move || {
            gpu();
            call.get()(held_there.get());
            done.send(()).expect("the test waits");
        });
        let waits = is_done.recv_timeout(WHILE).is_err();
        let answer = if waits { "WAITS" } else { "passes" };
        println!("{backend:?}, {}: {role}: {}: {answer}", H::NAME, case.call);
        hold.let_go();
        thread
            .join()
            .expect("the call is done once the stream goes on");
        ok!(cuCtxSynchronize());
        ok!(cuStreamDestroy_v2(held));
    }
}

fn tell_all<H: Hold>() {
    let _turn = turn();
    let backend = gpu();
    tell::<H>(backend, "frees", FREES);
    tell::<H>(backend, "makes", MAKERS);
    tell::<H>(backend, "beside it", BESIDE);
    tell::<H>(backend, "behind it", BEHIND);
}

#[test]
fn for_a_host_function() {
    tell_all::<Function>();
}

#[test]
fn for_a_word() {
    tell_all::<Wait>();
}
