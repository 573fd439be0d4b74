//! File tests: PTX with directives that say how to run it and what must come out. The simulator's engine and the driver interface
//! run the same files.
//!
//! Lines that begin with `//!` are directives; PTX takes them for comments:
//!
//! ```text
//! //! run KERNEL grid=2,1,1 block=32 shared=1024 cluster=2 checks=none seed=7 cooperative
//! //! arg u32 5             a scalar parameter (any type below)
//! //! in f32 1 2.5 nan      a buffer with these values; its address is the parameter
//! //! in u32 iota 64        0, 1, 2 ...; `fill V N`: N times V
//! //! inout f16 fill 0 32   likewise, shown afterwards
//! //! out s32 64            N values (each byte 0xCD) shown afterwards
//! //! freed u32 16          a buffer that was freed before the launch
//! //! multicast u32 1 2     a multicast address: the first half of the values is one device's, the other half another's
//! //! simulator WHY         a GPU answers something else, and why
//! //! = ...                 what is expected: notes, the buffers shown, printed text, the fault
//! //! load                  only loads the module; expects an error or `ok`
//! ```
//!
//! Types: `u8 .. u64`, `s8 .. s64`, `x8 .. x64` (shown in hexadecimal), `f16 bf16 f32 f64`.

mod parameter;
mod run;
mod values;

pub use parameter::{Parameter, ParameterKind};
pub use run::Run;
pub use values::{Type, show};

/// What a section of a file asks for.
#[derive(Clone, Debug)]
pub enum Directive {
    /// Only loading the module.
    Load,
    /// Running a kernel.
    Run(Run),
}

/// A directive with its parameters and expectations.
#[derive(Clone, Debug)]
pub struct Section {
    /// Line of the directive in the file, from 0.
    pub line: usize,
    /// The directive as it is written.
    pub text: String,
    /// What it asks for.
    pub directive: Directive,
    /// The kernel's parameters.
    pub parameters: Vec<Parameter>,
    /// Why a GPU answers something else than what is expected, where it does.
    pub simulator: Option<String>,
    /// The lines with what is expected, whole.
    pub expected: Vec<String>,
    /// Where these stand, or belong, in the file.
    pub place: std::ops::Range<usize>,
}

/// The sections of a file.
///
/// # Errors
/// A directive that is none, with its line.
pub fn sections(file: &str) -> Result<Vec<Section>, String> {
    let mut sections: Vec<Section> = Vec::new();
    for (number, line) in file.lines().enumerate() {
        let Some(text) = line.strip_prefix("//!").map(str::trim) else {
            continue;
        };
        let at = |error: String| format!("line {}: {error}", number + 1);
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        match (word, sections.last_mut()) {
            ("" | "#", _) => {}
            ("run" | "load", _) => sections.push(Section {
                line: number,
                text: text.to_owned(),
                directive: match word {
                    "load" => Directive::Load,
                    _ => Directive::Run(Run::parse(rest).map_err(at)?),
                },
                parameters: Vec::new(),
                simulator: None,
                expected: Vec::new(),
                place: number + 1..number + 1,
            }),
            ("simulator", Some(section)) => {
                section.simulator = Some(rest.to_owned());
                section.place = number + 1..number + 1;
            }
            ("arg" | "in" | "inout" | "out" | "freed" | "multicast", Some(section)) => {
                section.parameters.push(Parameter::parse(text).map_err(at)?);
                section.place = number + 1..number + 1;
            }
            ("=", Some(section)) => {
                section.expected.push(line.to_owned());
                section.place.end = number + 1;
            }
            _ => return Err(at(format!("unknown directive `{text}`"))),
        }
    }
    Ok(sections)
}
