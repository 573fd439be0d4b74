//! Kernel records: what `#[kernel]` leaves for the linker, and its effect on the kernel.
//!
//! A record is a static `__warpsmith_kernel.NAME` of plain 32-bit words (a fixed header, then four words
//! per flat parameter). It carries what Rust cannot say on a function: launch bounds, cluster dimensions,
//! which pointers are read-only and unaliased, which stand for a by-value struct, and floating-point
//! switches. [`apply`] turns it into LLVM attributes and removes it; its words go into the PTX's signature,
//! where the host library compares them with its own.

use super::{branch_values, launch_facts};
use crate::error::BuildError;
use crate::llvm::{Attribute, Module, Value, calling_convention};

/// Beginning of a record's symbol.
pub const PREFIX: &str = "__warpsmith_kernel.";
const MAGIC: u32 = 0x314B_5357;
/// The version of records that this linker reads.
pub(crate) const VERSION: u32 = 3;
const HEADER_WORDS: usize = 16;
const WORDS_PER_PARAMETER: usize = 4;

/// What a flat parameter is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ParameterKind {
    /// A number by value.
    Scalar,
    /// How many elements stand behind the pointer before it.
    Length {
        /// As many as an object of the language can have.
        most: u64,
    },
    /// A pointer to memory that no thread writes during the grid.
    ReadOnly {
        /// Its alignment.
        align: u32,
    },
    /// A pointer to what only this parameter reaches.
    Unaliased {
        /// Its alignment.
        align: u32,
    },
    /// A pointer without promises.
    Raw,
    /// A struct by value; Rust sees a pointer to it.
    ByValue {
        /// Its size in bytes.
        size: u32,
        /// Its alignment.
        align: u32,
    },
}

/// A switch that a kernel sets for itself, else the build's.
pub(crate) type Override = Option<bool>;

/// A decoded record.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Record {
    pub kernel: String,
    /// The record as it is, for the signature of the PTX.
    pub words: Vec<u32>,
    pub parameters: Vec<ParameterKind>,
    pub max_threads: [u32; 3],
    pub exact: bool,
    pub min_blocks: u32,
    pub max_registers: u32,
    pub cluster: [u32; 3],
    /// In how many dimensions a launch may extend.
    pub dimensions: u32,
    pub fmad: Override,
    pub ftz: Override,
    pub approximate_division: Override,
    pub approximate_square_root: Override,
}

impl Record {
    /// Decodes a record's words.
    fn decode(kernel: &str, bytes: &[u8]) -> Result<Record, String> {
        let words: Vec<u32> = bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|b| u32::from_le_bytes(*b))
            .collect();
        if words.len() < HEADER_WORDS || words[0] != MAGIC {
            return Err(format!("the record of kernel `{kernel}` is damaged"));
        }
        if words[1] != VERSION {
            return Err(format!(
                "the record of kernel `{kernel}` has version {}, and this builder knows {VERSION}: \
                 use warpsmith-device and warpsmith-builder of one version",
                words[1]
            ));
        }
        let count = words[2] as usize;
        if words.len() != HEADER_WORDS + WORDS_PER_PARAMETER * count {
            return Err(format!(
                "the record of kernel `{kernel}` has a wrong length"
            ));
        }
        let rows = words[HEADER_WORDS..].as_chunks::<WORDS_PER_PARAMETER>().0;
        let before = std::iter::once(None).chain(rows.iter().map(Some));
        let parameters = before
            .zip(rows)
            .map(|(before, &[kind, size, align, form])| match kind {
                0 => Ok(match before {
                    // Both are of one parameter of the Rust function, whose form it is.
                    Some(&[1..=3, element, _, of]) if element > 0 && of == form && size == 8 => {
                        ParameterKind::Length {
                            most: i64::MAX as u64 / u64::from(element),
                        }
                    }
                    _ => ParameterKind::Scalar,
                }),
                1 => Ok(ParameterKind::ReadOnly { align }),
                2 => Ok(ParameterKind::Unaliased { align }),
                3 => Ok(ParameterKind::Raw),
                4 => Ok(ParameterKind::ByValue { size, align }),
                other => Err(format!(
                    "the record of kernel `{kernel}` has a parameter of unknown kind {other}"
                )),
            })
            .collect::<Result<_, _>>()?;
        let switch =
            |bit: u32| (words[12] >> bit & 1 == 1).then_some(words[12] >> (bit + 1) & 1 == 1);
        Ok(Record {
            kernel: kernel.to_owned(),
            parameters,
            max_threads: [words[3], words[4], words[5]],
            exact: words[6] == 1,
            min_blocks: words[7],
            max_registers: words[8],
            cluster: [words[9], words[10], words[11]],
            dimensions: words[14],
            fmad: switch(0),
            ftz: switch(2),
            approximate_division: switch(4),
            approximate_square_root: switch(6),
            words,
        })
    }
}

/// Reads all records of the module and removes them.
pub(crate) fn take(module: &Module<'_>) -> Result<Vec<Record>, BuildError> {
    let mut records = Vec::new();
    for global in module.globals() {
        let name = global.name();
        let Some(kernel) = name.strip_prefix(PREFIX) else {
            continue;
        };
        let bytes = global
            .initialiser()
            .and_then(|value| value.as_bytes().or_else(|| value.element(0)?.as_bytes()))
            .ok_or_else(|| format!("the record of kernel `{kernel}` is not plain data"))?;
        records.push(Record::decode(kernel, &bytes)?);
        if global.is_unused() {
            global.delete_global();
        } else {
            global.internalise();
        }
    }
    records.sort_by(|a, b| a.kernel.cmp(&b.kernel));
    Ok(records)
}

