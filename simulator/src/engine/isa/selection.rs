//! How `min` and `max` choose: from the modifiers, and as an operand.

use crate::engine::exec::operand::Encode;
use crate::engine::lower::form::FormReader;
use crate::numerics::compare::Selection;

impl Encode for Selection {
    #[inline(always)]
    fn encode(self) -> u32 {
        u32::from(self.ftz) | u32::from(self.propagate_nan) << 1 | u32::from(self.xorsign_abs) << 2
    }

    #[inline(always)]
    fn decode(word: u32) -> Selection {
        Selection {
            ftz: word & 1 != 0,
            propagate_nan: word & 1 << 1 != 0,
            xorsign_abs: word & 1 << 2 != 0,
        }
    }
}

/// How `min` and `max` choose.
pub(super) fn selection(form: &FormReader<'_>, ftz: bool) -> Selection {
    Selection {
        ftz,
        propagate_nan: form.has("NaN"),
        xorsign_abs: form.has("xorsign") && form.has("abs"),
    }
}
