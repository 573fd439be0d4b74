//! What captures record besides launches, copies and fills: memory, uploads, graphs. And what they refuse, each with its way out.

use crate::common::{Add, add, gpu, launch_add, module, refusal};
use warpsmith_host::prelude::*;
use warpsmith_host::{CopyBatch, Extent1, LaunchOptions, Location};

/// What a library does that knows nothing of captures.
fn sums(stream: &Stream, add: &Add, result: &mut DeviceBuffer<u32>) -> Result<()> {
    let mut ones = stream.filled(8, 1_u32)?;
    let mut scratch = stream.zeroed::<u32>(8)?;
    let table = stream.upload(&[1_u32, 2, 3, 4, 5, 6, 7, 8])?;
    launch_add(stream, add, &mut scratch, 5);
    stream.copy(&table.slice(4..), &mut ones.slice_mut(4..))?;
    stream.copy(&ones.slice(2..), &mut scratch.slice_mut(2..))?;
    stream.copy(&scratch, result)
}

const SUMS: [u32; 8] = [5, 5, 1, 1, 5, 6, 7, 8];

// covers: GMEM-06, GMEM-X02, GRAPH-24
#[test]
fn memory_that_a_capture_allocates_is_there_anew_at_each_launch() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (mut stream, other) = (gpu.stream()?, gpu.stream()?);
    let mut result = other.zeroed::<u32>(8)?;
    let used = gpu.default_pool()?.usage()?.used;
    let graph = stream.capture(|capture| sums(capture, &add, &mut result))?;
    assert_eq!(gpu.default_pool()?.usage()?.used, used);
    assert_eq!(other.download(&result)?, [0; 8], "nothing has run");
    let mut ready = graph.instantiate()?;
    assert!(refusal(graph.instantiate()).contains("an executable graph of it exists"));
    drop(graph);
    for _ in 0..3 {
        other.fill(&mut result, 0)?;
        ready.launch(&stream)?;
        assert_eq!(other.download(&result)?, SUMS);
    }
    // Outside of captures the same code takes memory of the pool.
    sums(&other, &add, &mut result)?;
    assert_eq!(other.download(&result)?, SUMS);
    Ok(())
}

// covers: GMEM-06, GMEM-17
#[test]
fn a_capture_frees_where_it_says_so() -> Result<()> {
    let gpu = gpu();
    let (mut stream, mut side) = (gpu.stream()?, gpu.stream()?);
    let mut result = stream.zeroed::<u32>(1 << 16)?;
    let plain = stream.zeroed::<u32>(4)?;
    let mut outside = None;
    let mut graph = stream.capture(|capture| {
        let side = capture.fork(&mut side)?;
        let first = side.filled(1 << 16, 1_u32)?;
        let address = first.as_device_ptr().address();
        // Another stream: the free comes after both.
        capture.copy(&first, &mut result)?;
        capture.free(capture.stream(), first)?;
        let second = capture.filled(1 << 16, 2_u32)?;
        if gpu.is_simulator() {
            assert_eq!(second.as_device_ptr().address(), address);
        }
        capture.copy(&second.slice(1..), &mut result.slice_mut(1..))?;
        capture.free(side, second)?;
        capture.free(side, capture.zeroed::<u8>(0)?)?;
        let text = refusal(capture.free(side, plain));
        assert!(text.contains("allocated outside"), "{text}");
        outside = Some(capture.filled(4, 7_u32)?);
        Ok(())
    })?;
    let mut outside = outside.expect("a buffer");
    // It is the graph's: nodes that are added later use it, streams and other graphs do not.
    assert!(refusal(stream.download(&outside)).contains("the memory is a graph's"));
    assert!(refusal(gpu.graph()?.fill(&mut outside, 1)).contains("another graph"));
    let later = stream.capture(|capture| capture.fill(&mut outside, 1));
    assert!(refusal(later).contains("another graph"));
    graph.copy(&outside, &mut result.slice_mut(4..8))?;
    assert!(graph.free(outside)?.is_some());
    let mut ready = graph.instantiate()?;
    for _ in 0..2 {
        ready.launch(&stream)?;
        let found = stream.download(&result)?;
        assert_eq!(found[..9], [1, 2, 2, 2, 7, 7, 7, 7, 2]);
        stream.fill(&mut result, 0)?;
    }
    Ok(())
}

