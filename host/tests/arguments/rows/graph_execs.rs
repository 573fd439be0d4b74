//! Graphs that are made ready: launches, updates, single nodes.

use warpsmith_host::prelude::*;
use warpsmith_host::{FlagOperations, LaunchOptions, Trigger};

use crate::row::{Row, rows};
use crate::world::{LEN, World};

fn enough() -> Grid {
    Grid::cover(LEN, 64)
}

/// A graph with a node of each kind that changes by itself, and its nodes.
struct Ready {
    exec: GraphExec,
    kernel: warpsmith_host::KernelNode,
    copy: warpsmith_host::CopyNode,
    from_host: warpsmith_host::CopyNode,
    to_host: warpsmith_host::CopyNode,
    fill: warpsmith_host::FillNode,
    child: warpsmith_host::ChildNode,
    record: warpsmith_host::EventRecordNode,
    wait: warpsmith_host::EventWaitNode,
    flags: warpsmith_host::FlagNode,
}

impl Ready {
    fn new(w: &World) -> Result<Ready> {
        let mut one = w.stream.zeroed::<u32>(LEN)?;
        let mut two = w.stream.zeroed::<u32>(LEN)?;
        let mut host = w.gpu.pinned::<u32>(LEN)?;
        let (event, flag) = (w.gpu.event()?, w.gpu.flag(1_u32)?);
        let mut graph = w.gpu.graph()?;
        let kernel = graph.kernel(&w.typed, enough(), (&mut one, 1))?;
        let copy = graph.copy(&one, &mut two)?;
        let from_host = graph.copy_from_host(&host, &mut two)?;
        let to_host = graph.copy_to_host(&two, &mut host)?;
        let fill = graph.fill(&mut w.gpu.unified::<u32>(LEN)?, 1)?;
        Ok(Ready {
            kernel,
            copy,
            from_host,
            to_host,
            fill,
            child: graph.child(&w.gpu.graph()?)?,
            record: graph.record(&event)?,
            wait: graph.wait(&event)?,
            flags: graph.flags(&FlagOperations::new().write(&flag, 1))?,
            exec: graph.instantiate()?,
        })
    }
}

