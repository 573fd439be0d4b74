//! Launches, and what is asked of kernels.

use warpsmith_device::texture::Dim2;
use warpsmith_host::prelude::*;
use warpsmith_host::{AccessPolicyWindow, LaunchOptions, MemSyncDomainMap, Trigger};

use crate::row::{Row, rows};
use crate::world::{self, LEN};

/// More threads than a block of any device has.
fn too_many() -> Grid {
    Grid::new(1, 4096)
}

fn no_blocks() -> Grid {
    Grid::cover(0, 64)
}

fn enough() -> Grid {
    Grid::cover(LEN, 64)
}

pub fn rows() -> Vec<Row> {
    rows! {
        "Stream::launch", "no blocks" => Limit, |w| w.stream.launch(&w.typed, no_blocks(), (&mut w.words, 1));
        "Stream::launch", "no threads" => Limit, |w| w.stream.launch(&w.typed, Grid::new(1, 0), (&mut w.words, 1));
        "Stream::launch", "more threads than a block has" => Limit, |w| w.stream.launch(&w.typed, too_many(), (&mut w.words, 1));
        "Stream::launch", "a block that is too deep" => Limit, |w| w.stream.launch(&w.typed, Grid::new(1, (1, 1, 65)), (&mut w.words, 1));
        "Stream::launch", "a product of extents that overflows" => Limit, |w| w.stream.launch(&w.typed, Grid::new(1, (u32::MAX, u32::MAX, u32::MAX)), (&mut w.words, 1));
        "Stream::launch", "more blocks than a grid has" => Limit, |w| w.stream.launch(&w.typed, Grid::cover(usize::MAX, 64), (&mut w.words, 1));
        "Stream::launch", "more blocks in y than a grid has" => Limit, |w| w.stream.launch(&w.typed, Grid::new((1, 65536), 64), (&mut w.words, 1));
        "Stream::launch", "two dimensions for an output of one" => Limit, |w| w.stream.launch(&w.typed, Grid::new((1, 2), 64), (&mut w.words, 1));
        "Stream::launch", "more shared memory than a block has" => Limit, |w| w.stream.launch(&w.typed, enough().shared_bytes(u32::MAX), (&mut w.words, 1));
        "Stream::launch", "blocks that do not divide into clusters" => Invalid, |w| w.stream.launch(&w.typed, Grid::new(3, 32).cluster(2), (&mut w.words, 1));
        "Stream::launch", "clusters of no blocks" => Limit, |w| w.stream.launch(&w.typed, Grid::new(3, 32).cluster(0), (&mut w.words, 1));
        "Stream::launch", "more blocks in a cluster than a device has" => Limit, |w| w.stream.launch(&w.typed, Grid::new(64, 32).cluster(64), (&mut w.words, 1));
        "Stream::launch", "more blocks of a cooperative grid than fit" => Limit, |w| w.stream.launch(&w.typed, Grid::new(1 << 20, 32).cooperative(), (&mut w.words, 1));
        "Stream::launch", "memory of a graph" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            w.stream.launch(&w.typed, enough(), (&mut graph.zeroed(LEN)?, 1))
        };
        "Stream::launch_with", "a share of shared memory beyond 100 percent" => Limit, |w| {
            let options = LaunchOptions::new().shared_memory_carveout(101);
            w.stream.launch_with(&w.typed, enough(), &options, (&mut w.words, 1))
        };
        "Stream::launch_with", "an event that measures time" => Invalid, |w| {
            let event = w.gpu.event()?;
            let options = LaunchOptions::new().completion_event(&event);
            w.stream.launch_with(&w.typed, enough(), &options, (&mut w.words, 1))
        };
        "Stream::launch_with", "a domain that there is not" => Limit, |w| {
            let options = LaunchOptions::new().mem_sync_domain_map(MemSyncDomainMap { default: 9, remote: 0 });
            w.stream.launch_with(&w.typed, enough(), &options, (&mut w.words, 1))
        };
        "Stream::launch_with", "an access policy with a share below 0" => Invalid, |w| {
            let options = LaunchOptions::new().access_policy(AccessPolicyWindow::over(&w.words).hit_ratio(-0.1));
            w.stream.launch_with(&w.typed, enough(), &options, (&mut w.words, 1))
        };
        "Stream::launch_early", "no blocks" => Limit, |w| w.stream.launch_early(&w.early, no_blocks(), &LaunchOptions::new(), (&mut w.words, 1));
        "Stream::launch_early", "memory of a graph" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            w.stream.launch_early(&w.early, enough(), &LaunchOptions::new(), (&mut graph.zeroed(LEN)?, 1))
        };
        "Stream::launch_unchecked", "more threads than a block has" => Limit, |w| {
            // SAFETY: the item is the entry's (`World::new`).
            unsafe { w.stream.launch_unchecked(&w.typed, too_many(), (&mut w.words, 1)) }
        };
        "Stream::launch_unchecked_with", "an event that measures time" => Invalid, |w| {
            let event = w.gpu.event()?;
            let options = LaunchOptions::new().programmatic_event(&event, Trigger::BlocksStarted);
            // SAFETY: the item is the entry's (`World::new`).
            unsafe { w.stream.launch_unchecked_with(&w.typed, enough(), &options, (&mut w.words, 1)) }
        };
        "Stream::launch_untyped", "more threads than a block has" => Limit, |w| {
            // SAFETY: the entry takes a slice and a number, and writes only the slice.
            unsafe { w.stream.launch_untyped(&w.add, too_many(), (&mut w.words, 1)) }
        };
        "Stream::launch_untyped", "more threads than the kernel was compiled for" => Limit, |w| {
            let bounded = w.module.untyped_kernel::<()>("bounded")?;
            // SAFETY: the entry takes nothing and does nothing.
            unsafe { w.stream.launch_untyped(&bounded, Grid::new(1, 129), ()) }
        };
        "Stream::launch_untyped", "one array by two surfaces" => Invalid, |w| {
            let idle = w.gpu.load(super::modules::ANOTHER)?;
            let idle = idle.untyped_kernel::<(OutSurface<u32, Dim2>, OutSurface<u32, Dim2>)>("idle")?;
            let mut array = super::arrays::square(w)?;
            let (mut one, mut two) = (array.surface()?, array.surface()?);
            // SAFETY: the launch is refused.
            unsafe { w.stream.launch_untyped(&idle, Grid::new(1, 1), (&mut one, &mut two)) }
        };
        "Stream::launch_untyped_with", "a share of shared memory beyond 100 percent" => Limit, |w| {
            let options = LaunchOptions::new().shared_memory_carveout(u32::MAX);
            // SAFETY: the entry takes a slice and a number, and writes only the slice.
            unsafe { w.stream.launch_untyped_with(&w.add, enough(), &options, (&mut w.words, 1)) }
        };
        "kernel::set_max_dynamic_shared", "more than a block has" => Limit, |w| w.typed.set_max_dynamic_shared(u32::MAX);
        "kernel::occupancy", "no threads" => Limit, |w| w.typed.occupancy(0, 0);
        "kernel::occupancy", "more shared memory than a block has" => Limit, |w| w.typed.occupancy(64, u32::MAX);
        "kernel::suggested_block", "more shared memory than a block has" => Limit, |w| w.typed.suggested_block(u32::MAX);
        "kernel::max_cluster_size", "no threads" => Limit, |w| w.typed.max_cluster_size(&Grid::new(1, 0));
        "kernel::max_cluster_size", "more threads than a block has" => Limit, |w| w.typed.max_cluster_size(&too_many());
        "kernel::max_active_clusters", "a grid without clusters" => Invalid, |w| w.typed.max_active_clusters(&enough());
        "kernel::max_active_clusters", "more threads than a block has" => Limit, |w| w.typed.max_active_clusters(&too_many().cluster(1));
        "kernel::max_active_clusters", "clusters of no blocks" => Limit, |w| w.typed.max_active_clusters(&enough().cluster(0));
        "kernel::max_cooperative_blocks", "no threads" => Limit, |w| w.add.max_cooperative_blocks(0, 0);
        "Module::kernel", "PTX that was not built from the item" => Invalid, |w| w.module.kernel(world::add);
        "Module::kernel_unchecked", "a kernel that the module has not" => NotFound, |w| {
            let module = w.gpu.load(super::modules::ANOTHER)?;
            // SAFETY: the kernel is not launched.
            unsafe { module.kernel_unchecked(world::add) }
        };
        "Module::untyped_kernel", "a name that the module has not" => NotFound, |w| w.module.untyped_kernel::<()>("ad");
        "Module::untyped_kernel", "a name with a NUL" => NotFound, |w| w.module.untyped_kernel::<()>("add\0");
    }
}

