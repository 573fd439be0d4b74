//! The bandwidth of collectives over all devices, as `nccl-tests` counts it: `cargo run --release -p warpsmith-nccl --example bandwidth`.
//! A process for each GPU: under torchrun or mpirun. On the simulator (`WARPSMITH_SIMULATOR_DEVICES=4`) the figures say nothing of GPUs.

use std::time::Instant;

use warpsmith_host::prelude::*;
use warpsmith_nccl::{
    Collective, Communicator, Launcher, Options, Reduction, bus_bandwidth, group,
};

type Rank = (Communicator, Stream, DeviceBuffer<f32>, DeviceBuffer<f32>);

/// Enqueues a collective once for each rank of this process: over so many elements a rank.
fn enqueue(
    collective: Collective,
    ranks: &mut [Rank],
    elements: usize,
) -> warpsmith_nccl::Result<()> {
    let size = ranks[0].0.size();
    let part = elements / size;
    // The slices must outlive the group.
    let mut slices: Vec<_> = ranks
        .iter_mut()
        .map(|(communicator, stream, one, two)| {
            let (sent, received) = match collective {
                Collective::AllGather => (part, elements),
                Collective::ReduceScatter => (elements, part),
                _ => (elements, elements),
            };
            (
                &*communicator,
                &*stream,
                one.slice(..sent),
                two.slice_mut(..received),
            )
        })
        .collect();
    group(|group| {
        for (communicator, stream, from, to) in &mut slices {
            match collective {
                Collective::AllGather => group.all_gather(communicator, stream, from, to)?,
                Collective::ReduceScatter => {
                    group.reduce_scatter(communicator, stream, from, to, Reduction::Sum)?;
                }
                Collective::AllToAll => group.all_to_all(communicator, stream, from, to)?,
                Collective::Broadcast => group.broadcast(communicator, stream, to, 0)?,
                Collective::Reduce => {
                    group.reduce_in_place(communicator, stream, to, Reduction::Sum, 0)?;
                }
                Collective::SendReceive => {
                    let rank = communicator.rank();
                    group.send(communicator, stream, from, (rank + 1) % size)?;
                    group.receive(communicator, stream, to, (rank + size - 1) % size)?;
                }
                Collective::AllReduce => {
                    group.all_reduce(communicator, stream, from, to, Reduction::Sum)?;
                }
            }
        }
        Ok(())
    })
}

fn wait(ranks: &[Rank]) -> Result<()> {
    ranks
        .iter()
        .try_for_each(|(_, stream, ..)| stream.synchronize())
}

fn main() -> warpsmith_nccl::Result<()> {
    let communicators = match Launcher::from_env() {
        Ok(launcher) => vec![launcher.join(&launcher.gpu()?, Options::default())?],
        Err(_) => {
            let devices = Gpu::devices()?;
            let gpus: Result<Vec<Gpu>> = devices
                .iter()
                .map(|device| Gpu::open(device.choice))
                .collect();
            Communicator::all(&gpus?)?
        }
    };
    let on_simulator = communicators[0].gpu().is_simulator();
    let (most, rounds) = if on_simulator {
        (1 << 16, 2)
    } else {
        (1 << 28, 20)
    };
    let size = communicators[0].size();
    let mut ranks = Vec::new();
    for communicator in communicators {
        let stream = communicator.gpu().stream()?;
        let (one, two) = (stream.zeroed(most)?, stream.zeroed(most)?);
        ranks.push((communicator, stream, one, two));
    }
    let speaks = ranks[0].0.rank() == 0;
    if speaks {
        println!(
            "NCCL {}, {size} ranks",
            warpsmith_nccl::version(&ranks[0].0.gpu())?
        );
        println!(
            "{:>14} {:>12} {:>12} {:>12}",
            "collective", "bytes", "time, us", "bus, GB/s"
        );
    }
    for collective in [
        Collective::AllReduce,
        Collective::AllGather,
        Collective::ReduceScatter,
        Collective::AllToAll,
        Collective::Broadcast,
        Collective::Reduce,
        Collective::SendReceive,
    ] {
        let mut elements = 1 << 12;
        while elements <= most {
            let whole = elements / size * size;
            enqueue(collective, &mut ranks, whole)?;
            wait(&ranks)?;
            let begin = Instant::now();
            for _ in 0..rounds {
                enqueue(collective, &mut ranks, whole)?;
            }
            wait(&ranks)?;
            let time = begin.elapsed() / rounds;
            if speaks {
                let bandwidth = bus_bandwidth(collective, size, 4 * whole, time);
                println!(
                    "{:>14} {:>12} {:>12.1} {:>12.3}",
                    format!("{collective:?}"),
                    4 * whole,
                    time.as_secs_f64() * 1e6,
                    bandwidth / 1e9
                );
            }
            elements *= 4;
        }
    }
    for (communicator, ..) in ranks {
        communicator.check()?;
        // In the background: this thread speaks for several ranks, which give theirs back together.
        drop(communicator);
    }
    Ok(())
}
