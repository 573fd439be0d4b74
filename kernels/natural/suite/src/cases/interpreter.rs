//! A small machine with a stack.

use super::prelude::*;
use kernels::interpreter::{Operation::*, run};

case!(interpreter: "a machine with a stack, a thread an input", "inputs", simulator [40, 1], gpu 1 << 20);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    // Mixes the input, and does it once more as long as a bit of it is set.
    let program = [
        Push(0),
        Input,
        Duplicate,
        Shift(15),
        Xor,
        Push(0x2c_1b3c),
        Multiply,
        Duplicate,
        Shift(12),
        Xor,
        Push(7),
        Add,
        Duplicate,
        Shift(3),
        JumpIfOdd(2),
        Swap,
        Push(1),
        Add,
        Add,
    ];
    let program: Vec<u32> = program.map(|operation| operation.encode()).to_vec();
    let inputs = draw::<u32>(1, n);
    let want = inputs.iter().map(|&input| run(&program, input)).collect();
    let kernel = session.pair(kernels::interpreter::interpreter, "interpreter")?;
    let (program, inputs) = (
        session.stream.upload(&program)?,
        session.stream.upload(&inputs)?,
    );
    problem(
        session,
        format!("{n} inputs, {} operations", program.len()),
        &vec![0u32; n],
        move |session, side, out| {
            launch_pair!(
                session,
                side,
                kernel,
                Grid::cover(n, 256),
                (&program, &inputs, out)
            );
            Ok(())
        },
        exactly(want),
    )
}
