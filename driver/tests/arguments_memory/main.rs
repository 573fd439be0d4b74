//! Bad arguments of every memory function: null, out of range, overlapping, freed, of another kind, of another device or context.
//! Each is refused with the code that the driver's manual names, and changes nothing.
//!
//! A row is a call, in a table of its topic. `complete.rs` makes sure that no function is without rows.

#[path = "../common/mod.rs"]
mod common;
mod complete;
mod row;
mod rows;
mod run;
mod world;

macro_rules! topics {
    ($($topic:ident),* $(,)?) => {
        $(
            #[test]
            fn $topic() {
                run::run(&rows::$topic::rows());
            }
        )*

        /// The rows of all topics.
        fn all_rows() -> Vec<row::Row> {
            [$(rows::$topic::rows()),*].into_iter().flatten().collect()
        }
    };
}

// covers: DRV-02, ERROR-01
topics! {
    allocations,
    arrays,
    boxes,
    copies,
    external,
    fills,
    interprocess,
    managed,
    multicast,
    peers,
    pointers,
    pools,
    tensor_maps,
    textures,
    virtual_memory,
}
