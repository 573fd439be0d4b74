//! What operands may be: what tells forms apart, and misfits in ptxas's words.

use crate::found;
use warpsmith_isa::accept;
use warpsmith_isa::effect::Space;
use warpsmith_isa::operand::{Base, Elements, Shape, Symbol};

#[test]
fn operands_tell_forms_apart() {
    let pack = accept("mov", &["b64"], |form| {
        form.fits(&[Shape::Register("b64"), Shape::Vector(2, Elements::Unknown)])
    });
    assert_eq!(pack.expect("a pack").form.syntax, "mov.b64 d, a:b32*2");
    let wrong = accept("add", &["u32"], |form| {
        form.fits(&[
            Shape::Register("b32"),
            Shape::Register("b64"),
            Shape::Integer(1),
        ])
    });
    let wrong = wrong.expect_err("a register of another width").to_string();
    assert_eq!(wrong, "Arguments mismatch for instruction 'add'");
}

/// What is said of operands of these shapes.
fn misfit(name: &str, shapes: &[Shape<'_>]) -> Option<String> {
    let form = found(name);
    let misfit = form.misfit(shapes)?;
    Some(form.refusal(&misfit, shapes).to_string())
}

#[test]
fn constants_are_those_that_an_operand_may_be() {
    let number = |value| misfit("bar.sync", &[Shape::Integer(value)]);
    assert_eq!(number(15), None);
    assert_eq!(
        number(16).as_deref(),
        Some("Barrier number '16' out of range, expected to be in range [0..15]")
    );
    let address = Shape::Address(0, Base::Register("b64"));
    let size = |value| {
        misfit(
            "cp.async.cg.shared.global",
            &[address, address, Shape::Integer(value)],
        )
    };
    assert_eq!(size(16), None);
    assert_eq!(
        size(8).as_deref(),
        Some("Argument 2 of instruction 'cp.async': unexpected value '8', expected to be 16")
    );
    let prefetch = |value| {
        misfit(
            "cp.async.bulk.prefetch.L2.global",
            &[address, Shape::Integer(value)],
        )
    };
    assert_eq!(prefetch(32), None);
    assert_eq!(
        prefetch(24).as_deref(),
        Some(
            "Argument 1 of instruction 'cp.async.bulk.prefetch': unexpected value '24', expected to be multiple of 16"
        )
    );
}

#[test]
fn names_of_variables_are_of_the_instruction_s_space() {
    let map = |name: &str, symbol| {
        let shapes = [
            Shape::Register("b64"),
            Shape::Symbol(symbol),
            Shape::Integer(0),
        ];
        misfit(name, &shapes)
    };
    let (shared, global) = (
        Symbol::Variable(Space::Shared),
        Symbol::Variable(Space::Global),
    );
    for name in ["mapa.u64", "mapa.shared::cluster.u64"] {
        assert_eq!(map(name, shared), None);
        assert_eq!(
            map(name, global).as_deref(),
            Some("State space mismatch between instruction and address in instruction 'mapa'")
        );
    }
    let add = |shape| {
        misfit(
            "add.u64",
            &[Shape::Register("b64"), Shape::Register("b64"), shape],
        )
    };
    assert_eq!(add(Shape::Offset), None);
    assert_eq!(
        add(Shape::Symbol(global)).as_deref(),
        Some("Argument 2 of instruction 'add': must be register")
    );
}

#[test]
fn types_are_compared_before_what_an_operand_is() {
    let add = |shape| {
        misfit(
            "add.u32",
            &[Shape::Register("b32"), Shape::Register("b32"), shape],
        )
    };
    for (shape, words) in [
        (
            Shape::Special("u32"),
            "Special register argument not allowed for instruction 'add'",
        ),
        (
            Shape::Special("u64"),
            "Arguments mismatch for instruction 'add'",
        ),
        (
            Shape::Vector(2, Elements::Registers("b32", false)),
            "Vector operand is not allowed for instruction 'add'",
        ),
        (
            Shape::Vector(2, Elements::Registers("b64", false)),
            "Arguments mismatch for instruction 'add'",
        ),
        // No type has so many.
        (
            Shape::Vector(3, Elements::Registers("b64", false)),
            "Illegal vector size: 3",
        ),
    ] {
        assert_eq!(add(shape).as_deref(), Some(words));
    }
    let and = |shape| {
        misfit(
            "and.b64",
            &[Shape::Register("b64"), Shape::Register("b64"), shape],
        )
    };
    assert_eq!(
        and(Shape::Vector(2, Elements::Registers("b32", false))).as_deref(),
        Some("Vector operand is not allowed for instruction 'and'")
    );
}

#[test]
fn addresses_are_of_the_instruction_s_space() {
    let load = |name: &str, base| misfit(name, &[Shape::Register("b32"), Shape::Address(0, base)]);
    let shared = Base::Symbol(Symbol::Variable(Space::Shared));
    assert_eq!(load("ld.shared.u32", shared), None);
    assert_eq!(load("ld.u32", shared), None);
    assert_eq!(
        load("ld.global.u32", shared).as_deref(),
        Some("State space mismatch between instruction and address in instruction 'ld'")
    );
    assert_eq!(load("ld.local.u32", Base::Absolute), None);
    assert_eq!(
        load("ld.global.u32", Base::Absolute).as_deref(),
        Some("Immediate addresses allowed only for .local state space")
    );
    assert!(load("ld.global.u32", Base::Register("f32")).is_some());
    assert_eq!(load("ld.global.u32", Base::Register("u32")), None);
}

#[test]
fn registers_are_of_the_operand_s_type() {
    let add = |name: &str, register| {
        misfit(
            name,
            &[
                Shape::Register("b32"),
                Shape::Register(register),
                Shape::Register("b32"),
            ],
        )
        .is_none()
    };
    for (name, register, fits) in [
        ("add.u32", "s32", true),
        ("add.u32", "f16x2", true),
        ("add.u32", "f32", false),
        ("and.b32", "f32", true),
        ("add.f32", "b32", true),
        ("add.f32", "u32", false),
        ("add.u32", "b64", false),
    ] {
        assert_eq!(add(name, register), fits, "{name} with .{register}");
    }
}
