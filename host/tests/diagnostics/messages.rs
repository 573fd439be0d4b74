//! What errors say. Each mistake of the tables is made, and `messages/*.txt` has what its error says on the simulator: which call, what is
//! wrong with which value, the limit, and the way out. `WARPSMITH_BLESS=1` rewrites the files; read the difference. A GPU has other numbers
//! and logs: there the codes are compared.

use std::sync::mpsc;

use crate::common::Gate;
use crate::mistakes::{Fixture, check};
use warpsmith_host::prelude::*;
use warpsmith_host::{
    AddressMode, Arena, ContextLimit, Extent2, LaunchOptions, PoolOptions, TextureOptions,
};
use warpsmith_testkit::ptx;

const VARIABLE: &str = ptx!(
    "7.0",
    "sm_70",
    ".visible .const .align 4 .b8 weights[12] = {1};"
);

// covers: ERROR-01, ERROR-05, MODEL-03, LAUNCH-03
#[test]
fn launches() {
    check(
        "launches.txt",
        &[
            ("more threads in x than a block has", |f| {
                f.launch(Grid::new(1, 1025))
            }),
            ("more threads than a block has", |f| {
                f.launch(Grid::new(1, (64, 32)))
            }),
            ("a grid for no elements", |f| f.launch(Grid::cover(0, 128))),
            ("a block of no threads", |f| f.launch(Grid::cover(5, 0))),
            ("a block of no threads in y", |f| {
                f.launch(Grid::cover_2d((5, 5), (8, 0)))
            }),
            ("too many blocks in y", |f| {
                f.launch(Grid::new((1, 65_536), 32))
            }),
            ("more elements than a grid has threads", |f| {
                f.launch(Grid::cover(usize::MAX, 1))
            }),
            ("too much shared memory", |f| {
                f.launch(Grid::new(1, 1).shared_bytes(1 << 20))
            }),
            ("a grid that is no multiple of its clusters", |f| {
                f.launch(Grid::new(7, 32).cluster(4))
            }),
            ("a cluster of no blocks", |f| {
                f.launch(Grid::new(8, 32).cluster((2, 0, 1)))
            }),
            ("a cluster that is not portable", |f| {
                f.launch(Grid::new(16, 32).cluster(16))
            }),
            ("a cooperative grid that does not fit", |f| {
                let most = f.add.max_cooperative_blocks(1024, 0)?;
                f.launch(Grid::new(most + 1, 1024).cooperative())
            }),
            ("more threads than the kernel was compiled for", |f| {
                let bounded = f.module.untyped_kernel::<()>("bounded")?;
                // SAFETY: the entry does nothing.
                unsafe { f.stream.launch_untyped(&bounded, Grid::new(1, 129), ()) }
            }),
            ("the occupancy of blocks of no threads", |f| {
                f.add.occupancy(0, 0).map(drop)
            }),
            ("a cooperative grid of blocks of no threads", |f| {
                f.add.max_cooperative_blocks(0, 0).map(drop)
            }),
            ("more shared memory for a kernel than a block has", |f| {
                f.add.set_max_dynamic_shared(1 << 20)
            }),
            ("a share beyond all of it", |f| {
                let options = LaunchOptions::new().shared_memory_carveout(101);
                // SAFETY: the entry takes a slice and a number, and writes only the slice.
                unsafe {
                    f.stream.launch_untyped_with(
                        &f.add,
                        Grid::new(1, 1),
                        &options,
                        (&mut f.words, 1),
                    )
                }
            }),
            ("an event that measures time as an option", |f| {
                let event = f.gpu.event()?;
                let options = LaunchOptions::new().completion_event(&event);
                // SAFETY: the entry takes a slice and a number, and writes only the slice.
                unsafe {
                    f.stream.launch_untyped_with(
                        &f.add,
                        Grid::new(1, 1),
                        &options,
                        (&mut f.words, 1),
                    )
                }
            }),
        ],
    );
}

// covers: BUILD-02, DRV-10, DRV-13
#[test]
fn modules() {
    check(
        "modules.txt",
        &[
            ("no PTX", |f| f.gpu.load("not PTX").map(drop)),
            ("PTX with a NUL", |f| f.gpu.load("a\0b").map(drop)),
            ("a version that is too new", |f| {
                f.gpu
                    .load(&crate::common::PTX.replace(".version 7.8", ".version 99.9"))
                    .map(drop)
            }),
            ("an architecture that is too new", |f| {
                f.gpu
                    .load(ptx!("8.6", "sm_100", ".visible .entry k() { ret; }"))
                    .map(drop)
            }),
            ("a level of optimisation that there is not", |f| {
                let options = ModuleOptions {
                    optimisation: 99,
                    ..Default::default()
                };
                f.gpu.load_with(crate::common::PTX, &options).map(drop)
            }),
            ("no registers", |f| {
                let options = ModuleOptions {
                    max_registers: Some(0),
                    ..Default::default()
                };
                f.gpu
                    .link_with(&[("all", crate::common::PTX)], &options)
                    .map(drop)
            }),
            ("a name with a letter missing", |f| {
                f.module.untyped_kernel::<()>("ad").map(drop)
            }),
            ("a name of nothing", |f| {
                f.module.untyped_kernel::<()>("transposition").map(drop)
            }),
            ("a variable of a module without variables", |f| {
                f.module.global::<u32>("rate").map(drop)
            }),
            ("a variable of another type", |f| {
                f.gpu.load(VARIABLE)?.global::<u64>("weights").map(drop)
            }),
            ("one value for several", |f| {
                f.gpu.load(VARIABLE)?.global::<u32>("weights")?.set(&1)
            }),
            ("too few values", |f| {
                f.gpu
                    .load(VARIABLE)?
                    .global::<u32>("weights")?
                    .set_slice(&[1, 2])
            }),
        ],
    );
}

