//! Decimal numbers read from text.

use super::prelude::*;
use kernels::parse_numbers::{WRONG, parse};

case!(parse_numbers: "decimal numbers read from text", "fields", simulator [300, 1], gpu 1 << 21);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let (whole, parts) = (below(1, n, 100_000), below(2, n, 1000));
    let mut text = Vec::new();
    let mut starts = vec![0u32];
    for (i, (whole, part)) in whole.iter().zip(parts).enumerate() {
        let field = match part % 5 {
            0 => format!(" -{whole}.{part}\n"),
            1 => format!("{whole}"),
            2 => format!("  +{whole}.{part:03} "),
            3 if i % 50 == 0 => format!("{whole}x"),
            _ => format!("{part}.5"),
        };
        text.extend_from_slice(field.as_bytes());
        starts.push(text.len() as u32);
    }
    let of_field = |range: &[u32]| {
        let field = &text[range[0] as usize..range[1] as usize];
        f64::from(parse(field).unwrap_or(WRONG))
    };
    let want = starts.windows(2).map(of_field).collect();
    let kernel = session.pair(kernels::parse_numbers::parse_numbers, "parse_numbers")?;
    let text = session.stream.upload(&text)?;
    let starts = session.stream.upload(&starts)?;
    problem(
        session,
        format!("{n} fields, {} bytes", text.len()),
        &vec![f32::NAN; n],
        move |session, side, numbers| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&text, &starts, numbers));
            Ok(())
        },
        nearly(want, 1e-6),
    )
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn fields_and_their_numbers() {
        assert_eq!(parse(b" -12.50 "), Some(-12.5));
        assert_eq!(parse(b"+7"), Some(7.0));
        for field in [&b""[..], b"-", b"1.2.3", b"4294967296", b"1e5"] {
            assert_eq!(parse(field), None);
        }
    }
}
