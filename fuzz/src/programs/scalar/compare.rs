//! Runs programs of one thread on the device and on the host and compares what they answer.

use std::path::Path;

use anyhow::{Context, Result};
use libloading::Symbol;
use warpsmith_host::KernelPanic;
use warpsmith_host::prelude::*;

use super::INPUTS;
use crate::programs::project::{Built, Template, kernel_name};

/// What surrounds programs of one thread.
pub(super) const TEMPLATE: Template = Template {
    kind: "scalar",
    modules: &[("support", include_str!("../../../templates/support.rs"))],
    device_modules: &[],
    oracle: include_str!("../../../templates/scalar_oracle.rs"),
    entry: "fn(&[u64; 6]) -> u64",
    kernel: "
#[kernel]
pub fn KERNEL(x: &[[u64; 6]], mut out: PerThread<[[u64; 2]]>) {
    if let (Some(x), Some(o)) = (x.get(thread::index()), out.mine()) {
        *o = [1, NAME::program(x)];
    }
}
",
};

/// The input of a program.
pub(super) type Input = [u64; INPUTS];

/// What the host library answers; `templates/scalar_oracle.rs` has the same.
#[repr(C)]
struct HostAnswer {
    value: u64,
    line: u32,
    column: u32,
    length: usize,
    message: [u8; 256],
}

/// What a program does with an input.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    /// It answers this.
    Value(u64),
    /// It panics.
    Panic(Panic),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Panic {
    line: u32,
    column: u32,
    message: String,
}

/// Where the device and the host differ.
pub(super) struct Difference {
    /// The numbers of some inputs with which they do; none if it concerns all.
    pub inputs: Vec<usize>,
    /// How, in words.
    pub why: String,
    /// A fault has ended the context: nothing else can be run in this process.
    pub lost: bool,
}

fn on_host(built: &Built, program: usize, input: &Input) -> Result<Answer> {
    // SAFETY: the library was made from `templates/scalar_oracle.rs`, which has this function.
    let answer: Symbol<'_, unsafe extern "C" fn(usize, &Input, &mut HostAnswer)> =
        unsafe { built.oracle.get(b"answer\0") }.context("the host library has no `answer`")?;
    let mut result = HostAnswer {
        value: 0,
        line: 0,
        column: 0,
        length: 0,
        message: [0; 256],
    };
    // SAFETY: the types are those of the library's function, and there are more programs than this number.
    unsafe { answer(program, input, &mut result) };
    if result.line == 0 {
        return Ok(Answer::Value(result.value));
    }
    let message = String::from_utf8_lossy(&result.message[..result.length]);
    Ok(Answer::Panic(Panic {
        line: result.line,
        column: result.column,
        message: message.into_owned(),
    }))
}

/// Runs a program with inputs on both sides.
pub(super) fn compare(
    gpu: &Gpu,
    module: &Module,
    built: &Built,
    program: usize,
    inputs: &[Input],
) -> Result<Option<Difference>> {
    let expected = inputs
        .iter()
        .map(|input| on_host(built, program, input))
        .collect::<Result<Vec<_>>>()?;
    let stream = gpu.stream()?;
    let kernel = module.untyped_kernel::<(In<Input>, Out<[u64; 2]>)>(&kernel_name(program))?;
    let values = stream.upload(inputs)?;
    let mut answers = stream.zeroed::<[u64; 2]>(inputs.len())?;
    // SAFETY: the project's template gives every kernel these parameters, and the kernel is a safe function.
    unsafe {
        stream.launch_untyped(
            &kernel,
            Grid::cover(inputs.len(), BLOCK),
            (&values, &mut answers),
        )?
    };
    let panic = match stream.synchronize() {
        Ok(()) => None,
        Err(Error::KernelPanic(panic)) => Some(panic),
        Err(error) => {
            return Ok(Some(Difference {
                inputs: Vec::new(),
                why: format!("the launch fails: {error}"),
                lost: true,
            }));
        }
    };
    let found = stream.download(&answers)?;
    let mut differing = Vec::new();
    for (number, (expected, found)) in expected.iter().zip(&found).enumerate() {
        let same = match expected {
            Answer::Value(value) => *found == [1, *value],
            Answer::Panic(_) => *found == [0, 0],
        };
        if !same {
            differing.push(number);
        }
    }
    if let Some(&first) = differing.first() {
        let found = match found[first] {
            [1, value] => format!("answers {value:#x}"),
            _ => "panics".into(),
        };
        return Ok(Some(Difference {
            why: format!(
                "for {} of {} inputs: the host says {:x?}, the device {found}",
                differing.len(),
                inputs.len(),
                expected[first]
            ),
            inputs: differing,
            lost: false,
        }));
    }
    Ok(difference_of_panics(&expected, panic.as_deref()))
}

/// Whether the panic that the host library tells of is that of the thread.
fn difference_of_panics(expected: &[Answer], told: Option<&KernelPanic>) -> Option<Difference> {
    let panics = || {
        expected
            .iter()
            .enumerate()
            .filter_map(|(number, answer)| match answer {
                Answer::Panic(panic) => Some((number, panic)),
                Answer::Value(_) => None,
            })
    };
    let (number, why) = match (told, panics().next()) {
        (None, None) => return None,
        (None, Some((number, panic))) => (
            number,
            format!("the host panics ({panic:x?}), and the launch tells of no panic"),
        ),
        (Some(told), _) => {
            let number = told.block[0] as usize * BLOCK as usize + told.thread[0] as usize;
            let found = Panic {
                line: told.line,
                column: told.column,
                message: told.message.clone(),
            };
            let same = panics().any(|(panicking, panic)| panicking == number && *panic == found);
            if same && Path::new(&told.file).starts_with("src") {
                return None;
            }
            (
                number,
                format!(
                    "the launch tells of {}:{found:?} in thread {number}, of which the host says {:?}",
                    told.file,
                    expected.get(number)
                ),
            )
        }
    };
    Some(Difference {
        inputs: vec![number],
        why,
        lost: false,
    })
}

/// Threads of a block.
const BLOCK: u32 = 64;
