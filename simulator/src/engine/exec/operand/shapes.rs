//! The operands of operations with one result: registers, and an option where the instruction has one.

use super::declare::operands;
use super::encoded::{Encode, Encoded};
use super::word::{Read, Write};
use crate::engine::slot::Value;

operands! {
    /// `d = f(a)`
    pub(crate) struct Unary<A: Value, R: Value> { d: Write<R>, a: Read<A> }
    /// `d = f(a, b)`
    pub(crate) struct Binary<A: Value, B: Value, R: Value> { d: Write<R>, a: Read<A>, b: Read<B> }
    /// `d = f(a, b, c)`
    pub(crate) struct Ternary<A: Value, B: Value, C: Value, R: Value> {
        d: Write<R>, a: Read<A>, b: Read<B>, c: Read<C>,
    }
    /// `d = f(a, b, c, e)`
    pub(crate) struct Quaternary<A: Value, B: Value, C: Value, E: Value, R: Value> {
        d: Write<R>, a: Read<A>, b: Read<B>, c: Read<C>, e: Read<E>,
    }
    /// `d = f(a)`, as an option of the instruction says
    pub(crate) struct UnaryWith<A: Value, R: Value, O: Encode> { d: Write<R>, a: Read<A>, option: Encoded<O> }
    /// `d = f(a, b)`, as an option of the instruction says
    pub(crate) struct BinaryWith<A: Value, B: Value, R: Value, O: Encode> {
        d: Write<R>, a: Read<A>, b: Read<B>, option: Encoded<O>,
    }
    /// `d = f(a, b, c)`, as an option of the instruction says
    pub(crate) struct TernaryWith<A: Value, B: Value, C: Value, R: Value, O: Encode> {
        d: Write<R>, a: Read<A>, b: Read<B>, c: Read<C>, option: Encoded<O>,
    }
}