pub fn far_rows() -> Vec<Row> {
    rows! {
        "Stream::launch", "a kernel of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.launch(&far.typed, enough(), (near.words, 1))
        };
        "Stream::launch", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.launch(near.typed, enough(), (&mut far.words, 1))
        };
        "Stream::launch_with", "an event of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let event = far.gpu.event_untimed()?;
            let options = LaunchOptions::new().completion_event(&event);
            near.stream.launch_with(near.typed, enough(), &options, (near.words, 1))
        };
        "Stream::launch_with", "an access policy over memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            let options = LaunchOptions::new().access_policy(AccessPolicyWindow::over(&far.words));
            near.stream.launch_with(near.typed, enough(), &options, (near.words, 1))
        };
        "Stream::launch_early", "a kernel of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.launch_early(&far.early, enough(), &LaunchOptions::new(), (near.words, 1))
        };
        "Stream::launch_early", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.launch_early(near.early, enough(), &LaunchOptions::new(), (&mut far.words, 1))
        };
        "Stream::launch_unchecked", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            // SAFETY: the item is the entry's (`World::new`).
            unsafe { near.stream.launch_unchecked(near.typed, enough(), (&mut far.words, 1)) }
        };
        "Stream::launch_untyped", "a kernel of another device" => Invalid, |w| {
            let (near, far) = w.both();
            // SAFETY: the entry takes a slice and a number, and writes only the slice.
            unsafe { near.stream.launch_untyped(&far.add, enough(), (near.words, 1)) }
        };
        "Stream::launch_untyped", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            // SAFETY: the entry takes a slice and a number, and writes only the slice.
            unsafe { near.stream.launch_untyped(near.add, enough(), (&mut far.words, 1)) }
        };
    }
}