/// Puts a record's promises and bounds on its kernel.
pub(crate) fn apply(module: &Module<'_>, record: &Record) -> Result<(), BuildError> {
    let kernel = &record.kernel;
    let function = module
        .function(kernel)
        .filter(|f| !f.is_declaration() && f.calling_convention() == calling_convention::PTX_KERNEL)
        .ok_or_else(|| format!("there is a record of kernel `{kernel}`, but no such kernel"))?;
    if function.parameter_count() as usize != record.parameters.len() {
        return Err(BuildError::Link(format!(
            "kernel `{kernel}` has {} parameters and its record says {}",
            function.parameter_count(),
            record.parameters.len()
        )));
    }
    for (number, kind) in (0..).zip(&record.parameters) {
        apply_parameter(module, function, number, *kind);
    }
    let dimensions = |d: [u32; 3]| format!("{},{},{}", d[0].max(1), d[1].max(1), d[2].max(1));
    let text = |name: &str, value: String| function.add_text(Attribute::Function, name, &value);
    if record.max_threads[0] != 0 {
        text(
            if record.exact {
                "nvvm.reqntid"
            } else {
                "nvvm.maxntid"
            },
            dimensions(record.max_threads),
        );
    }
    if record.min_blocks != 0 {
        text("nvvm.minctasm", record.min_blocks.to_string());
    }
    if record.max_registers != 0 {
        text("nvvm.maxnreg", record.max_registers.to_string());
    }
    if (1..3).contains(&record.dimensions) {
        text(launch_facts::DIMENSIONS, record.dimensions.to_string());
    }
    if record.cluster[0] != 0 {
        text("nvvm.cluster_dim", dimensions(record.cluster));
    }
    Ok(())
}

/// The attribute of a parameter whose memory the kernel accesses by no other one.
pub(super) const UNALIASED: &str = "warpsmith-unaliased";

fn apply_parameter(module: &Module<'_>, function: Value<'_>, number: u32, kind: ParameterKind) {
    let at = Attribute::Parameter(number);
    match kind {
        ParameterKind::Scalar | ParameterKind::Raw => {}
        ParameterKind::Length { most } => {
            function.add_range(at, 0, most + 1);
            function.add_text(at, branch_values::LENGTH, &most.to_string());
        }
        ParameterKind::ReadOnly { align } => {
            function.add_number(at, "align", align.max(1).into());
            function.add_flag(at, "noalias");
            function.add_flag(at, "readonly");
            function.add_flag(at, "nonnull");
        }
        // Not `noalias`: LLVM would take memory behind it for the function's own until it returns, and drop a store
        // that only the host sees because the thread ends at an `exit`, or move one over a barrier. That the
        // read-only parameters are `noalias` says all that their loads need.
        ParameterKind::Unaliased { align } => {
            function.add_text(at, UNALIASED, "");
            function.add_flag(at, "nonnull");
            function.add_number(at, "align", align.max(1).into());
        }
        ParameterKind::ByValue { size, align } => {
            function.add_type(at, "byval", module.bytes_type(size.max(1).into()));
            function.add_number(at, "align", align.max(1).into());
            function.add_text(at, "nvvm.grid_constant", "");
            function.add_flag(at, "readonly");
            function.add_flag(at, "noalias");
            function.add_number(at, "dereferenceable", size.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u32]) -> Vec<u8> {
        words.iter().flat_map(|w| w.to_le_bytes()).collect()
    }

    #[test]
    fn decodes_what_the_contract_says() {
        let mut words = vec![
            MAGIC,
            VERSION,
            4,
            256,
            1,
            1,
            1,
            4,
            64,
            2,
            1,
            1,
            0b0011_0001,
            0,
            2,
            0,
        ];
        // A slice of eight-byte elements, a struct, and a number of another parameter.
        words.extend([1, 8, 8, 3, 0, 8, 8, 3, 4, 24, 16, 0, 0, 8, 8, 1]);
        let record = Record::decode("k", &bytes(&words)).unwrap();
        assert_eq!(
            record,
            Record {
                kernel: "k".into(),
                words,
                parameters: vec![
                    ParameterKind::ReadOnly { align: 8 },
                    ParameterKind::Length {
                        most: (1 << 60) - 1
                    },
                    ParameterKind::ByValue {
                        size: 24,
                        align: 16
                    },
                    ParameterKind::Scalar,
                ],
                max_threads: [256, 1, 1],
                exact: true,
                min_blocks: 4,
                max_registers: 64,
                cluster: [2, 1, 1],
                dimensions: 2,
                fmad: Some(false),
                ftz: None,
                approximate_division: Some(true),
                approximate_square_root: None,
            }
        );
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        let good = [MAGIC, VERSION, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert!(Record::decode("k", &bytes(&good)).is_ok());
        let refused = |change: fn(&mut Vec<u32>)| {
            let mut words = good.to_vec();
            change(&mut words);
            Record::decode("k", &bytes(&words)).unwrap_err()
        };
        assert!(refused(|w| w[0] = 7).contains("damaged"));
        assert!(refused(|w| w[1] = 1).contains("version 1"));
        assert!(refused(|w| w[2] = 1).contains("wrong length"));
        assert!(
            refused(|w| {
                w[2] = 1;
                w.extend([9, 0, 0, 0])
            })
            .contains("unknown kind 9")
        );
        assert!(refused(|w| w.truncate(3)).contains("damaged"));
    }
}
