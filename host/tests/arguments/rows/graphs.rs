//! Nodes of graphs, as they are added.

use warpsmith_host::prelude::*;
use warpsmith_host::{LaunchOptions, Trigger};

use super::arrays::square;
use crate::row::{Row, rows};
use crate::world::LEN;

fn enough() -> Grid {
    Grid::cover(LEN, 64)
}

/// No fill writes it as a pattern.
const NO_PATTERN: u64 = 0x1122_3344_5566_7788;

pub fn rows() -> Vec<Row> {
    rows! {
        "GraphBuilder::copy", "to a shorter part" => Invalid, |w| {
            let from = w.stream.filled(LEN, 7_u32)?;
            w.gpu.graph()?.copy(&from, &mut w.words.slice_mut(1..))
        };
        "GraphBuilder::copy", "memory of another graph" => Invalid, |w| {
            let mut other = w.gpu.graph()?;
            w.gpu.graph()?.copy(&other.zeroed::<u32>(LEN)?, &mut w.words)
        };
        "GraphBuilder::copy_from_host", "fewer elements than the buffer has" => Invalid, |w| w.gpu.graph()?.copy_from_host(&w.pinned.slice(1..), &mut w.words);
        "GraphBuilder::copy_to_host", "fewer elements than the buffer has" => Invalid, |w| w.gpu.graph()?.copy_to_host(&w.words, &mut w.pinned.slice_mut(1..));
        "GraphBuilder::copy_from_host", "in a body" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let condition = graph.condition(0)?;
            graph.if_then(condition, |body| body.copy_from_host(&w.pinned, &mut w.words).map(drop))
        };
        "GraphBuilder::upload", "more elements than the buffer has" => Invalid, |w| w.gpu.graph()?.upload(&[1; 65], &mut w.words);
        "GraphBuilder::copy_matrix", "another shape" => Invalid, |w| {
            let from = w.stream.filled(LEN, 7_u32)?;
            w.gpu.graph()?.copy_matrix(&from.matrix(4, 16)?, &mut w.words.matrix_mut(16, 4)?)
        };
        "GraphBuilder::copy_matrix_from_host", "another number of elements" => Invalid, |w| w.gpu.graph()?.copy_matrix_from_host(&w.pinned, &mut w.words.matrix_mut(7, 9)?);
        "GraphBuilder::copy_matrix_to_host", "another number of elements" => Invalid, |w| w.gpu.graph()?.copy_matrix_to_host(&w.words.matrix(7, 9)?, &mut w.pinned);
        "GraphBuilder::copy_array", "other extents" => Invalid, |w| {
            let from = w.stream.array_zeroed::<u32, _>(warpsmith_host::Extent2 { width: 16, height: 4 })?;
            w.gpu.graph()?.copy_array(&from, &mut square(w)?)
        };
        "GraphBuilder::copy_array", "to the same level" => Invalid, |w| {
            let array = w.stream.mipmapped_array_zeroed::<u32, _>(super::arrays::SQUARE, 2)?;
            w.gpu.graph()?.copy_array(&array.level(1), &mut array.level(1))
        };
        "GraphBuilder::copy_to_array", "one element too few" => Invalid, |w| w.gpu.graph()?.copy_to_array(&w.words.slice(1..), &mut square(w)?);
        "GraphBuilder::copy_from_array", "one element too few" => Invalid, |w| {
            let from = square(w)?;
            w.gpu.graph()?.copy_from_array(&from, &mut w.words.slice_mut(1..))
        };
        "GraphBuilder::fill", "a value that is no pattern" => Invalid, |w| {
            let mut wide = w.stream.zeroed::<u64>(8)?;
            w.gpu.graph()?.fill(&mut wide, NO_PATTERN)
        };
        "GraphBuilder::fill", "memory of another graph" => Invalid, |w| {
            let mut other = w.gpu.graph()?;
            w.gpu.graph()?.fill(&mut other.zeroed::<u32>(LEN)?, 1)
        };
        "GraphBuilder::kernel", "no blocks" => Limit, |w| w.gpu.graph()?.kernel(&w.typed, Grid::cover(0, 64), (&mut w.words, 1));
        "GraphBuilder::kernel", "memory of another graph" => Invalid, |w| {
            let mut other = w.gpu.graph()?;
            w.gpu.graph()?.kernel(&w.typed, enough(), (&mut other.zeroed(LEN)?, 1))
        };
        "GraphBuilder::kernel_with", "an event" => Invalid, |w| {
            let event = w.gpu.event_untimed()?;
            let options = LaunchOptions::new().completion_event(&event);
            w.gpu.graph()?.kernel_with(&w.typed, enough(), &options, (&mut w.words, 1))
        };
        "GraphBuilder::kernel_with", "a share of shared memory" => Invalid, |w| {
            let options = LaunchOptions::new().shared_memory_carveout(50);
            w.gpu.graph()?.kernel_with(&w.typed, enough(), &options, (&mut w.words, 1))
        };
        "GraphBuilder::kernel_early", "more threads than a block has" => Limit, |w| {
            w.gpu.graph()?.kernel_early(&w.early, Grid::new(1, 4096), &LaunchOptions::new(), Trigger::BlocksStarted, (&mut w.words, 1))
        };
        "GraphBuilder::kernel_unchecked", "more shared memory than a block has" => Limit, |w| {
            // SAFETY: the item is the entry's (`World::new`).
            unsafe { w.gpu.graph()?.kernel_unchecked(&w.typed, enough().shared_bytes(u32::MAX), (&mut w.words, 1)) }
        };
        "GraphBuilder::kernel_unchecked_with", "blocks that do not divide into clusters" => Invalid, |w| {
            // SAFETY: the item is the entry's (`World::new`).
            unsafe { w.gpu.graph()?.kernel_unchecked_with(&w.typed, Grid::new(3, 32).cluster(2), &LaunchOptions::new(), (&mut w.words, 1)) }
        };
        "GraphBuilder::kernel_untyped", "more threads than a block has" => Limit, |w| {
            // SAFETY: the entry takes a slice and a number, and writes only the slice.
            unsafe { w.gpu.graph()?.kernel_untyped(&w.add, Grid::new(1, 4096), (&mut w.words, 1)) }
        };
        "GraphBuilder::kernel_untyped", "a condition of another graph" => Invalid, |w| {
            let count_down = w.module.untyped_kernel::<(Out<u32>, ConditionHandle)>("count_down")?;
            let condition = w.gpu.graph()?.condition(1)?;
            // SAFETY: the entry takes a slice and a condition, and writes the slice's first element.
            unsafe { w.gpu.graph()?.kernel_untyped(&count_down, Grid::new(1, 1), (&mut w.words, condition)) }
        };
        "GraphBuilder::kernel_untyped_with", "an event" => Invalid, |w| {
            let event = w.gpu.event_untimed()?;
            let options = LaunchOptions::new().programmatic_event(&event, Trigger::BlocksStarted);
            // SAFETY: the entry takes a slice and a number, and writes only the slice.
            unsafe { w.gpu.graph()?.kernel_untyped_with(&w.add, enough(), &options, (&mut w.words, 1)) }
        };
        "GraphBuilder::depend", "nodes of another graph" => Invalid, |w| {
            let mut other = w.gpu.graph()?;
            let (one, two) = (other.empty()?, other.empty()?);
            w.gpu.graph()?.depend(one, two)
        };
        "GraphBuilder::depend", "a node on itself" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let node = graph.empty()?;
            graph.depend(node, node)
        };
        "GraphBuilder::depend", "a circle" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let (one, two) = (graph.empty()?, graph.empty()?);
            graph.depend(one, two)?;
            graph.depend(two, one)
        };
        "GraphBuilder::depend", "an edge that is there" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let (one, two) = (graph.empty()?, graph.empty()?);
            graph.depend(one, two)?;
            graph.depend(one, two)
        };
        "GraphBuilder::depend_started", "a node of another graph" => Invalid, |w| {
            let mut other = w.gpu.graph()?;
            let node = other.kernel(&w.typed, enough(), (&mut w.words, 1))?;
            let mut graph = w.gpu.graph()?;
            let after = graph.empty()?;
            graph.depend_started(node, after)
        };
        "GraphBuilder::depend_started", "a node on itself" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let node = graph.kernel(&w.typed, enough(), (&mut w.words, 1))?;
            graph.depend_started(node, node)
        };
        "GraphBuilder::access_policy", "a node of another graph" => Invalid, |w| {
            let node = w.gpu.graph()?.empty()?;
            w.gpu.graph()?.access_policy(node)
        };
        "GraphBuilder::access_policy", "a node that is no kernel" => Driver, |w| {
            let mut graph = w.gpu.graph()?;
            let node = graph.empty()?;
            graph.access_policy(node)
        };
        "GraphBuilder::zeroed", "more bytes than numbers" => Invalid, |w| w.gpu.graph()?.zeroed::<u64>(usize::MAX);
        "GraphBuilder::zeroed", "more than the driver aligns" => Limit, |w| w.gpu.graph()?.zeroed::<super::pools::Aligned>(1);
        "GraphBuilder::filled", "more bytes than numbers" => Invalid, |w| w.gpu.graph()?.filled(usize::MAX, 1_u64);
        "GraphBuilder::filled", "a value that is no pattern" => Invalid, |w| w.gpu.graph()?.filled(8, NO_PATTERN);
        "GraphBuilder::uninit", "more bytes than numbers" => Invalid, |w| {
            // SAFETY: the memory is not read.
            unsafe { w.gpu.graph()?.uninit::<u64>(usize::MAX) }
        };
        "GraphBuilder::zeroed_on", "more bytes than numbers" => Invalid, |w| w.gpu.graph()?.zeroed_on::<u64>(&w.gpu, usize::MAX);
        "GraphBuilder::free", "memory of a stream" => Invalid, |w| {
            let buffer = w.stream.zeroed::<u32>(LEN)?;
            w.gpu.graph()?.free(buffer)
        };
        "GraphBuilder::free", "memory of another graph" => Invalid, |w| {
            let mut other = w.gpu.graph()?;
            let buffer = other.zeroed::<u32>(LEN)?;
            w.gpu.graph()?.free(buffer)
        };
        "GraphBuilder::child", "a graph that allocates" => Invalid, |w| {
            let mut child = w.gpu.graph()?;
            drop(child.zeroed::<u32>(LEN)?);
            w.gpu.graph()?.child(&child)
        };
        "GraphBuilder::child", "a graph that is not whole" => Invalid, |w| {
            let mut child = w.gpu.graph()?;
            let condition = child.condition(0)?;
            let refused = child.while_loop(condition, |_| Ok(()));
            assert!(refused.is_err());
            w.gpu.graph()?.child(&child)
        };
        "GraphBuilder::while_loop", "a body that leaves the condition as it is" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let condition = graph.condition(1)?;
            graph.while_loop(condition, |_| Ok(()))
        };
        "GraphBuilder::while_loop", "a condition of another graph" => Invalid, |w| {
            let condition = w.gpu.graph()?.condition(1)?;
            w.gpu.graph()?.while_loop(condition, |_| Ok(()))
        };
        "GraphBuilder::try_while_loop", "a condition of another graph" => Invalid, |w| {
            let condition = w.gpu.graph()?.condition(1)?;
            w.gpu.graph()?.try_while_loop(condition, |_| Ok::<_, Error>(()))
        };
        "GraphBuilder::if_then", "a condition that decides already" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let condition = graph.condition(1)?;
            graph.if_then(condition, |_| Ok(()))?;
            graph.if_then(condition, |_| Ok(()))
        };
        "GraphBuilder::if_then", "a condition of the graph around a body" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let (outer, other) = (graph.condition(1)?, graph.condition(1)?);
            graph.if_then(outer, |body| body.if_then(other, |_| Ok(())).map(drop))
        };
        "GraphBuilder::try_if_then", "a condition of another graph" => Invalid, |w| {
            let condition = w.gpu.graph()?.condition(1)?;
            w.gpu.graph()?.try_if_then(condition, |_| Ok::<_, Error>(()))
        };
        "GraphBuilder::if_else", "a condition of another graph" => Invalid, |w| {
            let condition = w.gpu.graph()?.condition(1)?;
            w.gpu.graph()?.if_else(condition, |_, _| Ok(()))
        };
        "GraphBuilder::try_if_else", "a condition of another graph" => Invalid, |w| {
            let condition = w.gpu.graph()?.condition(1)?;
            w.gpu.graph()?.try_if_else(condition, |_, _| Ok::<_, Error>(()))
        };
        "GraphBuilder::switch", "no bodies" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let condition = graph.condition(1)?;
            graph.switch(condition, 0, |_, _| Ok(()))
        };
        "GraphBuilder::try_switch", "no bodies" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let condition = graph.condition(1)?;
            graph.try_switch(condition, 0, |_, _| Ok::<_, Error>(()))
        };
        "GraphBuilder::switch", "more bodies than a choice has" => Limit, |w| {
            let mut graph = w.gpu.graph()?;
            let condition = graph.condition(1)?;
            graph.switch(condition, u32::MAX, |_, _| Ok(()))
        };
        "GraphBuilder::record", "in a body" => Invalid, |w| {
            let (mut graph, event) = (w.gpu.graph()?, w.gpu.event()?);
            let condition = graph.condition(0)?;
            graph.if_then(condition, |body| body.record(&event).map(drop))
        };
        "GraphBuilder::wait", "in a body" => Invalid, |w| {
            let (mut graph, event) = (w.gpu.graph()?, w.gpu.event()?);
            let condition = graph.condition(0)?;
            graph.if_then(condition, |body| body.wait(&event).map(drop))
        };
        "GraphBuilder::host", "in a body" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            let condition = graph.condition(0)?;
            graph.if_then(condition, |body| body.host(|| ()).map(drop))
        };
        "GraphBuilder::flags", "no operations" => Invalid, |w| w.gpu.graph()?.flags(&warpsmith_host::FlagOperations::new());
        "GraphBuilder::write_value", "in a body" => Invalid, |w| {
            let (mut graph, flag) = (w.gpu.graph()?, w.gpu.flag(0_u32)?);
            let condition = graph.condition(0)?;
            graph.if_then(condition, |body| body.write_value(&flag, 1).map(drop))
        };
        "GraphBuilder::wait_value", "in a body" => Invalid, |w| {
            let (mut graph, flag) = (w.gpu.graph()?, w.gpu.flag(1_u32)?);
            let condition = graph.condition(0)?;
            graph.if_then(condition, |body| body.wait_value(&flag, Wait::Equal(1)).map(drop))
        };
        "GraphBuilder::signal_semaphores", "none" => Invalid, |w| w.gpu.graph()?.signal_semaphores(&[]);
        "GraphBuilder::wait_semaphores", "none" => Invalid, |w| w.gpu.graph()?.wait_semaphores(&[]);
    }
}

