//! A section ends on the thread that began it.

use warpsmith_host::trace;

fn main() {
    let section = trace::range("here");
    std::thread::spawn(move || drop(section));
}
