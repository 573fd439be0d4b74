//! Captures: what does not belong to them, and what nobody may do inside.

use warpsmith_host::prelude::*;
use warpsmith_host::{PoolOptions, StreamOptions};

use super::arrays::{SQUARE, square};
use crate::row::{Row, rows};
use crate::world::LEN;

fn broken(gpu: &Gpu) -> Result<Graph> {
    let mut graph = gpu.graph()?;
    let condition = graph.condition(0)?;
    assert!(graph.while_loop(condition, |_| Ok(())).is_err());
    Ok(graph)
}

pub fn rows() -> Vec<Row> {
    rows! {
        "Stream::capture", "the legacy default stream" => Invalid, |w| w.gpu.legacy_stream()?.capture(|_| Ok(()));
        "Stream::try_capture", "the legacy default stream" => Invalid, |w| w.gpu.legacy_stream()?.try_capture(|_| Ok::<_, Error>(()));
        "Capture::fork", "the legacy default stream" => Invalid, |w| {
            let mut legacy = w.gpu.legacy_stream()?;
            w.stream.capture(|capture| capture.fork(&mut legacy).map(drop))
        };
        "Capture::join", "a stream outside" => Invalid, |w| w.stream.capture(|capture| capture.join(&w.other));
        "Capture::host", "a stream outside" => Invalid, |w| w.stream.capture(|capture| capture.host(&w.other, || ()));
        "Capture::record_external", "a stream outside" => Invalid, |w| {
            let event = w.gpu.event()?;
            w.stream.capture(|capture| capture.record_external(&w.other, &event))
        };
        "Capture::wait_external", "a stream outside" => Invalid, |w| {
            let event = w.gpu.event()?;
            w.stream.capture(|capture| capture.wait_external(&w.other, &event))
        };
        "Capture::wait_external", "an event that the capture has recorded" => Invalid, |w| {
            let event = w.gpu.event()?;
            w.stream.capture(|capture| {
                capture.record(&event)?;
                capture.wait_external(capture, &event)
            })
        };
        "Capture::free", "memory from outside" => Invalid, |w| {
            let buffer = w.stream.zeroed::<u32>(LEN)?;
            w.stream.capture(|capture| capture.free(capture, buffer))
        };
        "Capture::free", "a stream outside" => Invalid, |w| w.stream.capture(|capture| {
            let buffer = capture.zeroed::<u32>(LEN)?;
            capture.free(&w.other, buffer)
        });
        "Capture::free", "memory of a graph" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let buffer = graph.zeroed::<u32>(LEN)?;
            w.stream.capture(|capture| capture.free(capture, buffer))
        };
        "Capture::child", "a stream outside" => Invalid, |w| {
            let graph = w.gpu.graph()?;
            w.stream.capture(|capture| capture.child(&w.other, &graph))
        };
        "Capture::child", "a graph that is not whole" => Invalid, |w| {
            let graph = broken(&w.gpu)?;
            w.stream.capture(|capture| capture.child(capture, &graph))
        };
        "Capture::child", "a graph that allocates" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            drop(graph.zeroed::<u32>(LEN)?);
            w.stream.capture(|capture| capture.child(capture, &graph))
        };
        "Stream::synchronize", "inside of a capture" => Invalid, |w| w.stream.capture(|capture| capture.synchronize());
        "Stream::is_idle", "inside of a capture" => Invalid, |w| w.stream.capture(|capture| capture.is_idle().map(drop));
        "Stream::completion", "inside of a capture" => Invalid, |w| w.stream.capture(|capture| capture.completion().map(drop));
        "Gpu::synchronize", "while a stream is captured" => Invalid, |w| {
            let gpu = w.gpu.clone();
            w.stream.capture(|_| gpu.synchronize())
        };
        "Stream::download", "inside of a capture" => Invalid, |w| w.stream.capture(|capture| capture.download(&w.words).map(drop));
        "Stream::download_into", "inside of a capture" => Invalid, |w| w.stream.capture(|capture| capture.download_into(&w.words, &mut [0; LEN]));
        "Stream::download_matrix", "inside of a capture" => Invalid, |w| w.stream.capture(|capture| capture.download_matrix(&w.words.matrix(8, 8)?).map(drop));
        "Stream::array_zeroed", "inside of a capture" => Invalid, |w| w.stream.capture(|capture| capture.array_zeroed::<u32, _>(SQUARE).map(drop));
        "Stream::mipmapped_array_zeroed", "inside of a capture" => Invalid, |w| w.stream.capture(|capture| capture.mipmapped_array_zeroed::<u32, _>(SQUARE, 1).map(drop));
        "Stream::download_array", "inside of a capture" => Invalid, |w| {
            let array = square(w)?;
            w.stream.capture(|capture| capture.download_array(&array).map(drop))
        };
        "Stream::grow_zeroed", "inside of a capture" => Invalid, |w| {
            let mut growable = w.gpu.growable::<u32>(LEN)?;
            w.stream.capture(|capture| capture.grow_zeroed(&mut growable, 1))
        };
        "Stream::extend", "inside of a capture" => Invalid, |w| {
            let mut growable = w.gpu.growable::<u32>(LEN)?;
            w.stream.capture(|capture| capture.extend(&mut growable, &[1]))
        };
        "Stream::prefetch", "inside of a capture" => Invalid, |w| {
            let memory = w.gpu.unified::<u32>(LEN)?;
            w.stream.capture(|capture| capture.prefetch(&memory, Location::Device))
        };
        "Stream::discard", "inside of a capture" => Invalid, |w| {
            let mut memory = w.gpu.unified::<u32>(LEN)?.into_uninit();
            w.stream.capture(|capture| capture.discard(&mut memory))
        };
        "Stream::fill_uninit", "inside of a capture" => Invalid, |w| {
            let memory = w.gpu.unified::<u32>(LEN)?.into_uninit();
            w.stream.capture(|capture| capture.fill_uninit(memory, 1).map(drop))
        };
        "Stream::host_fn", "inside of a capture" => Invalid, |w| w.stream.capture(|capture| capture.host_fn(|| ()));
        "UnifiedBuffer::attach", "to a stream that is captured" => Invalid, |w| {
            let mut memory = w.gpu.unified::<u32>(LEN)?;
            w.stream.capture(|capture| memory.attach(capture, Attach::Single))
        };
        "Stream::alloc_from", "a pool of the host, inside of a capture" => Invalid, |w| {
            let pool = w.gpu.pool(PoolOptions { location: Location::Host, ..Default::default() })?;
            w.stream.capture(|capture| capture.alloc_from(&pool)?.zeroed::<u32>(LEN).map(drop))
        };
        "Stream::adopt", "inside of a capture" => Invalid, |w| {
            let memory = w.words.as_device_ptr();
            w.stream.capture(|capture| {
                // SAFETY: the buffer is not used as another is made of its memory, which is refused.
                unsafe { capture.adopt(memory, LEN, ()) }?;
                Ok(())
            })
        };
        "Event::synchronize", "an event that a capture has recorded" => Invalid, |w| {
            let event = w.gpu.event()?;
            w.stream.capture(|capture| {
                capture.record(&event)?;
                event.synchronize()
            })
        };
        "Event::is_complete", "an event that a capture has recorded" => Invalid, |w| {
            let event = w.gpu.event()?;
            w.stream.capture(|capture| {
                capture.record(&event)?;
                event.is_complete().map(drop)
            })
        };
        "Event::elapsed_since", "an event that a capture has recorded" => Invalid, |w| {
            let event = w.gpu.event()?;
            w.stream.capture(|capture| {
                capture.record(&event)?;
                event.elapsed_since(&event).map(drop)
            })
        };
        "Stream::wait", "an event of a capture that the stream is not part of" => Invalid, |w| {
            let event = w.gpu.event()?;
            w.stream.capture(|capture| {
                capture.record(&event)?;
                w.other.wait(&event)
            })
        };
        "PerThreadStream::wait", "an event of a capture" => Invalid, |w| {
            let event = w.gpu.event()?;
            w.stream.capture(|capture| {
                capture.record(&event)?;
                w.gpu.per_thread_stream()?.wait(&event)
            })
        };
        "Stream::wait_raw_event", "inside of a capture" => Invalid, |w| {
            let event = w.gpu.event()?;
            w.stream.capture(|capture| {
                // SAFETY: the event is of this device and alive.
                unsafe { capture.wait_raw_event(event.as_raw()) }
            })
        };
        "Stream::record_raw_event", "inside of a capture" => Invalid, |w| {
            let event = w.gpu.event()?;
            w.stream.capture(|capture| {
                // SAFETY: the event is of this device and alive.
                unsafe { capture.record_raw_event(event.as_raw()) }
            })
        };
        "GraphExec::upload", "inside of a capture" => Invalid, |w| {
            let mut exec = w.gpu.graph()?.instantiate()?;
            w.stream.capture(|capture| exec.upload(capture))
        };
        "Graph::instantiate_for_device_launch", "inside of a capture" => Invalid, |w| {
            let graph = w.gpu.graph()?;
            w.stream.capture(|capture| graph.instantiate_for_device_launch(capture).map(drop))
        };
        "GraphExec::launch", "inside of a capture, after a node was changed" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let node = graph.kernel(&w.typed, Grid::cover(LEN, 64), (&mut w.words, 1))?;
            let mut exec = graph.instantiate()?;
            exec.set_kernel(node, &w.typed, Grid::cover(LEN, 64), (&mut w.words, 2))?;
            w.stream.capture(|capture| exec.launch(capture))
        };
        "Gpu::adopt_stream", "a stream that is captured" => Invalid, |w| {
            let gpu = w.gpu.clone();
            w.stream.capture(|capture| {
                // SAFETY: the stream is alive, and refused.
                unsafe { gpu.adopt_stream(capture.as_raw(), ()) }?;
                Ok(())
            })
        };
        "Stream::copy_from_peer", "from a stream that is captured" => Invalid, |w| {
            let from = w.stream.filled(LEN, 7_u32)?;
            let mut blocking = w.gpu.stream_with(StreamOptions { non_blocking: false, ..Default::default() })?;
            blocking.capture(|capture| w.stream.copy_from_peer(capture, &from, &mut w.words))
        };
        "Stream::copy_matrix_from_peer", "from a stream that is captured" => Invalid, |w| {
            let from = w.stream.filled(LEN, 7_u32)?;
            let mut blocking = w.gpu.stream_with(StreamOptions { non_blocking: false, ..Default::default() })?;
            let to = &mut w.words.matrix_mut(8, 8)?;
            blocking.capture(|capture| w.stream.copy_matrix_from_peer(capture, &from.matrix(8, 8)?, to))
        };
    }
}

pub fn far_rows() -> Vec<Row> {
    rows! {
        "Capture::record_external", "an event of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let event = far.gpu.event()?;
            near.stream.capture(|capture| capture.record_external(capture, &event))
        };
        "Capture::child", "a graph of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let graph = far.gpu.graph()?;
            near.stream.capture(|capture| capture.child(capture, &graph))
        };
        "Stream::wait", "an event of another device, inside of a capture" => Invalid, |w| {
            let (near, far) = w.both();
            let event = far.gpu.event()?;
            far.stream.record(&event)?;
            near.stream.capture(|capture| capture.wait(&event))
        };
        "Stream::copy", "memory of another device, inside of a capture" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.capture(|capture| capture.copy(&far.words, near.words))
        };
        "Stream::launch", "memory of another device, inside of a capture" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.capture(|capture| capture.launch(near.typed, Grid::cover(LEN, 64), (&mut far.words, 1)))
        };
    }
}
