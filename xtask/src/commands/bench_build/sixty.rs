//! A project of sixty kernels, one of which takes LLVM as long as all others.

use std::fmt::Write;

/// How many kernels the project has.
pub const KERNELS: usize = 60;

/// How many are in one file.
const IN_A_FILE: usize = 6;

/// A comment in the file that is edited.
pub const COMMENT: &str = "// The own element.";

/// A number in one of its kernels.
pub const FACTOR: &str = "let factor = 3;";

/// The file that is edited.
pub const EDITED: &str = "src/part_2.rs";

/// The project's files, by their paths.
pub fn files() -> Vec<(String, String)> {
    let kernels: Vec<String> = (1..KERNELS).map(kernel).chain([heavy()]).collect();
    let mut files = Vec::new();
    let mut root = "//! Sixty kernels.\n#![no_std]\n".to_owned();
    for (part, kernels) in kernels.chunks(IN_A_FILE).enumerate() {
        let text = format!(
            "//! Some of the kernels.\nuse warpsmith_device::prelude::*;\n{}",
            kernels.concat()
        );
        files.push((format!("src/part_{part}.rs"), text));
        let _ = writeln!(root, "pub mod part_{part};");
    }
    files.push(("src/lib.rs".into(), root));
    files
}

/// A kernel of one of six sorts.
fn kernel(n: usize) -> String {
    match n % IN_A_FILE {
        0 => format!(
            r#"
/// A remainder in a loop.
#[kernel]
pub fn map_{n}(a: f32, x: &[f32], mut y: PerThread<[f32]>) {{
    {COMMENT}
    if let (Some(x), Some(y)) = (x.get(thread::index()), y.mine()) {{
        let mut value = *x;
        for step in 0..{n}u32 {{
            value = value.mul_add(a, step as f32) % 7.5;
        }}
        *y += value;
    }}
}}
"#
        ),
        1 => format!(
            r#"
/// Sums in shared memory.
#[kernel(launch_bounds(256))]
pub fn sums_{n}(x: &[f32], mut sums: PerBlock<[f32]>) {{
    let written = shared!([f32; 256]).write(x[thread::index()] * {n}.0).sync();
    if let Some(sum) = sums.leader() {{
        *sum = written.iter().sum();
    }}
}}
"#
        ),
        2 => format!(
            r#"
/// Neighbours with weights.
#[kernel(launch_bounds(128))]
pub fn stencil_{n}(x: &[f32], weights: &[f32], mut y: PerThread<[f32]>) {{
    let i = thread::index();
    assert!(weights.len() == {n}, "stencil {n} has {n} weights");
    if let Some(y) = y.mine() {{
        let mut sum = 0.0;
        for (w, weight) in weights.iter().enumerate() {{
            let at = (i + w).saturating_sub(weights.len() / 2);
            sum += x.get(at).copied().unwrap_or(0.0) * weight;
        }}
        *y = sum;
    }}
}}
"#
        ),
        3 => format!(
            r#"
/// Rounds of a hash; it prints.
#[kernel]
pub fn hash_{n}(x: &[u32], mut y: PerThread<[u32]>) {{
    let i = thread::index();
    {FACTOR}
    if let Some(y) = y.mine() {{
        let mut state = x[i] ^ (factor * {n});
        for round in 0..16u32 {{
            state = (state ^ (state >> 15)).wrapping_mul(0x2c1b_3c6d).rotate_left(round % 31);
        }}
        *y = state / (x[i + 1] + {n});
        if state == {n} {{
            gpu_println!("kernel {n}: {{}} at {{}}", state, i);
        }}
    }}
}}
"#
        ),
        4 => format!(
            r#"
/// A product of matrices.
#[kernel(launch_bounds(256))]
pub fn product_{n}(a: Matrix<f32>, b: Matrix<f32>, mut c: PerThread<[f32]>) {{
    let i = thread::index();
    let (row, column) = (i / b.columns(), i % b.columns());
    let mut sum = {n}.0;
    for k in 0..a.columns() {{
        sum += a[(row, k)] * b[(k, column)];
    }}
    if let Some(c) = c.mine() {{
        *c = sum;
    }}
}}
"#
        ),
        _ => format!(
            r#"
/// A maximum with long strides; it panics.
#[kernel]
pub fn maximum_{n}(x: &[u64], mut y: PerThread<[u64]>) {{
    let i = thread::index();
    let own = x.get(i).copied().expect("an element for each thread");
    let mut best = own;
    let mut at = i;
    while at + {n} < x.len() {{
        best = best.max(x[at].wrapping_mul({n}));
        at += 97;
    }}
    if let Some(y) = y.mine() {{
        *y = best.checked_div(own).unwrap();
    }}
}}
"#
        ),
    }
}

/// Products of tiles in registers, all unrolled, each access with a panic.
fn heavy() -> String {
    let numbers = |count: usize| {
        let numbers: Vec<String> = (0..count).map(|n| n.to_string()).collect();
        numbers.join(", ")
    };
    let (depth, tile) = (numbers(24), numbers(8));
    format!(
        r#"
/// Products of tiles in registers.
#[kernel(launch_bounds(256))]
pub fn heavy(a: Matrix<f32>, b: Matrix<f32>, mut c: PerThread<[f32]>) {{
    let (row, column) = (thread::index() / 64 * 8, thread::index() % 64 * 8);
    let mut sums = [[0.0f32; 8]; 8];
    unroll!(k in [{depth}] {{
        unroll!(i in [{tile}] {{
            unroll!(j in [{tile}] {{
                let (x, y) = (a[(row + i, k)], b[(k, column + j)]);
                sums[i][j] = x.mul_add(y, sums[i][j]) + (x * 0.5).sqrt_approx();
            }});
        }});
    }});
    if let Some(c) = c.mine() {{
        *c = sums.iter().flatten().sum();
    }}
}}
"#
    )
}
