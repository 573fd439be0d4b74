//! Graphs that kernels launch, as the host sees them: order with other work, life time, panics, updates, what is refused.

mod updates;

use crate::common::panicking::kernels;
use crate::common::{Gate, add, gpu, in_own_process, module};
use warpsmith_host::prelude::*;
use warpsmith_host::{GraphBuilder, Node};
use warpsmith_testkit::ptx;

const TAIL: u64 = 0x0100_0000_0000_0000;

const KERNELS: &str = ptx!(
    "8.0",
    "sm_70",
    "
.extern .func (.param .b32 result) cudaGraphLaunch(.param .b64 exec, .param .b64 stream);

// Launches a graph; the answer goes to code[0].
.visible .entry launch(.param .u64 exec, .param .u64 mode, .param .u64 code, .param .u64 length)
{
    .reg .b32 %r<3>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [exec];
    ld.param.u64 %rd2, [mode];
    ld.param.u64 %rd3, [code];
    {
        .param .b64 a; .param .b64 b; .param .b32 c;
        st.param.b64 [a], %rd1;
        st.param.b64 [b], %rd2;
        call.uni (c), cudaGraphLaunch, (a, b);
        ld.param.b32 %r1, [c];
    }
    st.global.u32 [%rd3], %r1;
    ret;
}
"
);

type Launch = UntypedKernel<(GraphHandle, Value<u64>, Out<u32>)>;

fn launch_kernel(gpu: &Gpu) -> Launch {
    let module = gpu.load(KERNELS).unwrap_or_else(|error| panic!("{error}"));
    module.untyped_kernel("launch").expect("launch")
}

/// Adds a node that launches a graph as a tail.
fn launch_node(
    graph: &mut GraphBuilder,
    kernel: &Launch,
    launched: &DeviceGraph,
    code: &mut DeviceBuffer<u32>,
) -> Result<Node> {
    // SAFETY: the entry launches a tail, and writes one word of a slice.
    unsafe { graph.kernel_untyped(kernel, Grid::new(1, 1), (launched, TAIL, code)) }.map(Node::from)
}

/// Whether what the stream holds is not done after a time in which it would be if it did not wait.
fn waits(stream: &Stream) -> Result<bool> {
    std::thread::sleep(std::time::Duration::from_millis(50));
    Ok(!stream.is_idle()?)
}

/// A graph that adds.
fn adds(
    gpu: &Gpu,
    add: &crate::common::Add,
    buffer: &mut DeviceBuffer<u32>,
    value: u32,
) -> Result<Graph> {
    let mut graph = gpu.graph()?;
    let grid = Grid::cover(buffer.len(), 128);
    // SAFETY: the entry takes a slice and a number, and writes only the slice.
    unsafe { graph.kernel_untyped(add, grid, (buffer, value)) }?;
    Ok(graph)
}

/// A graph whose kernel launches another as a tail.
fn launcher(gpu: &Gpu, launched: &DeviceGraph, code: &mut DeviceBuffer<u32>) -> Result<Graph> {
    let mut graph = gpu.graph()?;
    launch_node(&mut graph, &launch_kernel(gpu), launched, code)?;
    Ok(graph)
}

#[test]
fn kernels_that_may_launch_one_graph_come_one_after_the_other() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let stream = gpu.stream()?;
    let kernel = launch_kernel(&gpu);
    let (mut from, mut to) = (stream.zeroed::<u32>(10)?, stream.zeroed::<u32>(10)?);
    let mut codes = [stream.filled(1, 77_u32)?, stream.filled(1, 77_u32)?];
    let mut launched = adds(&gpu, &add(&module), &mut from, 1)?;
    launched.copy(&from, &mut to)?;
    launched.fill(&mut from.slice_mut(..5), 9)?;
    let launched = launched.instantiate_for_device_launch(&stream)?;
    let mut graph = gpu.graph()?;
    let nodes = codes
        .iter_mut()
        .map(|code| launch_node(&mut graph, &kernel, &launched, code))
        .collect::<Result<Vec<_>>>()?;
    let edges = graph.edges()?;
    assert_eq!(edges.len(), 1);
    assert_eq!((edges[0].from, edges[0].to), (nodes[0], nodes[1]));
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&to)?, [1; 10]);
    assert_eq!(stream.download(&from)?, [9, 9, 9, 9, 9, 1, 1, 1, 1, 1]);
    // It was to run already.
    let codes = codes.each_ref().map(|code| stream.download(code));
    let [first, second] = codes;
    assert_eq!((first?, second?), (vec![0], vec![1]));
    Ok(())
}