#[test]
fn nothing_uses_what_the_graph_of_a_capture_has_freed() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    let mut result = stream.zeroed::<u32>(4)?;
    let mut buffer = None;
    let mut graph = stream.capture(|capture| {
        let scratch = capture.filled(4, 3_u32)?;
        capture.copy(&scratch, &mut result)?;
        buffer = Some(scratch);
        Ok(())
    })?;
    let mut buffer = buffer.expect("a buffer");
    let mut ready = graph.instantiate()?;
    let text = refusal(graph.fill(&mut buffer, 1));
    assert!(text.contains("has freed the memory"), "{text}");
    let text = refusal(stream.capture(|capture| capture.fill(&mut buffer, 1)));
    assert!(text.contains("another graph"), "{text}");
    let freed_elsewhere = stream.capture(|capture| capture.free(capture.stream(), buffer));
    assert!(refusal(freed_elsewhere).contains("another graph"));
    ready.launch(&stream)?;
    assert_eq!(stream.download(&result)?, [3; 4]);
    Ok(())
}

/// Failing captures and buffers that outlive them, or are forgotten.
#[test]
fn memory_of_a_capture_that_fails_is_nobodys() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    for forget in [false, true] {
        let mut kept = None;
        let failed = stream.capture(|capture| {
            let scratch = capture.zeroed::<u32>(1024)?;
            match forget {
                true => std::mem::forget(scratch),
                false => kept = Some(scratch),
            }
            capture.synchronize()
        });
        assert!(refusal(failed).contains("being captured"));
        if let Some(mut kept) = kept {
            assert!(refusal(stream.fill(&mut kept, 1)).contains("the memory is a graph's"));
        }
        assert_eq!(stream.download(&stream.filled(4, 1_u32)?)?, [1; 4]);
    }
    gpu.synchronize()
}

// covers: GRAPH-24, GRAPH-06
#[test]
fn what_is_uploaded_in_a_capture_is_copied_then() -> Result<()> {
    let gpu = gpu();
    let (mut stream, other) = (gpu.stream()?, gpu.stream()?);
    let mut words = stream.zeroed::<u32>(9)?;
    let mut wide = stream.zeroed::<[u32; 2]>(5)?;
    let mut line = stream.array_zeroed::<u32, _>(Extent1 { width: 4 })?;
    let mut data = vec![1_u32, 2, 3, 4];
    let graph = stream.capture(|capture| {
        capture.upload_into(&data, &mut words.slice_mut(..4))?;
        capture.upload_matrix(&data, &mut words.matrix_mut(3, 3)?.region_mut(1..3, 1..3))?;
        capture.upload_array(&data, &mut line)?;
        // No pattern of the driver's.
        capture.fill(&mut wide, [8, 9])
    })?;
    data.fill(77);
    drop(data);
    let mut ready = graph.instantiate()?;
    drop(graph);
    // Memory that comes and goes meanwhile is no place of the copies.
    let noise = gpu.pinned::<u32>(4)?;
    for _ in 0..2 {
        other.fill(&mut words, 0)?;
        ready.launch(&other)?;
        assert_eq!(other.download(&words)?, [1, 2, 3, 4, 1, 2, 0, 3, 4]);
        assert_eq!(other.download(&wide)?, [[8, 9]; 5]);
        assert_eq!(other.download_array(&line)?, [1, 2, 3, 4]);
    }
    drop(noise);
    Ok(())
}

#[test]
fn a_batch_of_copies_is_captured_copy_by_copy() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    let mut input = gpu.pinned::<u32>(4)?;
    let (mut one, mut two) = (stream.zeroed::<u32>(4)?, stream.zeroed::<u32>(2)?);
    let graph = {
        let (one, two, input) = (&mut one, &mut two, &input);
        stream.capture(move |capture| {
            let part = input.slice(2..);
            let mut batch = CopyBatch::new();
            batch.copy_from_host(input, one)?;
            batch.copy_from_host(&part, two)?;
            capture.copy_batch(batch)
        })?
    };
    assert_eq!(graph.node_count()?, 2);
    input.host_mut()?.copy_from_slice(&[1, 2, 3, 4]);
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&one)?, [1, 2, 3, 4]);
    assert_eq!(stream.download(&two)?, [3, 4]);
    Ok(())
}

