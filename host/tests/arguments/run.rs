//! Makes the calls of a topic.

use std::fmt::Write as _;

use crate::common::gpu;
use crate::common::said::{difference_from_file, without_addresses};
use crate::common::two::with_two;
use crate::row::{Kind, Topic};
use crate::rows;
use crate::world::World;

/// What some drivers refuse, as the simulator does, and others do: driver 580.159.04 does all of it.
const ACCEPTED_BY_SOME: [&str; 1] = ["GraphExec::set_fill: memory of a pool"];

fn run(mut world: World, topics: Vec<Topic>) {
    let mut wrong = String::new();
    for Topic { name, rows } in topics {
        let mut text = String::new();
        for row in rows {
            let title = format!("{}: {}", row.function, row.case);
            let Err(error) = (row.call)(&mut world) else {
                if !world.gpu.is_simulator() && ACCEPTED_BY_SOME.contains(&&*title) {
                    // The code that the file has, from a driver that refuses.
                    writeln!(text, "# {title}\n\nCUDA_ERROR_INVALID_VALUE (1)\n").unwrap();
                    continue;
                }
                writeln!(wrong, "{title}: it was accepted").unwrap();
                continue;
            };
            let said = error.to_string();
            if Kind::of(&error) != Some(row.kind) {
                writeln!(wrong, "{title}: not {:?}: {error:?}", row.kind).unwrap();
            } else if !said.contains("\n  hint: ") {
                writeln!(wrong, "{title}: no way out: {said}").unwrap();
            }
            world.expect_unharmed(&title);
            writeln!(
                text,
                "# {title}\n\n{}\n",
                without_numbers_of_this_run(&said)
            )
            .unwrap();
        }
        let file = format!("tests/arguments/messages/{name}.txt");
        wrong += &difference_from_file(&file, &text, world.gpu.is_simulator());
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn wrong_arguments_on_one_device() {
    let gpu = gpu();
    run(World::new(&gpu), rows::of_one_device());
}

#[test]
fn arguments_of_another_device() {
    with_two(|one, other| {
        run(World::with_far(&one, &other), rows::of_two_devices());
    });
}

/// The text without addresses and what depends on them, and without the numbers of file descriptors.
fn without_numbers_of_this_run(said: &str) -> String {
    let before_numbers = ["file descriptor ", "with those before its alignment, is "];
    before_numbers
        .iter()
        .fold(without_addresses(said), |said, prefix| {
            let Some((before, after)) = said.split_once(prefix) else {
                return said;
            };
            let after = after.trim_start_matches(|c: char| c.is_ascii_digit());
            format!("{before}{prefix}..{after}")
        })
}
