//! DPX against a model that computes with wider numbers: for each architecture that the kernels are compiled for, those with the
//! hardware's instructions and those without.

use warpsmith_device::dpx::{Dpx, I16x2, SignedDpx, U16x2};
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::dpx::{self as kernels, Bits};
use warpsmith_tests::{Random, ptx};

/// A type in terms of its parts, from the low one on.
trait Parts: Dpx<Chosen: Bits> + bytemuck::Pod + std::fmt::Debug + PartialEq {
    const BITS: u32;
    const SIGNED: bool;
    fn parts(self) -> Vec<i64>;
    fn of(parts: &[i64]) -> Self;
}

macro_rules! parts {
    ($($ty:ident $bits:literal $signed:literal |$value:ident| $parts:expr, |$list:ident| $of:expr;)*) => {$(
        impl Parts for $ty {
            const BITS: u32 = $bits;
            const SIGNED: bool = $signed;
            fn parts(self) -> Vec<i64> {
                let $value = self;
                $parts
            }
            fn of($list: &[i64]) -> $ty {
                $of
            }
        }
    )*};
}
parts! {
    i32 32 true |v| vec![v.into()], |p| p[0] as i32;
    u32 32 false |v| vec![v.into()], |p| p[0] as u32;
    I16x2 16 true |v| vec![v.low().into(), v.high().into()], |p| I16x2::new(p[0] as i16, p[1] as i16);
    U16x2 16 false |v| vec![v.low().into(), v.high().into()], |p| U16x2::new(p[0] as u16, p[1] as u16);
}

/// The number that a part of so many bits holds of `value`.
fn wrapped<T: Parts>(value: i64) -> i64 {
    let bits = value & ((1 << T::BITS) - 1);
    match T::SIGNED && bits >> (T::BITS - 1) != 0 {
        true => bits - (1 << T::BITS),
        false => bits,
    }
}

fn by_part<T: Parts>([a, b, c]: [T; 3], f: impl Fn(i64, i64, i64) -> i64) -> T {
    let parts: Vec<i64> = a
        .parts()
        .into_iter()
        .zip(b.parts())
        .zip(c.parts())
        .map(|((a, b), c)| f(a, b, c))
        .collect();
    T::of(&parts)
}

/// Numbers at the ends of the ranges, in all combinations of three; in pairs each half has another one. And random ones.
fn inputs<T: Parts>() -> Vec<[T; 3]> {
    let top = 1i64 << (T::BITS - 1);
    let corners = [
        0,
        1,
        2,
        5,
        top - 1,
        top,
        top + 1,
        2 * top - 2,
        2 * top - 1,
        0x5555,
    ];
    let corners = corners.map(wrapped::<T>);
    let n = corners.len();
    let at = |index: usize| [index / n / n % n, index / n % n, index % n].map(|i| corners[i]);
    let mut inputs = Vec::new();
    for index in 0..n * n * n {
        let (low, high) = (at(index), at(index * 7 + 3));
        inputs.push([0, 1, 2].map(|i| T::of(&[low[i], high[i]])));
    }
    let mut random = Random::new(25);
    for _ in 0..3000 {
        let mut part = || wrapped::<T>(i64::from(random.bits() as u32));
        inputs.push([(); 3].map(|()| T::of(&[part(), part()])));
    }
    inputs
}

/// All modules that the device takes.
fn modules(gpu: &Gpu) -> Vec<(&'static str, Module)> {
    ptx::taken_by(gpu.compute_capability())
        .map(|(name, text)| (name, gpu.load(text).unwrap()))
        .collect()
}

