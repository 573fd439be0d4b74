//! Trains on 1, 2, ... GPUs with as many samples on each, and prints how it scales: `cargo run --release -p warpsmith-sgd`.
//!
//! Under torchrun or mpirun each process has one GPU, and only the training on all of them is timed. On the simulator
//! (`WARPSMITH_SIMULATOR_DEVICES=2`) the times say nothing of GPUs.

use std::time::{Duration, Instant};

use warpsmith_host::prelude::*;
use warpsmith_nccl::{Communicator, Launcher, Options};
use warpsmith_sgd::{Problem, Trainer, step};

fn main() -> warpsmith_nccl::Result<()> {
    match Launcher::from_env() {
        Ok(launcher) => {
            let own = launcher.join(&launcher.gpu()?, Options::default())?;
            let (rank, size) = (own.rank(), own.size());
            let (time, worst, mut own) = train(vec![own])?;
            if rank == 0 {
                println!("{size} ranks: {time:.1?} a step, worst weight off by {worst:.1e}");
            }
            own.remove(0).close()
        }
        Err(_) => {
            let devices = Gpu::devices()?;
            let opened = devices.iter().map(|device| Gpu::open(device.choice));
            let gpus = opened.collect::<Result<Vec<Gpu>>>()?;
            println!(
                "| ranks | a step | of one rank's | worst weight |\n| --- | --- | --- | --- |"
            );
            let mut alone = None;
            for ranks in 1..=gpus.len() {
                let communicators = Communicator::all(&gpus[..ranks])?;
                let (time, worst, _) = train(communicators)?;
                let alone = *alone.get_or_insert(time);
                let ratio = time.as_secs_f64() / alone.as_secs_f64();
                println!("| {ranks} | {time:.1?} | {ratio:.3} | {worst:.1e} |");
            }
            Ok(())
        }
    }
}

/// The time of a step, how far the worst weight of all is off, and the ranks again.
fn train(
    communicators: Vec<Communicator>,
) -> warpsmith_nccl::Result<(Duration, f32, Vec<Communicator>)> {
    let (problem, steps) = if communicators[0].gpu().is_simulator() {
        let problem = Problem {
            features: 16,
            samples: 256,
            rate: 0.5,
        };
        (problem, 40)
    } else {
        let problem = Problem {
            features: 1024,
            samples: 1 << 17,
            rate: 0.5,
        };
        (problem, 200)
    };
    let mut ranks = Vec::new();
    for communicator in communicators {
        ranks.push(Trainer::new(communicator, problem)?);
    }
    // The first step loads the kernels, and connects the ranks.
    step(&mut ranks)?;
    ranks.iter().try_for_each(Trainer::wait)?;
    let begin = Instant::now();
    for _ in 1..steps {
        step(&mut ranks)?;
    }
    ranks.iter().try_for_each(Trainer::wait)?;
    let time = begin.elapsed() / (steps - 1);
    let mut worst = 0.0_f32;
    for rank in &ranks {
        for (feature, weight) in rank.weights()?.into_iter().enumerate() {
            worst = worst.max((weight - Problem::weight(feature)).abs());
        }
    }
    let communicators = ranks.into_iter().map(Trainer::into_communicator).collect();
    Ok((time, worst, communicators))
}
