//! Atomic instructions whose address may lie in local memory.
//!
//! PTX has atomic instructions, and loads and stores with an order, for global and shared memory alone; a reference to an atomic word may
//! lead to a variable of the thread's own. No other thread reaches that one, so the plain instructions are right there. Where the
//! address is known to be local they stand instead of the atomic one; where nothing is known, the thread asks (`isspacep.local`) and
//! executes one or the other, as libcu++ does.

use std::fmt::Write;

/// What is known of an address that is not known to be global or shared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Locality {
    /// In local memory.
    Local,
    /// Anywhere.
    Unknown,
}

/// The statement for an address of this locality; `None` if it is no atomic one. It has one address, in brackets, without an offset.
pub(super) fn divert(statement: &str, locality: Locality) -> Option<String> {
    let plain = plain(statement)?;
    let mut text = "{ .reg .pred %wlocal, %wtest;".to_owned();
    let mut guard = "";
    if locality == Locality::Unknown {
        let address = &plain.address;
        let _ = write!(
            text,
            " isspacep.local %wlocal, {address}; @!%wlocal {statement};"
        );
        guard = "@%wlocal ";
    }
    if let Some(bits) = plain.temporaries {
        let _ = write!(text, " .reg .b{bits} %wold, %wnew;");
        if bits == 128 {
            text.push_str(" .reg .b64 %wa, %wb, %wc, %wd;");
        }
    }
    for instruction in plain.instructions {
        let _ = write!(text, " {guard}{instruction};");
    }
    text.push_str(" }");
    Some(text)
}

/// What a thread does instead where the address is local.
struct Plain {
    address: String,
    /// The width of the registers `%wold` and `%wnew`, if they are needed.
    temporaries: Option<u32>,
    instructions: Vec<String>,
}

fn plain(statement: &str) -> Option<Plain> {
    let (head, operands) = statement.trim().split_once(char::is_whitespace)?;
    let operands: Vec<&str> = operands.split(',').map(str::trim).collect();
    let modifiers: Vec<&str> = head.split('.').collect();
    let (&opcode, &ty) = (modifiers.first()?, modifiers.last()?);
    let has_order = modifiers
        .iter()
        .any(|modifier| matches!(*modifier, "relaxed" | "acquire" | "release" | "acq_rel"));
    if !has_order {
        return None;
    }
    let bits = bits(ty)?;
    let address = operands.iter().find_map(|operand| {
        let inner = operand.strip_prefix('[')?.strip_suffix(']')?;
        Some(inner.to_owned())
    })?;
    let at = format!("[{address}]");
    if matches!(opcode, "ld" | "st") {
        return Some(Plain {
            instructions: vec![format!("{opcode}.{ty} {}", operands.join(", "))],
            address,
            temporaries: None,
        });
    }
    let (result, values) = match (opcode, &operands[..]) {
        ("atom", [result, _, values @ ..]) => (Some(result), values),
        ("red", [_, values @ ..]) => (None, values),
        _ => return None,
    };
    let operation = modifiers.iter().find(|modifier| {
        matches!(
            **modifier,
            "add" | "min" | "max" | "and" | "or" | "xor" | "inc" | "dec" | "exch" | "cas"
        )
    })?;
    let mut instructions = vec![format!("ld.b{bits} %wold, {at}")];
    instructions.extend(update(operation, ty, bits, values)?);
    instructions.push(format!("st.b{bits} {at}, %wnew"));
    instructions.extend(result.map(|result| format!("mov.b{bits} {result}, %wold")));
    Some(Plain {
        address,
        temporaries: Some(bits),
        instructions,
    })
}