// covers: MEM-12
#[test]
fn memory() {
    check(
        "memory.txt",
        &[
            ("more bytes than numbers", |f| {
                f.stream.zeroed::<u64>(usize::MAX).map(drop)
            }),
            ("more than the device has", |f| {
                f.stream.zeroed::<u8>(1 << 46).map(drop)
            }),
            ("an upload of another length", |f| {
                f.stream.upload_into(&[1; 63], &mut f.words)
            }),
            ("a download of another length", |f| {
                f.stream.download_into(&f.words, &mut [0; 65])
            }),
            ("a copy of another length", |f| {
                let mut longer = f.stream.zeroed::<u32>(65)?;
                f.stream.copy(&f.words, &mut longer)
            }),
            ("page-locked memory during a copy", |f| {
                let mut gate = Gate::new(f.gpu, f.module);
                let mut pinned = f.gpu.pinned::<u32>(64)?;
                gate.close(&f.stream);
                f.stream.copy_to_host(&f.words, &mut pinned)?;
                pinned.host_mut().map(drop)
            }),
            ("a matrix of more elements", |f| {
                f.words.matrix(8, 9).map(drop)
            }),
            ("rows that overlap", |f| {
                f.words.matrix_with_stride(4, 8, 7).map(drop)
            }),
            ("matrices of other shapes", |f| {
                let from = f.stream.zeroed::<u32>(64)?;
                f.stream
                    .copy_matrix(&from.matrix(4, 16)?, &mut f.words.matrix_mut(16, 4)?)
            }),
            ("a pool of no bytes", |f| {
                f.gpu
                    .pool(PoolOptions {
                        max_bytes: Some(0),
                        ..Default::default()
                    })
                    .map(drop)
            }),
            ("beyond a capacity", |f| {
                let mut few = f.gpu.growable::<u32>(1000)?;
                f.stream.grow_zeroed(&mut few, 1 << 22)
            }),
            ("beyond an arena", |f| {
                let mut block = f.stream.zeroed::<u8>(1024)?;
                let mut arena = Arena::new(block.slice_mut(..));
                arena.take::<u32>(200)?;
                arena.take::<u32>(100).map(drop)
            }),
            ("an array of no width", |f| {
                f.stream
                    .array_zeroed::<f32, _>(Extent2 {
                        width: 0,
                        height: 3,
                    })
                    .map(drop)
            }),
            ("an array that is too high", |f| {
                f.stream
                    .array_zeroed::<f32, _>(Extent2 {
                        width: 1,
                        height: 1 << 20,
                    })
                    .map(drop)
            }),
            ("another number of texels", |f| {
                f.stream
                    .array(
                        &[1.0_f32; 14],
                        Extent2 {
                            width: 5,
                            height: 3,
                        },
                    )
                    .map(drop)
            }),
            ("coordinates in texels that wrap", |f| {
                let array = f.stream.array_zeroed::<f32, _>(Extent2 {
                    width: 4,
                    height: 4,
                })?;
                let options = TextureOptions {
                    address: [AddressMode::Wrap; 3],
                    ..Default::default()
                };
                array.texture(options).map(drop)
            }),
            ("a surface of an array without", |f| {
                let mut array = f.stream.array_zeroed::<f32, _>(Extent2 {
                    width: 4,
                    height: 4,
                })?;
                array.surface().map(drop)
            }),
            ("a texture that begins anywhere", |f| {
                f.words.texture(1..).map(drop)
            }),
            ("a texture of nothing", |f| f.words.texture(3..3).map(drop)),
            ("all of the second-level cache set aside", |f| {
                f.gpu
                    .set_limit(ContextLimit::PersistingL2, 1 << 40)
                    .map(drop)
            }),
        ],
    );
}

