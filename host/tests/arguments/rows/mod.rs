//! The table.

mod arrays;
mod captures;
mod copies;
mod graph_execs;
mod graphs;
mod launches;
mod matrices;
mod modules;
mod other_libraries;
mod parts;
mod pools;
mod streams;
mod textures;
mod unified;
mod virtual_memory;

use crate::row::{Row, Topic};

fn topic(name: &'static str, rows: Vec<Row>) -> Topic {
    Topic { name, rows }
}

pub fn of_one_device() -> Vec<Topic> {
    vec![
        topic("copies", copies::rows()),
        topic("parts", parts::rows()),
        topic("matrices", matrices::rows()),
        topic("pools", pools::rows()),
        topic("virtual_memory", virtual_memory::rows()),
        topic("unified", unified::rows()),
        topic("arrays", arrays::rows()),
        topic("textures", textures::rows()),
        topic("streams", streams::rows()),
        topic("launches", launches::rows()),
        topic("modules", modules::rows()),
        topic("graphs", graphs::rows()),
        topic("graph_execs", graph_execs::rows()),
        topic("captures", captures::rows()),
        topic("other_libraries", other_libraries::rows()),
    ]
}

pub fn of_two_devices() -> Vec<Topic> {
    vec![
        topic("copies_far", copies::far_rows()),
        topic("matrices_far", matrices::far_rows()),
        topic("pools_far", pools::far_rows()),
        topic("unified_far", unified::far_rows()),
        topic("arrays_far", arrays::far_rows()),
        topic("streams_far", streams::far_rows()),
        topic("launches_far", launches::far_rows()),
        topic("graphs_far", graphs::far_rows()),
        topic("graph_execs_far", graph_execs::far_rows()),
        topic("captures_far", captures::far_rows()),
        topic("other_libraries_far", other_libraries::far_rows()),
    ]
}