/// Makes `%wnew` of `%wold`.
fn update(operation: &str, ty: &str, bits: u32, values: &[&str]) -> Option<Vec<String>> {
    Some(match (operation, values) {
        ("exch", [value]) => vec![format!("mov.b{bits} %wnew, {value}")],
        ("cas", [current, value]) if bits == 128 => vec![
            "mov.b128 {%wa, %wb}, %wold".into(),
            format!("mov.b128 {{%wc, %wd}}, {current}"),
            "xor.b64 %wa, %wa, %wc".into(),
            "xor.b64 %wb, %wb, %wd".into(),
            "or.b64 %wa, %wa, %wb".into(),
            "setp.eq.b64 %wtest, %wa, 0".into(),
            "mov.b128 {%wa, %wb}, %wold".into(),
            format!("mov.b128 {{%wc, %wd}}, {value}"),
            "selp.b64 %wa, %wc, %wa, %wtest".into(),
            "selp.b64 %wb, %wd, %wb, %wtest".into(),
            "mov.b128 %wnew, {%wa, %wb}".into(),
        ],
        ("cas", [current, value]) => vec![
            format!("setp.eq.b{bits} %wtest, %wold, {current}"),
            format!("selp.b{bits} %wnew, {value}, %wold, %wtest"),
        ],
        ("inc", [bound]) => vec![
            "add.u32 %wnew, %wold, 1".into(),
            format!("setp.ge.u32 %wtest, %wold, {bound}"),
            "selp.b32 %wnew, 0, %wnew, %wtest".into(),
        ],
        ("dec", [bound]) => vec![
            "sub.u32 %wnew, %wold, 1".into(),
            format!("setp.gt.u32 %wtest, %wold, {bound}"),
            format!("selp.b32 %wnew, {bound}, %wnew, %wtest"),
            "setp.eq.u32 %wtest, %wold, 0".into(),
            format!("selp.b32 %wnew, {bound}, %wnew, %wtest"),
        ],
        ("add" | "min" | "max" | "and" | "or" | "xor", [value]) => {
            vec![format!("{operation}.{ty} %wnew, %wold, {value}")]
        }
        _ => return None,
    })
}

/// The width of a type, in bits.
fn bits(ty: &str) -> Option<u32> {
    match ty {
        "f16x2" | "bf16x2" => Some(32),
        _ => ty.trim_start_matches(char::is_alphabetic).parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_asks_where_nothing_is_known() {
        assert_eq!(
            divert("red.relaxed.gpu.add.u32 [$0], $1", Locality::Unknown).unwrap(),
            "{ .reg .pred %wlocal, %wtest; isspacep.local %wlocal, $0; @!%wlocal red.relaxed.gpu.add.u32 [$0], $1; \
             .reg .b32 %wold, %wnew; @%wlocal ld.b32 %wold, [$0]; @%wlocal add.u32 %wnew, %wold, $1; \
             @%wlocal st.b32 [$0], %wnew; }"
        );
    }

    #[test]
    fn local_words_need_no_atomics() {
        assert_eq!(
            divert("ld.acquire.gpu.b16 ${0}, [${1}]", Locality::Local).unwrap(),
            "{ .reg .pred %wlocal, %wtest; ld.b16 ${0}, [${1}]; }"
        );
        let cas = divert(
            "atom.relaxed.cta.cas.b64 ${0}, [${1}], ${2}, ${3}",
            Locality::Local,
        );
        assert_eq!(
            cas.unwrap(),
            "{ .reg .pred %wlocal, %wtest; .reg .b64 %wold, %wnew; ld.b64 %wold, [${1}]; \
             setp.eq.b64 %wtest, %wold, ${2}; selp.b64 %wnew, ${3}, %wold, %wtest; st.b64 [${1}], %wnew; \
             mov.b64 ${0}, %wold; }"
        );
    }

    #[test]
    fn other_instructions_stay() {
        for text in [
            "ld.b32 $0, [$1]",
            "ldmatrix.sync.aligned.m8n8.x1.b16 {$0}, [$1]",
            "fence.acq_rel.gpu",
        ] {
            assert_eq!(divert(text, Locality::Unknown), None, "{text}");
        }
    }
}
