//! What a kernel that is a node of a CUDA graph can do to graphs: set the value of a conditional node, and launch other graphs, or its own
//! once more (CUDA C++ Programming Guide, "Device Graph Launch").
//!
//! A kernel launches a graph that it is passed, a [`DeviceGraph`], or its own, the [`current`] one. When that runs:
//!
//! | launch | the graph runs | the stream goes on after |
//! | --- | --- | --- |
//! | [`DeviceGraph::launch_tail`], [`CurrentGraph::launch_tail`] | after the launching graph and all that it has launched by fire and forget | it |
//! | [`DeviceGraph::launch_fire_and_forget`] | beside the launching graph, whose tails come after it | it |
//! | [`DeviceGraph::launch_sibling`] | beside the launching graph and its tails | it |
//!
//! Tails run one at a time, in the order of their launches, and those of a tail before the next one. In one execution a graph launches at
//! most 120 graphs by fire and forget, 120 as siblings, and has 255 tails; a graph that is running, or is to run, is not launched once
//! more. What is beyond is an `Err` that the kernel sees.
//!
//! Each thread that calls launches: let one thread do it. Needs a driver of CUDA 12.0 (for siblings a later one), and `sm_70` as the rest of
//! this crate.

mod conditional;
mod current;
mod device_graph;
mod launch;

pub use self::conditional::{Condition, set_conditional};
pub use self::current::{CurrentGraph, current};
pub use self::device_graph::DeviceGraph;
pub use self::launch::GraphLaunchError;
