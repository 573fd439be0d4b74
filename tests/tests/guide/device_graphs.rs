//! Graphs that kernels launch: how they get to the device (3.2.8.7.7.1.2).

use warpsmith_host::prelude::*;
use warpsmith_test_kernels::{graphs, guide};
use warpsmith_tests::fixture;

// covers: DGRAPH-X01
#[test]
fn a_graph_is_on_the_device_after_each_way_of_uploading_it() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let square = f.module.kernel(guide::square)?;
    let tail = f.module.kernel(graphs::tail)?;
    let mut x = stream.filled(100, 3_u32)?;
    let mut code = stream.zeroed::<u32>(1)?;
    let (mut one, mut two) = (f.gpu.graph()?, f.gpu.graph()?);
    for graph in [&mut one, &mut two] {
        graph.kernel(&square, Grid::cover(100, 64), (&mut x,))?;
    }
    // When it is instantiated; when it is launched by the host; when it was changed.
    let mut square = one.instantiate_for_device_launch(&stream)?;
    let mut graph = f.gpu.graph()?;
    graph.kernel(&tail, Grid::new(1, 1), (&square, 1, &mut code))?;
    let mut by_kernel = graph.instantiate()?;
    let mut expected = 3_u32;
    for upload in 0..3 {
        match upload {
            0 => (),
            1 => {
                square.launch(&stream)?;
                expected = expected.wrapping_mul(expected);
            }
            _ => square.update(&two, &stream)?,
        }
        by_kernel.launch(&stream)?;
        expected = expected.wrapping_mul(expected);
        assert_eq!(stream.download(&code)?, [0], "upload {upload}");
        assert_eq!(stream.download(&x)?, [expected; 100], "upload {upload}");
    }
    Ok(())
}