#[test]
fn a_graph_of_another_device_is_refused() {
    let variables = [
        ("WARPSMITH_DEVICE", "simulator"),
        ("WARPSMITH_SIMULATOR_DEVICES", "2"),
    ];
    in_own_process(&variables, || {
        let open = |choice| Gpu::open(choice).expect("a device");
        let (here, there) = (
            open(DeviceChoice::Simulator),
            open(DeviceChoice::SimulatorDevice(1)),
        );
        let stream = here.stream().expect("a stream");
        let elsewhere = there.stream().expect("a stream");
        let mut buffer = stream.zeroed::<u32>(10).expect("a buffer");
        let mut code = elsewhere.zeroed::<u32>(1).expect("a buffer");
        let launched = adds(&here, &add(&module(&here)), &mut buffer, 1).expect("a graph");
        let refused = |result: Result<()>| {
            let error = result.expect_err("two devices").to_string();
            assert!(error.contains("simulator:1"), "{error}");
        };
        refused(launched.instantiate_for_device_launch(&elsewhere).map(drop));
        let launched = launched
            .instantiate_for_device_launch(&stream)
            .expect("a graph for kernels");
        refused(launcher(&there, &launched, &mut code).map(drop));
        // The code's buffer, too.
        refused(launcher(&here, &launched, &mut code).map(drop));
    });
}

// covers: DGRAPH-09
#[test]
fn work_in_other_streams_waits_for_what_may_be_launched() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let mut gate = Gate::new(&gpu, &module);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    // Made in the stream that is to wait: that the other one made it would be reason enough.
    let mut buffer = two.zeroed::<u32>(100)?;
    let mut copy = two.zeroed::<u32>(100)?;
    let mut codes = [one.filled(1, 77_u32)?, one.filled(1, 77_u32)?];
    let [inner, outer] = &mut codes;
    let last = adds(&gpu, &add, &mut buffer, 5)?.instantiate_for_device_launch(&one)?;
    // Over a graph in between, which does not name the buffer.
    let middle = launcher(&gpu, &last, inner)?.instantiate_for_device_launch(&one)?;
    let mut first = launcher(&gpu, &middle, outer)?.instantiate()?;
    gpu.synchronize()?;

    gate.close(&one);
    first.launch(&one)?;
    two.copy(&buffer, &mut copy)?;
    assert!(waits(&two)?, "the copy waits for the tail of the tail");
    gate.open();
    assert_eq!(two.download(&copy)?, [5; 100]);

    // And the other way round.
    gate.close(&two);
    two.fill(&mut buffer, 100)?;
    first.launch(&one)?;
    assert!(waits(&one)?, "the launch waits for the fill");
    gate.open();
    assert_eq!(one.download(&buffer)?, [105; 100]);
    for code in &codes {
        assert_eq!(one.download(code)?, [0]);
    }
    Ok(())
}

/// It only reads, so nothing but its turn puts its launches in order.
// covers: DGRAPH-07
#[test]
fn launches_by_the_host_and_by_kernels_take_turns() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let kernels = kernels(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let (one, two, three) = (gpu.stream()?, gpu.stream()?, gpu.stream()?);
    // Each made where it is used first: that another stream made it would be a reason to wait.
    let no = two.zeroed::<u32>(1)?;
    let mut codes = [one.filled(1, 77_u32)?, three.filled(1, 77_u32)?];
    let [first_code, second_code] = &mut codes;
    let mut graph = gpu.graph()?;
    // SAFETY: the entry reads one word of a slice.
    unsafe { graph.kernel_untyped(&kernels.first, Grid::new(2, 32), (&no,)) }?;
    let mut reads = graph.instantiate_for_device_launch(&two)?;
    let mut first = launcher(&gpu, &reads, first_code)?.instantiate()?;
    let mut second = launcher(&gpu, &reads, second_code)?.instantiate()?;
    gpu.synchronize()?;

    gate.close(&one);
    first.launch(&one)?;
    reads.launch(&two)?;
    assert!(waits(&two)?, "the host's launch waits for the kernel's");
    second.launch(&three)?;
    assert!(waits(&three)?, "as does another kernel's");
    gate.open();
    gpu.synchronize()?;

    gate.close(&two);
    reads.launch(&two)?;
    first.launch(&one)?;
    assert!(waits(&one)?, "a kernel's launch waits for the host's");
    gate.open();
    for code in &codes {
        assert_eq!(one.download(code)?, [0]);
    }
    Ok(())
}