// covers: STREAM-15, GRAPH-33, EVENT-04
#[test]
fn streams_and_captures() {
    /// The error of a call inside a capture.
    fn captured(f: &mut Fixture<'_>, call: fn(&Stream, &Event) -> Result<()>) -> Result<()> {
        let outside = f.gpu.event_untimed()?;
        f.other.record(&outside)?;
        let mut answer = Ok(());
        f.stream.capture(|capture| {
            answer = call(capture, &outside);
            Ok(())
        })?;
        answer
    }
    /// The error of a call inside a host function.
    fn inside<T: Send + 'static>(
        f: &Fixture<'_>,
        value: T,
        call: fn(&T) -> Result<()>,
    ) -> Result<()> {
        let (sender, receiver) = mpsc::channel();
        f.stream
            .host_fn(move || sender.send(call(&value)).expect("it is awaited"))?;
        f.stream.synchronize()?;
        receiver.recv().expect("the function was called")
    }
    check(
        "streams.txt",
        &[
            ("the time since an event that was never recorded", |f| {
                let (start, end) = (f.gpu.event()?, f.gpu.event()?);
                f.stream.record(&end)?;
                f.stream.synchronize()?;
                end.elapsed_since(&start).map(drop)
            }),
            ("the time of an event without", |f| {
                let (start, end) = (f.gpu.event_untimed()?, f.gpu.event()?);
                f.stream.record(&start)?;
                f.stream.record(&end)?;
                f.stream.synchronize()?;
                end.elapsed_since(&start).map(drop)
            }),
            ("a wait in a capture", |f| {
                captured(f, |stream, _| stream.synchronize())
            }),
            ("a question in a capture", |f| {
                captured(f, |stream, _| stream.is_idle().map(drop))
            }),
            ("a download in a capture", |f| {
                captured(f, |stream, _| {
                    stream.download(&stream.zeroed::<u8>(1)?).map(drop)
                })
            }),
            ("a function in a capture", |f| {
                captured(f, |stream, _| stream.host_fn(|| ()))
            }),
            ("a wait for an event outside of the capture", |f| {
                captured(f, |stream, outside| stream.wait(outside))
            }),
            ("a wait for the device during a capture", |f| {
                captured(f, |stream, _| stream.gpu().synchronize())
            }),
            ("a wait inside of a host function", |f| {
                inside(f, f.gpu.stream()?, Stream::synchronize)
            }),
            ("a wait for the device inside of a host function", |f| {
                inside(f, f.gpu.clone(), Gpu::synchronize)
            }),
            ("an allocation inside of a host function", |f| {
                inside(f, f.gpu.clone(), |gpu| gpu.pinned::<u8>(1).map(drop))
            }),
        ],
    );
}

// covers: GRAPH-13
#[test]
fn graphs() {
    check(
        "graphs.txt",
        &[
            ("a node of another graph", |f| {
                let (mut one, mut two) = (f.gpu.graph()?, f.gpu.graph()?);
                let (here, there) = (one.empty()?, two.empty()?);
                one.depend(here, there)
            }),
            ("a choice between nothing", |f| {
                let mut graph = f.gpu.graph()?;
                let condition = graph.condition(0)?;
                graph.switch(condition, 0, |_, _| Ok(())).map(drop)
            }),
            ("a pattern that is too wide", |f| {
                let mut wide = f.stream.zeroed::<u64>(4)?;
                f.gpu
                    .graph()?
                    .fill(&mut wide, 0x0123_4567_89ab_cdef)
                    .map(drop)
            }),
            ("a condition of another graph", |f| {
                let condition = f.gpu.graph()?.condition(0)?;
                f.gpu.graph()?.while_loop(condition, |_| Ok(())).map(drop)
            }),
            ("a loop without an end", |f| {
                let mut graph = f.gpu.graph()?;
                let condition = graph.condition(1)?;
                graph.while_loop(condition, |_| Ok(())).map(drop)
            }),
            ("a function in a branch", |f| {
                let mut graph = f.gpu.graph()?;
                let condition = graph.condition(0)?;
                let mut answer = Ok(());
                graph.if_then(condition, |body| {
                    answer = body.host(|| ()).map(drop);
                    Ok(())
                })?;
                answer
            }),
            ("memory of a graph outside of it", |f| {
                let mut graph = f.gpu.graph()?;
                let mut scratch = graph.zeroed::<u32>(64)?;
                f.stream.copy(&f.words, &mut scratch)
            }),
            ("another shape", |f| {
                let (mut one, mut two) = (f.gpu.graph()?, f.gpu.graph()?);
                one.empty()?;
                two.fill(&mut f.words, 0)?;
                one.instantiate()?.update(&two)
            }),
            ("no operations", |f| {
                f.gpu
                    .graph()?
                    .flags(&warpsmith_host::FlagOperations::new())
                    .map(drop)
            }),
        ],
    );
}

// covers: BUILD-22
#[test]
fn devices() {
    check(
        "devices.txt",
        &[
            ("no name of a device", |_| {
                "gpu0".parse::<DeviceChoice>().map(drop)
            }),
            ("a reset of a device that is used", |f| {
                let refused = f.gpu.clone().reset().expect_err("it is used");
                Err(refused.error)
            }),
            ("a limit that no device has", |f| {
                f.gpu.set_stack_size(1 << 40)
            }),
            ("an attribute that no driver knows", |f| {
                f.gpu.attribute(Attribute(9999)).map(drop)
            }),
        ],
    );
}
