//! Operands that are not what an operation declares are refused when it is emitted.

use std::marker::PhantomData;

use super::*;
use crate::engine::exec::cluster::Cluster;
use crate::engine::exec::level::{Level, VectorLevel};
use crate::engine::exec::op::{Op, scalar};
use crate::engine::exec::operand::{
    Binary, Read, ReadArea, Unary, WriteOptional, WritePredicate, operands,
};
use crate::engine::exec::warp::{Flow, Warp};
use crate::engine::lower::context::Context;
use crate::engine::lower::field::Register;
use crate::engine::lower::scope::{Scope, Symbol};
use crate::engine::lower::shared::Layout;
use crate::ptx;

operands! {
    struct Lists { sources: ReadList<u32>, targets: WriteList<u32> }
    struct Load { d: WriteOptional<u32>, address: Address }
    struct Test { d: WritePredicate, a: Read<u32> }
    struct Area { area: ReadArea }
}

/// An operation with these operands.
struct Nothing<O>(PhantomData<O>);

impl<O: Operands> Op for Nothing<O> {
    type Operands = O;

    fn run<L: Level>(_: &mut Warp, _: &mut Cluster<'_>, _: O) -> Flow {
        Flow::Next
    }
}

type Add = Binary<u32, u32, u32>;

fn code<O: Operands>() -> Code {
    scalar::<Nothing<O>>()
}

/// Calls `f` with the builder of an empty function.
fn build<R>(f: impl FnOnce(&mut Builder<'_, '_>) -> R) -> R {
    let tree = ptx::parse(".version 8.0\n.target sm_90\n.address_size 64\n").expect("a module");
    let mut place = |_: &_| None;
    let shared = Layout::new(&tree, &[]);
    let mut context = Context::new(
        VectorLevel::Base,
        &tree,
        Scope::default(),
        shared,
        &[],
        &mut place,
    );
    let mut cx = Builder::new(&mut context, 0);
    cx.name = cx.add_name("test".to_owned());
    f(&mut cx)
}

/// A new register of this width.
fn register(cx: &mut Builder<'_, '_>, width: Width) -> Field {
    Field::Register(cx.new_register(width))
}

/// Emits an addition of operands of these widths.
fn add(widths: [Width; 3]) {
    build(|cx| {
        let fields = widths.map(|width| register(cx, width));
        cx.emit_fields(code::<Add>(), &fields);
    });
}

#[test]
fn operands_of_the_declared_widths_are_accepted() {
    add([Width::W32; 3]);
    // Memory of four bytes a lane can stand for a register of 32 bits.
    add([Width::W32, Width::Area(4), Width::W32]);
    build(|cx| {
        let (d, a) = (register(cx, Width::W32), register(cx, Width::W32));
        let b = cx.constant(7, Width::W32);
        let words = cx.emit_fields(code::<Add>(), &[d, a, b]).words;
        assert_eq!(cx.words[words..], [0, 1, b.word()]);
        assert_eq!(cx.code.len(), 1);
    });
}

#[test]
#[should_panic(expected = "`test` was lowered with another operand than Read(W32)")]
fn a_source_of_another_width() {
    add([Width::W32, Width::W32, Width::W64]);
}

#[test]
#[should_panic(expected = "another operand than Read(W32)")]
fn a_predicate_as_a_source() {
    add([Width::W32, Width::Pred, Width::W32]);
}

#[test]
#[should_panic(expected = "another operand than Write(W32)")]
fn a_destination_of_another_width() {
    add([Width::W16, Width::W32, Width::W32]);
}

#[test]
#[should_panic(expected = "another operand than Write(Pred)")]
fn a_destination_that_should_be_a_predicate() {
    build(|cx| {
        let (d, a) = (register(cx, Width::W32), register(cx, Width::W32));
        let (d, a) = (d.into(), a.into());
        cx.emit(code::<Test>(), Test { d, a });
    });
}

#[test]
#[should_panic(expected = "another operand than Read(W32)")]
fn a_constant_of_another_width() {
    build(|cx| {
        let (d, a) = (register(cx, Width::W32), register(cx, Width::W32));
        let b = cx.constant(7, Width::W64);
        cx.emit_fields(code::<Add>(), &[d, a, b]);
    });
}

#[test]
#[should_panic(expected = "another operand than Write(W32)")]
fn a_constant_as_a_destination() {
    build(|cx| {
        let (d, a) = (cx.constant(0, Width::W32), register(cx, Width::W32));
        cx.emit_fields(code::<Unary<u32, u32>>(), &[d, a]);
    });
}

#[test]
#[should_panic(expected = "another operand than Read(W32)")]
fn a_sink_as_a_source() {
    build(|cx| {
        let d = register(cx, Width::W32);
        cx.emit_fields(code::<Unary<u32, u32>>(), &[d, Field::Sink]);
    });
}

#[test]
#[should_panic(expected = "another operand than Read(W32)")]
fn a_register_that_does_not_exist() {
    build(|cx| {
        let d = register(cx, Width::W32);
        cx.emit_fields(
            code::<Unary<u32, u32>>(),
            &[d, Field::Register(Register(1))],
        );
    });
}