fn check_any<T: Parts>(
    kernel: impl Fn(&Module, &Stream, &[[T; 3]]) -> (Vec<[T; 6]>, Vec<[u32; 2]>),
) {
    let gpu = Gpu::open_default().unwrap();
    let stream = gpu.stream().unwrap();
    let inputs = inputs::<T>();
    for (arch, module) in modules(&gpu) {
        let (values, chosen) = kernel(&module, &stream, &inputs);
        for ((x, values), chosen) in inputs.iter().zip(values).zip(chosen) {
            let part = |f: &dyn Fn(i64, i64, i64) -> i64| by_part(*x, f);
            let want = [
                part(&|a, b, c| a.max(b).max(c)),
                part(&|a, b, c| a.min(b).min(c)),
                part(&|a, b, c| wrapped::<T>(a + b).max(c)),
                part(&|a, b, c| wrapped::<T>(a + b).min(c)),
                part(&|a, b, _| a.max(b)),
                part(&|a, b, _| a.min(b)),
            ];
            assert_eq!(values, want, "{arch}: {x:?}");
            let bits = |f: fn(&i64, &i64) -> bool| -> u32 {
                let (a, b) = (x[0].parts(), x[1].parts());
                let each = a.iter().zip(&b).enumerate();
                each.map(|(i, (a, b))| u32::from(f(a, b)) << i).sum()
            };
            assert_eq!(chosen, [bits(i64::ge), bits(i64::le)], "{arch}: {x:?}");
        }
    }
}

fn check_relu<T: Parts + SignedDpx>(kernel: impl Fn(&Module, &Stream, &[[T; 3]]) -> Vec<[T; 6]>) {
    let gpu = Gpu::open_default().unwrap();
    let stream = gpu.stream().unwrap();
    let inputs = inputs::<T>();
    for (arch, module) in modules(&gpu) {
        for (x, values) in inputs.iter().zip(kernel(&module, &stream, &inputs)) {
            let part = |f: &dyn Fn(i64, i64, i64) -> i64| by_part(*x, |a, b, c| f(a, b, c).max(0));
            let want = [
                part(&|a, b, _| a.max(b)),
                part(&|a, b, _| a.min(b)),
                part(&|a, b, c| a.max(b).max(c)),
                part(&|a, b, c| a.min(b).min(c)),
                part(&|a, b, c| wrapped::<T>(a + b).max(c)),
                part(&|a, b, c| wrapped::<T>(a + b).min(c)),
            ];
            assert_eq!(values, want, "{arch}: {x:?}");
        }
    }
}

macro_rules! tests {
    ($($name:ident $kernel:ident $ty:ident;)*) => {$(
        // covers: DPX-01, DPX-02, DPX-03, CC-16, DPX-X3, DPX-X4
        #[test]
        fn $name() {
            check_any::<$ty>(|module, stream, inputs| {
                let n = inputs.len();
                let kernel = module.kernel(kernels::$kernel::<$ty>).unwrap();
                let x = stream.upload(inputs).unwrap();
                let mut values = stream.zeroed::<[$ty; 6]>(n).unwrap();
                let mut chosen = stream.zeroed::<[u32; 2]>(n).unwrap();
                let arguments = (&x, &mut values, &mut chosen);
                stream.launch(&kernel, Grid::cover(n, 128), arguments).unwrap();
                (stream.download(&values).unwrap(), stream.download(&chosen).unwrap())
            });
        }
    )*};
}
tests! {
    signed dpx_any i32;
    unsigned dpx_any u32;
    signed_pairs dpx_any I16x2;
    unsigned_pairs dpx_any U16x2;
}

macro_rules! relu_tests {
    ($($name:ident $ty:ident;)*) => {$(
        // covers: DPX-01, DPX-03, CC-16, DPX-X1, DPX-X2
        #[test]
        fn $name() {
            check_relu::<$ty>(|module, stream, inputs| {
                let n = inputs.len();
                let kernel = module.kernel(kernels::dpx_relu::<$ty>).unwrap();
                let x = stream.upload(inputs).unwrap();
                let mut values = stream.zeroed::<[$ty; 6]>(n).unwrap();
                stream.launch(&kernel, Grid::cover(n, 128), (&x, &mut values)).unwrap();
                stream.download(&values).unwrap()
            });
        }
    )*};
}
relu_tests! {
    signed_with_relu i32;
    signed_pairs_with_relu I16x2;
}
