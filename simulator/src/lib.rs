//! A CUDA driver on the CPU: parses PTX, executes it, checks it.
//!
//! | module | what |
//! | --- | --- |
//! | [`ptx`] | lexer, parser, syntax tree; errors with line and column |
//! | [`engine`] | lowers a parsed module to a compact form and executes it on warps of 32 lanes |

pub mod engine;
pub mod ptx;