#[test]
fn boxes_of_a_batch_are_captured_too() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    let mut from = stream.upload(&[1_u32, 2, 0, 3, 4, 0])?;
    let row = stream.upload(&[8_u32, 9])?;
    let mut packed = stream.zeroed::<u32>(4)?;
    let mut back = stream.zeroed::<u32>(2)?;
    let mut line = stream.array_zeroed::<u32, _>(Extent1 { width: 2 })?;
    let graph = {
        let from = from.matrix_with_stride(2, 2, 3)?;
        let mut to = packed.matrix_mut(2, 2)?;
        let (row, line, back) = (&row, &mut line, &mut back);
        stream.capture(move |capture| {
            let mut batch = CopyBatch::new();
            batch.copy_matrix(&from, &mut to)?;
            batch.copy_to_array(row, line)?;
            batch.copy(row, back)?;
            capture.copy_batch(batch)
        })?
    };
    assert_eq!(graph.node_count()?, 3);
    assert_eq!(stream.download(&packed)?, [0; 4], "nothing has run");
    let mut ready = graph.instantiate()?;
    drop(graph);
    for last in [4_u32, 5] {
        stream.fill(&mut from.slice_mut(4..5), last)?;
        ready.launch(&stream)?;
        assert_eq!(stream.download(&packed)?, [1, 2, 3, last]);
        assert_eq!(stream.download_array(&line)?, [8, 9]);
        assert_eq!(stream.download(&back)?, [8, 9]);
    }
    Ok(())
}

// covers: GRAPH-33, GRAPH-36, GRAPH-37
#[test]
fn each_refusal_names_the_call_and_the_way_out() -> Result<()> {
    let gpu = gpu();
    let module = module(&gpu);
    let add = add(&module);
    let (mut stream, mut spare) = (gpu.stream()?, gpu.stream()?);
    let mut words = stream.zeroed::<u32>(4)?;
    let mut line = stream.array_zeroed::<u32, _>(Extent1 { width: 4 })?;
    let mut growable = gpu.growable::<u32>(1 << 20)?;
    let mut unified = gpu.unified::<u32>(4)?;
    let shared = gpu.event_interprocess()?;
    let recorded = gpu.event_untimed()?;
    let mut step = gpu.graph()?;
    step.fill(&mut words, 1)?;
    let mut ready = step.instantiate()?;
    let graph = stream.capture(|capture| {
        let check = |result: Result<()>, call: &str, way_out: &str| {
            let error = result.unwrap_err();
            let code = error.code().expect("a code");
            assert_eq!(code, Code::STREAM_CAPTURE_UNSUPPORTED, "{error}");
            let text = error.to_string();
            assert!(text.contains(call), "{call}: {text}");
            assert!(text.contains("being captured"), "{text}");
            assert!(text.contains(way_out), "{way_out}: {text}");
        };
        let launched = "after launching the graph";
        check(capture.synchronize(), "cuStreamSynchronize", launched);
        check(capture.is_idle().map(drop), "cuStreamQuery", launched);
        check(
            capture.completion().map(drop),
            "cuStreamAddCallback",
            launched,
        );
        check(
            capture.download(&words).map(drop),
            "cuMemcpyDtoH",
            "`copy_to_host`",
        );
        check(
            capture.download_matrix(&words.matrix(2, 2)?).map(drop),
            "cuMemcpy2D",
            "`copy_matrix_to_host`",
        );
        check(
            capture.download_array(&line).map(drop),
            "cuMemcpy",
            "`copy_from_array`",
        );
        check(capture.host_fn(|| ()), "cuLaunchHostFunc", "`capture.host(");
        check(
            capture.prefetch(&unified, Location::Device),
            "cuMemPrefetchAsync",
            "before the launch",
        );
        check(
            unified.attach(capture, Attach::Global),
            "cuStreamAttachMemAsync",
            "before the capture",
        );
        check(
            capture.array(&[1_u32], Extent1 { width: 1 }).map(drop),
            "Array",
            "before the capture",
        );
        check(
            capture.grow_zeroed(&mut growable, 10),
            "cuMemsetD8Async",
            "before the capture",
        );
        check(
            capture.extend(&mut growable, &[1]),
            "cuMemcpyHtoD",
            "before the capture",
        );
        check(capture.record(&shared), "cuEventRecord", "after the launch");
        check(ready.upload(capture), "cuGraphUpload", "before the capture");
        check(
            step.instantiate_for_device_launch(capture).map(drop),
            "cuGraphInstantiate",
            "before the capture",
        );
        check(gpu.synchronize(), "cuCtxSynchronize", "after the capture");
        let options = LaunchOptions::new().completion_event(&recorded);
        let grid = Grid::new(1, 4);
        // SAFETY: the entry takes a slice and a number, and writes only the slice.
        let launched =
            unsafe { capture.launch_untyped_with(&add, grid, &options, (&mut words, 1)) };
        check(launched, "cuLaunchKernelEx", "`capture.record_external(");
        let spare = capture.fork(&mut spare)?;
        spare.fill(&mut words, 3)?;
        capture.copy_to_array(&words, &mut line)
    })?;
    // None of that has broken the capture.
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download_array(&line)?, [3; 4]);
    Ok(())
}

