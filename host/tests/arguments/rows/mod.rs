//! The table.

mod copies;
mod matrices;
mod pools;
mod virtual_memory;

use crate::row::{Row, Topic};

fn topic(name: &'static str, rows: Vec<Row>) -> Topic {
    Topic { name, rows }
}

pub fn of_one_device() -> Vec<Topic> {
    vec![
        topic("copies", copies::rows()),
        topic("matrices", matrices::rows()),
        topic("pools", pools::rows()),
        topic("virtual_memory", virtual_memory::rows()),
    ]
}

pub fn of_two_devices() -> Vec<Topic> {
    vec![
        topic("copies_far", copies::far_rows()),
        topic("matrices_far", matrices::far_rows()),
        topic("pools_far", pools::far_rows()),
    ]
}