#[test]
fn two_threads_launch_a_graph_and_one_that_launches_it() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut buffer = one.zeroed::<u32>(100)?;
    let mut code = one.filled(1, 77_u32)?;
    let mut tail = adds(&gpu, &add, &mut buffer, 1)?.instantiate_for_device_launch(&one)?;
    let mut launcher = launcher(&gpu, &tail, &mut code)?.instantiate()?;
    std::thread::scope(|scope| {
        scope.spawn(|| (0..50).for_each(|_| launcher.launch(&one).expect("a launch")));
        scope.spawn(|| (0..50).for_each(|_| tail.launch(&two).expect("a launch")));
    });
    assert_eq!(one.download(&buffer)?, [100; 100]);
    assert_eq!(one.download(&code)?, [0]);
    Ok(())
}

#[test]
fn what_a_kernel_may_launch_lives_as_long_as_its_graph() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let stream = gpu.stream()?;
    let mut out = gpu.pinned::<u32>(1000)?;
    let mut ready = {
        let mut buffer = stream.filled(1000, 3_u32)?;
        let mut code = stream.filled(1, 77_u32)?;
        let mut tail = adds(&gpu, &add(&module), &mut buffer, 4)?;
        tail.copy_to_host(&buffer, &mut out)?;
        let tail = tail.instantiate_for_device_launch(&stream)?;
        launcher(&gpu, &tail, &mut code)?.instantiate()?
    };
    gate.close(&stream);
    for _ in 0..3 {
        ready.launch(&stream)?;
    }
    drop(ready);
    let early = out.host().map(drop).expect_err("the tail writes it");
    assert!(matches!(early, Error::Busy(_)), "{early}");
    // What takes the place of memory that was freed too early.
    let others: Vec<_> = (0..20)
        .map(|_| stream.filled(1000, 9_u32))
        .collect::<Result<_>>()?;
    gate.open();
    gpu.synchronize()?;
    assert_eq!(out.host()?[..], [15; 1000]);
    drop(others);
    Ok(())
}

#[test]
fn a_forgotten_graph_can_still_be_launched() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u32>(10)?;
    let mut code = stream.filled(1, 77_u32)?;
    let mut ready = {
        let tail =
            adds(&gpu, &add(&module), &mut buffer, 4)?.instantiate_for_device_launch(&stream)?;
        let graph = launcher(&gpu, &tail, &mut code)?;
        std::mem::forget(tail);
        graph.instantiate()?
    };
    ready.launch(&stream)?;
    assert_eq!(stream.download(&buffer)?, [4; 10]);
    Ok(())
}

#[test]
fn a_kernel_of_a_stream_is_passed_no_graph_and_a_captured_one_is() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let kernel = launch_kernel(&gpu);
    let (mut stream, other) = (gpu.stream()?, gpu.stream()?);
    let mut buffer = other.zeroed::<u32>(10)?;
    let mut code = stream.filled(1, 77_u32)?;
    let tail = adds(&gpu, &add(&module), &mut buffer, 4)?.instantiate_for_device_launch(&stream)?;
    // SAFETY: the entry launches a tail, and writes one word of a slice.
    let refused =
        unsafe { stream.launch_untyped(&kernel, Grid::new(1, 1), (&tail, TAIL, &mut code)) };
    let error = refused.expect_err("outside of graphs");
    assert_eq!(error.code(), Some(Code::NOT_SUPPORTED));
    assert!(error.to_string().contains("`launch`"), "{error}");
    assert!(
        error
            .hint()
            .is_some_and(|hint| hint.contains("graph.kernel"))
    );

    let graph = stream.capture(|capture| {
        // SAFETY: the entry launches a tail, and writes one word of a slice.
        unsafe { capture.launch_untyped(&kernel, Grid::new(1, 1), (&tail, TAIL, &mut code)) }
    })?;
    let mut ready = graph.instantiate()?;
    drop((graph, tail));
    let mut copy = other.zeroed::<u32>(10)?;
    let mut gate = Gate::new(&gpu, &module);
    gate.close(&stream);
    ready.launch(&stream)?;
    other.copy(&buffer, &mut copy)?;
    assert!(waits(&other)?);
    gate.open();
    assert_eq!(other.download(&copy)?, [4; 10]);
    Ok(())
}

