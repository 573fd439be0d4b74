//! The rows, topic by topic.

pub mod allocations;
pub mod arrays;
pub mod boxes;
pub mod copies;
pub mod external;
pub mod fills;
pub mod interprocess;
pub mod managed;
pub mod multicast;
pub mod peers;
pub mod pointers;
pub mod pools;
pub mod tensor_maps;
pub mod textures;
pub mod virtual_memory;
