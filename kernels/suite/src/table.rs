//! Tables for the terminal and the book.

use crate::case::Outcome;
use comfy_table::{Cell, CellAlignment, Table, presets};
use std::time::Duration;

/// A time in the unit that suits it.
pub fn time(duration: Duration) -> String {
    let us = duration.as_secs_f64() * 1e6;
    match us {
        us if us < 1e3 => format!("{us:.1} µs"),
        us if us < 1e6 => format!("{:.2} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}

/// Kernel, size, device, time, result.
pub fn outcomes(outcomes: &[Outcome], device: &str) -> Table {
    let mut table = empty(&["kernel", "size", "device", "time", "result"]);
    for outcome in outcomes {
        let result = match &outcome.verified {
            Ok(verified) if outcome.detail.is_empty() => format!("ok: {verified}"),
            Ok(verified) => format!("ok: {verified}, {}", outcome.detail),
            Err(wrong) => format!("WRONG {}: {wrong}", outcome.detail),
        };
        table.add_row(vec![
            Cell::new(outcome.name),
            Cell::new(&outcome.shape),
            Cell::new(device),
            Cell::new(time(outcome.time)).set_alignment(CellAlignment::Right),
            Cell::new(result),
        ]);
    }
    table
}

/// An empty table with these columns.
pub fn empty(columns: &[&str]) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_header(columns.iter().map(Cell::new));
    table
}

/// A table of a page of the book.
pub fn markdown<const N: usize>(
    columns: &[&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head = line(&columns.map(String::from)) + &line(&columns.map(|_| "---".into()));
    rows.into_iter()
        .fold(head, |text, cells| text + &line(&cells))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::Verified;

    #[test]
    fn times_have_three_digits_or_so() {
        assert_eq!(time(Duration::from_nanos(12_340)), "12.3 µs");
        assert_eq!(time(Duration::from_micros(12_340)), "12.34 ms");
        assert_eq!(time(Duration::from_millis(1_500)), "1.50 s");
    }

    #[test]
    fn a_wrong_result_stands_out() {
        let outcome = |verified| Outcome {
            name: "saxpy",
            shape: "4 elements".into(),
            time: Duration::ZERO,
            verified,
            detail: String::new(),
        };
        let text = outcomes(
            &[
                outcome(Ok(Verified {
                    elements: 4,
                    worst: 0.0,
                })),
                outcome(Err("no".into())),
            ],
            "simulator",
        );
        let text = text.to_string();
        assert!(
            text.contains("ok: 4 values exact") && text.contains("WRONG"),
            "{text}"
        );
    }
}
