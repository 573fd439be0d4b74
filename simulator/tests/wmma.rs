//! Every `wmma` combination, every layout of its factors and of its accumulators, on the simulator: the PTX is made here, the
//! result compared with a plain product.

#[path = "files/memory.rs"]
mod memory;

use half::{bf16, f16};
use memory::Arena;
use warpsmith_simulator::engine::{Environment, Launch, Module, run};
use warpsmith_testkit::Random;

/// A combination: types of factors, C and D, the shape, and registers of A, B, C and D.
struct Combination {
    factor: &'static str,
    c: &'static str,
    d: &'static str,
    shape: [usize; 3],
}

const LARGE: [[usize; 3]; 3] = [[16, 16, 16], [32, 8, 16], [8, 32, 16]];

fn combinations() -> Vec<Combination> {
    let mut all = Vec::new();
    for shape in LARGE {
        for (c, d) in [
            ("f32", "f32"),
            ("f16", "f16"),
            ("f16", "f32"),
            ("f32", "f16"),
        ] {
            all.push(Combination {
                factor: "f16",
                c,
                d,
                shape,
            });
        }
        all.push(Combination {
            factor: "bf16",
            c: "f32",
            d: "f32",
            shape,
        });
        all.push(Combination {
            factor: "s8",
            c: "s32",
            d: "s32",
            shape,
        });
        all.push(Combination {
            factor: "u8",
            c: "s32",
            d: "s32",
            shape,
        });
    }
    all.push(Combination {
        factor: "tf32",
        c: "f32",
        d: "f32",
        shape: [16, 16, 8],
    });
    all.push(Combination {
        factor: "f64",
        c: "f64",
        d: "f64",
        shape: [8, 8, 4],
    });
    all.push(Combination {
        factor: "s4",
        c: "s32",
        d: "s32",
        shape: [8, 8, 32],
    });
    all.push(Combination {
        factor: "u4",
        c: "s32",
        d: "s32",
        shape: [8, 8, 32],
    });
    all.push(Combination {
        factor: "b1",
        c: "s32",
        d: "s32",
        shape: [8, 8, 128],
    });
    all
}

fn bits(ty: &str) -> usize {
    match ty {
        "b1" => 1,
        "s4" | "u4" => 4,
        "s8" | "u8" => 8,
        "f16" | "bf16" => 16,
        "f64" => 64,
        _ => 32,
    }
}

/// Registers of a fragment of `elements` elements.
fn registers(ty: &str, elements: usize, factor: bool) -> usize {
    if ty == "f16" && factor {
        8
    } else {
        (elements / 32 * bits(ty)).div_ceil(32.max(bits(ty)))
    }
}

fn encode(ty: &str, value: i64) -> u64 {
    match ty {
        "f16" => f16::from_f64(value as f64).to_bits().into(),
        "bf16" => bf16::from_f64(value as f64).to_bits().into(),
        "f32" | "tf32" => (value as f32).to_bits().into(),
        "f64" => (value as f64).to_bits(),
        _ => value as u64 & (u64::MAX >> (64 - bits(ty))),
    }
}

/// Puts a matrix into memory, by rows or by columns, each line padded to `stride` elements.
fn lay_out(
    ty: &str,
    values: &[i64],
    rows: usize,
    columns: usize,
    by_rows: bool,
    stride: usize,
) -> Vec<u8> {
    let lines = if by_rows { rows } else { columns };
    let mut bytes = vec![0u8; lines * stride * bits(ty) / 8];
    for row in 0..rows {
        for column in 0..columns {
            let (line, at) = if by_rows {
                (row, column)
            } else {
                (column, row)
            };
            let bit = (line * stride + at) * bits(ty);
            let value = encode(ty, values[row * columns + column]) << (bit % 8);
            for (index, byte) in value
                .to_le_bytes()
                .iter()
                .enumerate()
                .take(bits(ty).div_ceil(8))
            {
                bytes[bit / 8 + index] |= byte;
            }
        }
    }
    bytes
}

fn list(prefix: &str, count: usize) -> String {
    let names: Vec<String> = (0..count).map(|i| format!("%{prefix}{i}")).collect();
    format!("{{{}}}", names.join(", "))
}

fn word(by_rows: bool) -> &'static str {
    if by_rows { "row" } else { "col" }
}