pub fn rows() -> Vec<Row> {
    rows! {
        "GraphExec::update", "a graph of another shape" => GraphUpdate, |w| Ready::new(w)?.exec.update(&w.gpu.graph()?);
        "GraphExec::update", "a graph that is not whole" => Invalid, |w| {
            let mut broken = w.gpu.graph()?;
            let condition = broken.condition(0)?;
            assert!(broken.while_loop(condition, |_| Ok(())).is_err());
            Ready::new(w)?.exec.update(&broken)
        };
        "GraphExec::update", "a graph that allocates" => GraphUpdate, |w| {
            let mut graph = w.gpu.graph()?;
            drop(graph.zeroed::<u32>(LEN)?);
            Ready::new(w)?.exec.update(&graph)
        };
        "GraphExec::update_or_reinstantiate", "a graph that is not whole" => Invalid, |w| {
            let mut broken = w.gpu.graph()?;
            let condition = broken.condition(0)?;
            assert!(broken.while_loop(condition, |_| Ok(())).is_err());
            Ready::new(w)?.exec.update_or_reinstantiate(&broken)
        };
        "GraphExec::set_kernel", "more threads than a block has" => Limit, |w| {
            let mut ready = Ready::new(w)?;
            ready.exec.set_kernel(ready.kernel, &w.typed, Grid::new(1, 4096), (&mut w.words, 1))
        };
        "GraphExec::set_kernel", "a node of another graph" => Invalid, |w| {
            let other = w.gpu.graph()?.kernel(&w.typed, enough(), (&mut w.words, 1))?;
            Ready::new(w)?.exec.set_kernel(other, &w.typed, enough(), (&mut w.words, 1))
        };
        "GraphExec::set_kernel", "memory of a graph" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            let mut graph = w.gpu.graph()?;
            ready.exec.set_kernel(ready.kernel, &w.typed, enough(), (&mut graph.zeroed(LEN)?, 1))
        };
        "GraphExec::set_kernel_unchecked", "no blocks" => Limit, |w| {
            let mut ready = Ready::new(w)?;
            // SAFETY: the item is the entry's (`World::new`).
            unsafe { ready.exec.set_kernel_unchecked(ready.kernel, &w.typed, Grid::cover(0, 64), (&mut w.words, 1)) }
        };
        "GraphExec::set_kernel_untyped", "no blocks" => Limit, |w| {
            let mut ready = Ready::new(w)?;
            // SAFETY: the entry takes a slice and a number, and writes only the slice.
            unsafe { ready.exec.set_kernel_untyped(ready.kernel, &w.add, Grid::cover(0, 64), (&mut w.words, 1)) }
        };
        "GraphExec::set_kernel_early", "no blocks" => Limit, |w| {
            let mut graph = w.gpu.graph()?;
            let node = graph.kernel_early(&w.early, enough(), &LaunchOptions::new(), Trigger::BlocksStarted, (&mut w.words, 1))?;
            graph.instantiate()?.set_kernel_early(node, &w.early, Grid::cover(0, 64), (&mut w.words, 1))
        };
        "GraphExec::set_copy", "to a shorter part" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            let from = w.stream.zeroed::<u32>(LEN)?;
            ready.exec.set_copy(ready.copy, &from, &mut w.words.slice_mut(1..))
        };
        "GraphExec::set_copy", "a node that copies from the host" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            let from = w.stream.zeroed::<u32>(LEN)?;
            ready.exec.set_copy(ready.from_host, &from, &mut w.words)
        };
        "GraphExec::set_copy", "no memory" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            let from = w.stream.zeroed::<u32>(0)?;
            ready.exec.set_copy(ready.copy, &from, &mut w.words.slice_mut(..0))
        };
        "GraphExec::set_copy_from_host", "another length" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            ready.exec.set_copy_from_host(ready.from_host, &w.pinned, &mut w.words.slice_mut(1..))
        };
        "GraphExec::set_copy_to_host", "another length" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            ready.exec.set_copy_to_host(ready.to_host, &w.words.slice(1..), &mut w.pinned)
        };
        "GraphExec::set_fill", "no memory" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            ready.exec.set_fill(ready.fill, &mut w.words.slice_mut(..0), 1)
        };
        "GraphExec::set_fill", "memory of a pool" => Driver, |w| {
            let mut ready = Ready::new(w)?;
            ready.exec.set_fill(ready.fill, &mut w.words, 1)
        };
        "GraphExec::set_fill", "a value that is no pattern" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            ready.exec.set_fill(ready.fill, &mut w.gpu.unified::<u64>(8)?, 0x1122_3344_5566_7788)
        };
        "GraphExec::set_host", "a node of another graph" => Invalid, |w| {
            let other = w.gpu.graph()?.host(|| ())?;
            Ready::new(w)?.exec.set_host(other, || ())
        };
        "GraphExec::set_child", "a graph of another shape" => Driver, |w| {
            let mut ready = Ready::new(w)?;
            let mut child = w.gpu.graph()?;
            child.empty()?;
            ready.exec.set_child(ready.child, &child)
        };
        "GraphExec::set_child", "a graph that allocates" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            let mut child = w.gpu.graph()?;
            drop(child.zeroed::<u32>(LEN)?);
            ready.exec.set_child(ready.child, &child)
        };
        "GraphExec::set_enabled", "a node of another graph" => Invalid, |w| {
            let other = w.gpu.graph()?.kernel(&w.typed, enough(), (&mut w.words, 1))?;
            Ready::new(w)?.exec.set_enabled(other, false)
        };
        "GraphExec::is_enabled", "a node of another graph" => Invalid, |w| {
            let other = w.gpu.graph()?.kernel(&w.typed, enough(), (&mut w.words, 1))?;
            Ready::new(w)?.exec.is_enabled(other)
        };
        "GraphExec::set_recorded_event", "a node of another graph" => Invalid, |w| {
            let event = w.gpu.event()?;
            let other = w.gpu.graph()?.record(&event)?;
            Ready::new(w)?.exec.set_recorded_event(other, &event)
        };
        "GraphExec::set_awaited_event", "a node of another graph" => Invalid, |w| {
            let event = w.gpu.event()?;
            let other = w.gpu.graph()?.wait(&event)?;
            Ready::new(w)?.exec.set_awaited_event(other, &event)
        };
        "GraphExec::set_flags", "more than the driver takes" => Limit, |w| {
            let mut ready = Ready::new(w)?;
            let flag = w.gpu.flag(0_u32)?;
            let many = (0..256).fold(FlagOperations::new(), |all, _| all.write(&flag, 1));
            ready.exec.set_flags(ready.flags, &many)
        };
        "Graph::instantiate_for_device_launch", "a graph with a function on the host" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            graph.host(|| ())?;
            graph.instantiate_for_device_launch(&w.stream)
        };
        "Graph::instantiate_for_device_launch", "no nodes" => Invalid, |w| w.gpu.graph()?.instantiate_for_device_launch(&w.stream);
        "DeviceGraph::update", "a graph with a function on the host" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            graph.kernel(&w.typed, enough(), (&mut w.words, 1))?;
            let mut ready = graph.instantiate_for_device_launch(&w.stream)?;
            let mut other = w.gpu.graph()?;
            other.host(|| ())?;
            ready.update(&other, &w.stream)
        };
        "DeviceGraph::update", "a graph that uses other memory" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            graph.kernel(&w.typed, enough(), (&mut w.words, 1))?;
            let mut ready = graph.instantiate_for_device_launch(&w.stream)?;
            let mut memory = w.stream.zeroed(LEN)?;
            let mut other = w.gpu.graph()?;
            other.kernel(&w.typed, enough(), (&mut memory, 1))?;
            ready.update(&other, &w.stream)
        };
    }
}