pub fn far_rows() -> Vec<Row> {
    rows! {
        "GraphBuilder::copy", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.gpu.graph()?.copy(&far.words, near.words)
        };
        "GraphBuilder::copy_matrix", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.gpu.graph()?.copy_matrix(&far.words.matrix(8, 8)?, &mut near.words.matrix_mut(8, 8)?)
        };
        "GraphBuilder::copy_to_array", "an array of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.gpu.graph()?.copy_to_array(near.words, &mut square(far)?)
        };
        "GraphBuilder::kernel", "a kernel of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.gpu.graph()?.kernel(&far.typed, enough(), (near.words, 1))
        };
        "GraphBuilder::kernel", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.gpu.graph()?.kernel(near.typed, enough(), (&mut far.words, 1))
        };
        "GraphBuilder::kernel_early", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.gpu.graph()?.kernel_early(near.early, enough(), &LaunchOptions::new(), Trigger::BlocksStarted, (&mut far.words, 1))
        };
        "GraphBuilder::write_value", "a flag of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.gpu.graph()?.write_value(&far.gpu.flag(0_u32)?, 1)
        };
        "GraphBuilder::wait_value", "a flag of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.gpu.graph()?.wait_value(&far.gpu.flag(1_u32)?, Wait::Equal(1))
        };
    }
}