// covers: GRAPH-13
#[test]
fn edges_of_a_capture_count_among_those_by_hand() -> Result<()> {
    let gpu = gpu();
    let (mut stream, mut side) = (gpu.stream()?, gpu.stream()?);
    let (mut a, mut b) = (stream.zeroed::<u32>(4)?, stream.zeroed::<u32>(4)?);
    let mut graph = stream.capture(|capture| {
        let side = capture.fork(&mut side)?;
        capture.fill(&mut a, 1)?;
        capture.copy(&a, &mut b)?;
        capture.fill(&mut a.slice_mut(..2), 2)?;
        side.fill(&mut b.slice_mut(2..), 3)
    })?;
    let captured = graph.edges()?;
    let (first, second) = (captured[0].from, captured[0].to);
    // It comes after all of it, by edges from the last ones.
    let later = graph.fill(&mut b.slice_mut(..1), 4)?;
    let of_later = graph.edges()?.len() - captured.len();
    assert!((1..4).contains(&of_later), "{of_later}");
    let text = refusal(graph.depend(first, second));
    assert!(text.contains("already"), "{text}");
    for node in [first, second] {
        let text = refusal(graph.depend(later, node));
        assert!(text.contains("would close a circle"), "{text}");
    }
    graph.instantiate()?.launch(&stream)?;
    assert_eq!(stream.download(&a)?, [2, 2, 1, 1]);
    assert_eq!(stream.download(&b)?, [4, 1, 3, 3]);
    Ok(())
}

/// The program's own error.
#[derive(Debug)]
enum Failure {
    Device(Error),
    Program(&'static str),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Device(error)
    }
}

#[test]
fn closures_fail_with_the_programs_own_errors() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    let mut words = stream.zeroed::<u32>(4)?;
    let own = stream.try_capture(|capture| -> Result<(), Failure> {
        capture.fill(&mut words, 1)?;
        Err(Failure::Program("no more"))
    });
    assert!(matches!(own, Err(Failure::Program("no more"))), "{own:?}");
    let device = stream.try_capture(|capture| -> Result<(), Failure> {
        capture.synchronize()?;
        Ok(())
    });
    let told = |failure: Failure| match failure {
        Failure::Device(error) => error.to_string(),
        Failure::Program(text) => panic!("{text}"),
    };
    assert!(told(device.unwrap_err()).contains("being captured"));

    // As the last expression, the function's own type says it.
    fn recorded(stream: &mut Stream, words: &mut DeviceBuffer<u32>) -> anyhow::Result<Graph> {
        stream.try_capture(|capture| {
            capture.fill(words, "7".parse()?)?;
            Ok(())
        })
    }
    recorded(&mut stream, &mut words)
        .expect("a graph")
        .instantiate()?
        .launch(&stream)?;
    assert_eq!(stream.download(&words)?, [7; 4]);
    let mut failing = || -> anyhow::Result<()> {
        let mut graph = gpu.graph()?;
        let condition = graph.condition(1)?;
        graph.try_if_else(condition, |is_set, body| -> anyhow::Result<()> {
            anyhow::ensure!(is_set, "the second body");
            body.fill(&mut words, 8)?;
            Ok(())
        })?;
        Ok(())
    };
    assert_eq!(failing().unwrap_err().to_string(), "the second body");
    let mut graph = gpu.graph()?;
    let condition = graph.condition(1)?;
    let own = graph.try_switch(condition, 2, |_, _| Err(Failure::Program("a choice")));
    assert!(matches!(own, Err(Failure::Program("a choice"))), "{own:?}");
    let mut graph = gpu.graph()?;
    let condition = graph.condition(1)?;
    let own = graph.try_while_loop(condition, |_| -> Result<(), Failure> { Ok(()) });
    assert!(told(own.unwrap_err()).contains("would never end"));
    Ok(())
}