#[test]
fn a_sink_for_a_result_that_is_always_written_becomes_a_register() {
    build(|cx| {
        let a = register(cx, Width::W32);
        let words = cx
            .emit_fields(code::<Unary<u32, u32>>(), &[Field::Sink, a])
            .words;
        assert_eq!(cx.words[words..], [1, 0]);
        assert_eq!(cx.widths, [Width::W32; 2]);
    });
}

#[test]
fn a_sink_for_an_optional_result_stays_one() {
    build(|cx| {
        let base = register(cx, Width::W64);
        let address = cx.address_word(base, 8, Address::WIDE);
        let words = cx
            .emit_access(code::<Load>(), &[Field::Sink], address, &[])
            .words;
        assert_eq!(cx.words[words..], [SINK, 0, 8, Address::WIDE]);
    });
}

#[test]
#[should_panic(expected = "another operand than Address")]
fn a_wide_address_with_a_base_of_32_bits() {
    build(|cx| {
        let base = register(cx, Width::W32);
        let address = cx.address_word(base, 0, Address::WIDE);
        cx.emit_access(code::<Load>(), &[Field::Sink], address, &[]);
    });
}

#[test]
#[should_panic(expected = "another operand than Address")]
fn a_narrow_address_with_a_base_of_64_bits() {
    build(|cx| {
        let base = cx.constant(0, Width::W64);
        let address = cx.address_word(base, 0, 0);
        cx.emit_access(code::<Load>(), &[Field::Sink], address, &[]);
    });
}

/// Emits an operation with lists of these entries.
fn lists(sources: [Field; 2], targets: [Field; 2], cx: &mut Builder<'_, '_>) {
    let sources = cx.read_list(&sources);
    let targets = cx.write_list(&targets);
    cx.emit(code::<Lists>(), Lists { sources, targets });
}

#[test]
fn entries_of_lists_are_accepted() {
    build(|cx| {
        let a = register(cx, Width::W32);
        let b = cx.constant(0, Width::W32);
        lists([a, b], [a, Field::Sink], cx);
        assert_eq!(cx.code.len(), 1);
    });
}

#[test]
#[should_panic(expected = "another operand than ReadList(W32)")]
fn a_source_of_another_width_in_a_list() {
    build(|cx| {
        let (a, b) = (register(cx, Width::W32), register(cx, Width::W64));
        lists([a, b], [a, a], cx);
    });
}

#[test]
#[should_panic(expected = "another operand than ReadList(W32)")]
fn a_sink_among_the_sources_of_a_list() {
    build(|cx| {
        let a = register(cx, Width::W32);
        lists([a, Field::Sink], [a, a], cx);
    });
}

#[test]
#[should_panic(expected = "another operand than WriteList(W32)")]
fn a_destination_of_another_width_in_a_list() {
    build(|cx| {
        let (a, b) = (register(cx, Width::W32), register(cx, Width::W16));
        lists([a, a], [a, b], cx);
    });
}

#[test]
#[should_panic(expected = "another operand than WriteList(W32)")]
fn a_constant_among_the_destinations_of_a_list() {
    build(|cx| {
        let a = register(cx, Width::W32);
        let b = cx.constant(0, Width::W32);
        lists([a, a], [a, b], cx);
    });
}

#[test]
#[should_panic(expected = "another operand than ReadArea")]
fn a_register_as_an_area() {
    build(|cx| {
        let area = register(cx, Width::W32);
        cx.emit_fields(code::<Area>(), &[area]);
    });
}

#[test]
#[should_panic(expected = "another operand than Read(W32)")]
fn an_operand_too_few() {
    build(|cx| {
        let d = register(cx, Width::W32);
        cx.emit_fields(code::<Add>(), &[d, d]);
    });
}

#[test]
#[should_panic(expected = "another operand than")]
fn an_operand_too_many() {
    build(|cx| {
        let d = register(cx, Width::W32);
        cx.emit_fields(code::<Add>(), &[d, d, d, d]);
    });
}

#[test]
#[should_panic(expected = "the operation has other operands")]
fn the_operands_of_another_operation() {
    build(|cx| {
        let (d, a) = (register(cx, Width::W32), register(cx, Width::W32));
        let (d, a) = (d.into(), a.into());
        cx.emit(code::<Add>(), Unary::<u32, u32> { d, a });
    });
}

#[test]
fn a_mention_of_a_name_keeps_its_meaning() {
    let (first, second) = "%a %a".split_once(' ').expect("two mentions");
    build(|cx| {
        cx.scope().insert(first, Symbol::Label(1));
        assert!(matches!(cx.mention(first), Some(Symbol::Label(1))));
        cx.scope().replace(second, Symbol::Label(2));
        assert!(matches!(cx.find(first), Some(Symbol::Label(1))));
        assert!(matches!(cx.find(second), Some(Symbol::Label(2))));
    });
}