pub fn far_rows() -> Vec<Row> {
    rows! {
        "GraphExec::launch", "in a captured stream of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let mut ready = near.gpu.graph()?.instantiate()?;
            far.stream.capture(|capture| ready.launch(capture)).map(drop)
        };
        "GraphExec::update", "a graph of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.gpu.graph()?.instantiate()?.update(&far.gpu.graph()?)
        };
        "GraphExec::update_or_reinstantiate", "a graph of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.gpu.graph()?.instantiate()?.update_or_reinstantiate(&far.gpu.graph()?)
        };
        "GraphExec::set_kernel", "a kernel of another device" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            let (near, far) = w.both();
            ready.exec.set_kernel(ready.kernel, &far.typed, enough(), (near.words, 1))
        };
        "GraphExec::set_kernel", "memory of another device" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            let (near, far) = w.both();
            ready.exec.set_kernel(ready.kernel, near.typed, enough(), (&mut far.words, 1))
        };
        "GraphExec::set_copy", "memory of another device" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            let (near, far) = w.both();
            ready.exec.set_copy(ready.copy, near.words, &mut far.words)
        };
        "GraphExec::set_fill", "memory of another device" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            let (_, far) = w.both();
            ready.exec.set_fill(ready.fill, &mut far.words, 1)
        };
        "GraphExec::set_child", "a graph of another device" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            let (_, far) = w.both();
            ready.exec.set_child(ready.child, &far.gpu.graph()?)
        };
        "GraphExec::set_recorded_event", "an event of another device" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            let (_, far) = w.both();
            ready.exec.set_recorded_event(ready.record, &far.gpu.event()?)
        };
        "GraphExec::set_awaited_event", "an event of another device" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            let (_, far) = w.both();
            ready.exec.set_awaited_event(ready.wait, &far.gpu.event()?)
        };
        "GraphExec::set_flags", "a flag of another device" => Invalid, |w| {
            let mut ready = Ready::new(w)?;
            let (_, far) = w.both();
            let flag = far.gpu.flag(0_u32)?;
            ready.exec.set_flags(ready.flags, &FlagOperations::new().write(&flag, 1))
        };
        "Graph::instantiate_for_device_launch", "in a stream of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.gpu.graph()?.instantiate_for_device_launch(&far.stream)
        };
        "DeviceGraph::launch", "in a stream of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let mut graph = near.gpu.graph()?;
            graph.kernel(near.typed, enough(), (near.words, 1))?;
            graph.instantiate_for_device_launch(near.stream)?.launch(&far.stream)
        };
        "DeviceGraph::update", "a graph of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let mut graph = near.gpu.graph()?;
            graph.kernel(near.typed, enough(), (near.words, 1))?;
            graph.instantiate_for_device_launch(near.stream)?.update(&far.gpu.graph()?, near.stream)
        };
    }
}