// covers: DGRAPH-02
#[test]
fn what_cannot_be_launched_by_kernels_is_named() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let stream = gpu.stream()?;
    let mut buffer = stream.zeroed::<u32>(10)?;
    let refused = |what: &str, graph: Graph| {
        let error = graph
            .instantiate_for_device_launch(&stream)
            .expect_err(what);
        assert_eq!(error.code(), Some(Code::INVALID_VALUE), "{error}");
        assert!(error.to_string().contains(what), "{error}");
        assert!(error.hint().is_some());
    };
    refused("no nodes", gpu.graph()?);
    let mut graph = gpu.graph()?;
    graph.host(|| {})?;
    refused("a function on the host", graph);
    let mut graph = gpu.graph()?;
    graph.empty()?;
    refused("an empty node", graph);
    let mut graph = gpu.graph()?;
    drop(graph.zeroed::<u32>(4)?);
    refused("an allocation", graph);
    let mut graph = gpu.graph()?;
    let condition = graph.condition(0)?;
    graph.if_then(condition, |_| Ok(()))?;
    refused("a loop or a branch", graph);

    // Nor does a body launch graphs.
    let launched = adds(&gpu, &add, &mut buffer, 1)?.instantiate_for_device_launch(&stream)?;
    let mut code = stream.filled(1, 77_u32)?;
    let mut graph = gpu.graph()?;
    let condition = graph.condition(1)?;
    let kernel = launch_kernel(&gpu);
    let refused = graph.if_then(condition, |body| {
        launch_node(body, &kernel, &launched, &mut code).map(drop)
    });
    let error = refused.expect_err("in a body");
    assert!(error.to_string().contains("launch graphs"), "{error}");
    Ok(())
}

/// Two graphs may launch the same one, whose kernel panics: each launch is told to whoever waits for it, and once.
#[test]
fn a_panic_belongs_to_the_launch_of_the_launching_graph() -> Result<()> {
    let gpu = gpu();
    let kernels = kernels(&gpu);
    let (one, two) = (gpu.stream()?, gpu.stream()?);
    let mut line = one.upload(&[5_u32])?;
    let mut codes = [one.filled(1, 77_u32)?, one.filled(1, 77_u32)?];
    let [first_code, second_code] = &mut codes;
    let mut graph = gpu.graph()?;
    // SAFETY: the entry reads one word of a slice.
    unsafe { graph.kernel_untyped(&kernels.first, Grid::new(2, 32), (&line,)) }?;
    let mut panics = graph.instantiate_for_device_launch(&one)?;
    let mut first = launcher(&gpu, &panics, first_code)?.instantiate()?;
    let mut second = launcher(&gpu, &panics, second_code)?.instantiate()?;
    let lines = |result: Result<()>| -> Vec<u32> {
        let error = result.expect_err("a panic");
        let panic = error.panic().unwrap_or_else(|| panic!("{error}"));
        let others = panic.others.iter().map(|other| other.line);
        [panic.line].into_iter().chain(others).collect()
    };
    for round in 1..=2 {
        one.fill(&mut line, 10 * round)?;
        first.launch(&one)?;
        let early = gpu.event_untimed()?;
        one.record(&early)?;
        one.fill(&mut line, 10 * round + 1)?;
        second.launch(&two)?;
        two.fill(&mut line, 10 * round + 2)?;
        panics.launch(&two)?;
        assert_eq!(lines(early.synchronize()), [10 * round]);
        one.synchronize()?;
        assert_eq!(lines(two.synchronize()), [10 * round + 1, 10 * round + 2]);
        gpu.synchronize()?;
    }
    one.fill(&mut line, 0)?;
    first.launch(&one)?;
    gpu.synchronize()
}

/// It was dropped, and so was all that launched it.
#[test]
fn a_panic_of_a_graph_that_is_gone_is_told() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let kernels = kernels(&gpu);
    let mut gate = Gate::new(&gpu, &module);
    let stream = gpu.stream()?;
    {
        let mut code = stream.filled(1, 77_u32)?;
        let mut graph = gpu.graph()?;
        // SAFETY: the entry takes a number.
        unsafe { graph.kernel_untyped(&kernels.at, Grid::new(2, 32), (6,)) }?;
        let panics = graph.instantiate_for_device_launch(&stream)?;
        let mut first = launcher(&gpu, &panics, &mut code)?.instantiate()?;
        gate.close(&stream);
        first.launch(&stream)?;
    }
    gate.open();
    let error = stream.synchronize().expect_err("a panic");
    let panic = error.panic().unwrap_or_else(|| panic!("{error}"));
    assert_eq!((panic.line, panic.others.len()), (6, 0));
    gpu.synchronize()
}
