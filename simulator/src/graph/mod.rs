//! Graphs: nodes with operations, edges between them, and what can be done with the whole: capture, instantiate, update, launch.
//!
//! | file | what |
//! | --- | --- |
//! | `edge`, `objects` | edges; user objects |
//! | `template` | [`Graph`]: a template that may be edited |
//! | `memory_nodes` | nodes that allocate and free memory, and what a graph with such nodes cannot do |
//! | `clones` | which node of a clone stands for which original |
//! | `capture` | captures as the source of graphs |
//! | `dot` | a graph as a picture |
//! | `plan` | a snapshot of a graph with its nodes numbered |
//! | `lifetimes` | which of a plan's allocations each of its steps may use |
//! | `merge` | what may change in a plan |
//! | `run` | running a plan |
//! | `device_rules` | which graphs kernels may launch |
//! | `device_graph` | what kernels may launch |
//! | `execution` | executions of graphs, and the graphs that their kernels launch |
//! | `semaphores` | what a launch does to semaphores of other program interfaces |
//! | `launch_memory` | what a launch does to the memory of graphs |
//! | `exec` | [`Exec`]: an executable graph, which later edits of the template do not touch |

mod capture;
mod clones;
mod device_graph;
mod device_rules;
mod dot;
mod edge;
mod exec;
mod execution;
mod launch_memory;
mod lifetimes;
mod memory_nodes;
mod merge;
mod objects;
mod plan;
mod run;
mod semaphores;
mod template;

pub(crate) use capture::{
    EventUse, allocate as capture_allocation, begin, end, information, perform, perform_launch,
    record_event, update_dependencies, wait_event,
};
pub(crate) use clones::{clone_graph, find_in_clone, forget_clone};
pub(crate) use device_rules::check_for_device;
pub(crate) use dot::print as print_dot;
pub(crate) use edge::{Edge, PLAIN_EDGE};
pub(crate) use exec::{DEVICE_LAUNCH, EXECS, Exec};
pub(crate) use memory_nodes::{
    add as add_node, allocate as add_allocation, instance_of, move_into_node, refuse_memory_nodes,
};
pub(crate) use merge::Refusal;
pub(crate) use objects::{ReferencesLeft, USER_OBJECTS, UserObject};
pub(crate) use plan::{Problem, compile};
pub(crate) use template::{
    Conditional, ConditionalKind, GRAPHS, Graph, NODES, Node, NodeOperation,
};
