//! The PTX instruction set as data.
//!
//! Nothing here compiles, executes or checks anything: the crate says what each instruction form is, and its readers (the
//! builder's linker, the simulator's front end, engine and checks) decide what follows from it. It depends on nobody.

#![no_std]

pub mod effect;
