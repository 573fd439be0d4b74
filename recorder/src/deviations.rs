//! Where a GPU answers something else than the manual says, and the simulator does as the manual says; and what ptxas takes beyond the
//! manual, and makes wrong code of.
//!
//! The former is all of the scalar video instructions, which GPUs since sm_50 have no circuits for: `ptxas` makes them of others, of 32
//! bits, where the manual has intermediate results of 34.

/// Why a GPU's answers of the program of this name are not the manual's in every case; `None`: they are.
pub fn deviation(name: &str) -> Option<&'static str> {
    let (mnemonic, operands) = name.split_once(' ')?;
    let words: Vec<&str> = mnemonic.split('.').collect();
    let has = |word| words.contains(&word);
    let is_scalar_video =
        words[0].starts_with('v') && words[0].ends_with(|last: char| last.is_ascii_alphabetic());
    if !is_scalar_video {
        return None;
    }
    if operands.split(' ').any(|part| part == "d.h1") {
        return Some(
            "a result that becomes the upper half is the upper half of the result, not its lower one",
        );
    }
    if words[0] == "vset" {
        return None;
    }
    let is_whole = |operand: &str| !operands.split(' ').any(|part| part.starts_with(operand));
    if has("sat") && !is_whole("d.") {
        return Some("a result that becomes a part is clamped as an unsigned number");
    }
    if words[0] == "vshl" && has("sat") {
        return Some("the shifted value is cut to 32 bits before it is clamped");
    }
    if (has("min") || has("max")) && (words[1] == "u32" || words[3] == "u32") {
        return Some("an unsigned result is compared with the third operand as a signed one");
    }
    if (is_whole("a.") || is_whole("b."))
        && (words[0] == "vmad" || has("sat") || has("min") || has("max"))
    {
        return Some("an operand that is a whole register is signed, or is not, whatever its type");
    }
    if words[0] == "vmad" && words[2..4] == ["u32", "u32"] {
        return Some("the third operand is signed");
    }
    None
}

/// What ptxas takes although neither the manual has it nor its code computes it; nothing of it is recorded. `None`: it is none of these.
pub fn miscompiled(opcode: &str, words: &[&str]) -> Option<&'static str> {
    let has = |word| words.contains(&word);
    match opcode {
        "fma" if (has("bf16") || has("bf16x2")) && !has("rn") => {
            Some("the operands are read as f16 numbers, or the rounding is left out")
        }
        "testp" if words.len() == 1 => Some("the predicate stays as it was"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_scalar_video_instructions_deviate() {
        for name in [
            "vadd2.u32.u32.u32.sat 4",
            "min.u32 3",
            "vadd.u32.u32.u32 3",
            "vset.u32.u32.lt.min 4",
        ] {
            assert_eq!(deviation(name), None, "{name}");
        }
        for name in [
            "vshl.s32.s32.u32.sat.wrap a.b0 b.h1 3",
            "vadd.u32.u32.u32.sat 3",
            "vsub.u32.s32.s32.max a.b0 b.h1 4",
            "vsub.u32.s32.s32.sat d.b1 a.b0 b.h1 4",
            "vset.u32.u32.lt d.h1 a.h0 b.b2 4",
        ] {
            assert!(deviation(name).is_some(), "{name}");
        }
        assert_eq!(deviation("vadd.u32.u32.u32.sat a.b0 b.h1 3"), None);
    }

    #[test]
    fn forms_of_the_manual_are_recorded() {
        for (opcode, words) in [
            ("fma", &["rn", "relu", "bf16x2"][..]),
            ("fma", &["rz", "f32"]),
            ("testp", &["finite", "f32"]),
        ] {
            assert_eq!(miscompiled(opcode, words), None, "{opcode} {words:?}");
        }
        for (opcode, words) in [("fma", &["rz", "oob", "bf16"][..]), ("testp", &["f64"])] {
            assert!(miscompiled(opcode, words).is_some(), "{opcode} {words:?}");
        }
    }
}