// covers: WMMA-02
// covers: WMMA-03
// covers: WMMA-14
#[test]
fn every_combination_and_layout() {
    let mut cases = 0;
    for combination in combinations() {
        let Combination {
            factor,
            c,
            d,
            shape: [m, n, k],
        } = combination;
        let narrow = bits(factor) < 8;
        for layouts in 0..16 {
            let [a_rows, b_rows, c_rows, d_rows] = [1, 2, 4, 8].map(|bit| layouts & bit != 0);
            if narrow && (!a_rows || b_rows) {
                continue;
            }
            cases += 1;
            let sizes = [(factor, m * k), (factor, k * n), (c, m * n), (d, m * n)];
            let [ra, rb, rc, rd] = [0, 1, 2, 3].map(|i| registers(sizes[i].0, sizes[i].1, i < 2));
            let register = |ty: &str| if ty == "f64" { "f64" } else { "b32" };
            let name = format!("m{m}n{n}k{k}");
            let types = match factor {
                "f16" => format!("{d}.{c}"),
                _ => format!("{d}.{factor}.{factor}.{c}"),
            };
            let (mma, extra) = if factor == "b1" {
                ("xor.popc.sync", "")
            } else {
                ("sync", "")
            };
            // Factors come through global memory, C through shared memory, to try both.
            let padded = |ty: &str, length: usize| (length + 1).next_multiple_of(128 / bits(ty));
            let strides = [
                padded(factor, if a_rows { k } else { m }),
                padded(factor, if b_rows { n } else { k }),
                padded(c, if c_rows { n } else { m }),
                padded(d, if d_rows { n } else { m }),
            ];
            let c_bytes = if c_rows { m } else { n } * strides[2] * bits(c) / 8;
            let ptx = format!(
                ".version 8.6\n.target sm_90\n.address_size 64\n\
                 .visible .entry product(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd)\n{{\n\
                 .reg .b64 %rd<8>; .reg .b32 %i<8>; .reg .pred %p<2>;\n\
                 .reg .{fr} %a<{ra}>; .reg .{fr} %b<{rb}>; .reg .{cr} %c<{rc}>; .reg .{dr} %d<{rd}>;\n\
                 .shared .align 128 .b8 copy[{c_bytes}];\n\
                 ld.param.u64 %rd1, [pa]; ld.param.u64 %rd2, [pb]; ld.param.u64 %rd3, [pc]; ld.param.u64 %rd4, [pd];\n\
                 mov.u32 %i1, %tid.x; shl.b32 %i1, %i1, 2;\n\
                 again:\n\
                 setp.ge.u32 %p1, %i1, {c_bytes}; @%p1 bra copied;\n\
                 cvt.u64.u32 %rd5, %i1; add.u64 %rd5, %rd5, %rd3; ld.global.u32 %i2, [%rd5];\n\
                 mov.u32 %i3, copy; add.u32 %i3, %i3, %i1; st.shared.u32 [%i3], %i2;\n\
                 add.u32 %i1, %i1, 128; bra again;\n\
                 copied: bar.sync 0; mov.u32 %i3, copy; cvt.u64.u32 %rd5, %i3;\n\
                 wmma.load.a.sync.aligned.{al}.{name}.global.{factor} {la}, [%rd1], {sa};\n\
                 mov.u32 %i4, {sb};\n\
                 wmma.load.b.sync.aligned.{bl}.{name}.global.{factor} {lb}, [%rd2], %i4;\n\
                 wmma.load.c.sync.aligned.{cl}.{name}.shared.{c} {lc}, [%rd5], {sc};\n\
                 wmma.mma.{mma}.aligned.{al}.{bl}.{name}.{types}{extra} {ld}, {la}, {lb}, {lc};\n\
                 wmma.store.d.sync.aligned.{dl}.{name}.global.{d} [%rd4], {ld}, {sd};\n\
                 ret;\n}}\n",
                fr = register(factor),
                cr = register(c),
                dr = register(d),
                al = word(a_rows),
                bl = word(b_rows),
                cl = word(c_rows),
                dl = word(d_rows),
                la = list("a", ra),
                lb = list("b", rb),
                lc = list("c", rc),
                ld = list("d", rd),
                sa = strides[0],
                sb = strides[1],
                sc = strides[2],
                sd = strides[3],
            );
            let mut generator = Random::new(12345);
            let mut random = |ty: &str, count: usize| -> Vec<i64> {
                let mut next = || match ty {
                    "b1" => i64::from(generator.below(2)),
                    "u4" | "u8" => i64::from(generator.below(8)),
                    _ => i64::from(generator.below(8)) - 4,
                };
                (0..count).map(|_| next()).collect()
            };
            let (va, vb, vc) = (
                random(factor, m * k),
                random(factor, k * n),
                random(c, m * n),
            );
            let mut expected = vc.clone();
            for row in 0..m {
                for column in 0..n {
                    expected[row * n + column] += (0..k)
                        .map(|i| {
                            let (x, y) = (va[row * k + i], vb[i * n + column]);
                            if factor == "b1" { x ^ y } else { x * y }
                        })
                        .sum::<i64>();
                }
            }
            let buffers = [
                lay_out(factor, &va, m, k, a_rows, strides[0]),
                lay_out(factor, &vb, k, n, b_rows, strides[1]),
                lay_out(c, &vc, m, n, c_rows, strides[2]),
                lay_out(d, &vec![0; m * n], m, n, d_rows, strides[3]),
            ];
            let mut arena = Arena::new();
            let module =
                Module::load(&ptx, &mut |_| None).unwrap_or_else(|error| panic!("{error}\n{ptx}"));
            let mut params = Vec::new();
            let mut addresses = Vec::new();
            for bytes in &buffers {
                let address = arena.allocate(bytes.len() as u64, 256, "matrix");
                arena.write(address, bytes);
                params.extend(address.to_le_bytes());
                addresses.push(address);
            }
            let output = arena.output();
            let environment = Environment {
                threads: 1,
                ..Environment::new(&arena, &output)
            };
            let kernel = module.kernel("product").expect("the kernel is there");
            let launch = Launch {
                kernel,
                grid: [1; 3],
                block: [32, 1, 1],
                cluster: [1; 3],
                dynamic_shared: 0,
                cooperative: false,
                params: &params,
            };
            run(&launch, &environment).unwrap_or_else(|fault| panic!("{fault}\n{ptx}"));
            let found = arena.read(addresses[3], buffers[3].len());
            assert_eq!(
                found,
                lay_out(d, &expected, m, n, d_rows, strides[3]),
                "{ptx}"
            );
        }
    }
    assert_eq!(cases, 23 * 16 + 3 * 4);
}
