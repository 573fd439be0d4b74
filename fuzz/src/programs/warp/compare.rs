//! Runs programs of warps on the device, and on the host with threads as lanes, and compares what they answer.

use anyhow::{Context, Result, bail};
use libloading::Symbol;
use warpsmith_host::prelude::*;
use warpsmith_testkit::Random;

use crate::programs::project::{Built, Template, kernel_name};
use crate::programs::replay::Failure;

/// What surrounds programs of warps.
pub(super) const TEMPLATE: Template = Template {
    kind: "warp",
    modules: &[("lanes", include_str!("../../../templates/lanes.rs"))],
    device_modules: &[(
        "device_lanes",
        include_str!("../../../templates/device_lanes.rs"),
    )],
    oracle: include_str!("../../../templates/warp_oracle.rs"),
    entry: "fn(&mut answers::Thread, u32, &[u32; 4], u32, u32) -> u32",
    kernel: "
#[kernel(launch_bounds(96))]
pub fn KERNEL(u: &[u32; 4], values: &[[u32; 2]], mut out: PerThread<[[u32; 2]]>) {
    let exchange = shared!([u32; 96]);
    let mut lanes = device_lanes::Device { exchange };
    let thread = thread::index();
    let rest = block::threads() - thread as u32 / 32 * 32;
    let mask = if rest >= 32 { u32::MAX } else { (1 << rest) - 1 };
    let [x, y] = values.get(thread).copied().unwrap_or_default();
    let answer = NAME::program(&mut lanes, mask, u, x, y);
    if let Some(o) = out.mine() {
        *o = [1, answer];
    }
}
",
};

/// What a block is run with.
#[derive(Clone, Copy, Debug)]
pub(super) struct Input {
    /// The same for all threads.
    pub uniform: [u32; 4],
    /// Threads of the block.
    pub threads: u32,
    /// What the threads' own values are drawn from.
    pub seed: u32,
}

impl Input {
    /// As words of a case.
    pub fn words(&self) -> Vec<u64> {
        let numbers = self.uniform.iter().chain([&self.threads, &self.seed]);
        numbers.map(|&number| number.into()).collect()
    }

    /// From words of a case.
    pub fn from_words(words: &[u64]) -> Result<Input> {
        let numbers = words.iter().map(|&word| u32::try_from(word));
        let numbers = numbers.collect::<Result<Vec<u32>, _>>()?;
        match numbers[..] {
            [a, b, c, d, threads, seed] if (1..=96).contains(&threads) => Ok(Input {
                uniform: [a, b, c, d],
                threads,
                seed,
            }),
            _ => bail!("an input is four words, a number of threads from 1 to 96, and a seed"),
        }
    }

    fn values(&self) -> Vec<[u32; 2]> {
        let mut random = Random::new(self.seed.into());
        (0..self.threads)
            .map(|_| [random.bits() as u32, random.below(7)])
            .collect()
    }
}

fn on_host(built: &Built, program: usize, input: &Input) -> Result<Vec<u32>> {
    type Answer = unsafe extern "C" fn(usize, &[u32; 4], u32, *const [u32; 2], *mut u32);
    // SAFETY: the library was made from `templates/warp_oracle.rs`, which has this function.
    let answer: Symbol<'_, Answer> =
        unsafe { built.oracle.get(b"answer\0") }.context("the host library has no `answer`")?;
    let values = input.values();
    let mut results = vec![0; values.len()];
    // SAFETY: both have an element for each thread.
    unsafe {
        answer(
            program,
            &input.uniform,
            input.threads,
            values.as_ptr(),
            results.as_mut_ptr(),
        )
    };
    Ok(results)
}

/// Runs a program on both sides.
pub(super) fn compare(
    stream: &Stream,
    module: &Module,
    built: &Built,
    program: usize,
    input: &Input,
) -> Result<Option<Failure>> {
    let expected = on_host(built, program, input)?;
    let kernel = module
        .untyped_kernel::<(InRef<[u32; 4]>, In<[u32; 2]>, Out<[u32; 2]>)>(&kernel_name(program))?;
    let uniform = stream.upload(&[input.uniform])?;
    let values = stream.upload(&input.values())?;
    let mut answers = stream.zeroed::<[u32; 2]>(expected.len())?;
    let grid = Grid::new(1, input.threads);
    // SAFETY: the project's template gives every kernel these parameters, and the kernel is a safe function.
    unsafe { stream.launch_untyped(&kernel, grid, (&uniform, &values, &mut answers))? };
    if let Err(error) = stream.synchronize() {
        return Ok(Some(Failure {
            why: format!("the launch fails: {error}"),
            lost: true,
        }));
    }
    let found = stream.download(&answers)?;
    let differing =
        |(_, (expected, found)): &(usize, (&u32, &[u32; 2]))| **found != [1, **expected];
    let first = expected.iter().zip(&found).enumerate().find(differing);
    Ok(first.map(|(thread, (expected, found))| Failure {
        why: format!("thread {thread}: the host says {expected:#x}, the device {found:x?}"),
        lost: false,
    }))
}
