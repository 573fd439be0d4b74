//! Numbers of the lines of a log.

use super::prelude::*;
use kernels::log_status::NONE;

case!(log_status: "numbers at the end of the lines of a log", "lines", simulator [150, 1], gpu 1 << 20);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let sizes = draw::<u32>(1, n);
    let (mut text, mut starts) = (Vec::new(), vec![0u32]);
    let mut want = Vec::new();
    for (i, &bits) in sizes.iter().enumerate() {
        let (page, status) = (bits >> 20, 200 + bits % 4 * 101);
        let size = bits >> (bits % 23);
        let line = match i % 50 {
            0 => format!("- GET /{page} {status} {size}\n"),
            1 => format!("- \"GET /{page}\" {status} -\n"),
            2 => format!("- \"GET /{page}\""),
            _ => format!(
                "10.0.{}.1 \"GET /{page}/x.html\" {status}  {size}\n",
                bits % 97
            ),
        };
        text.extend_from_slice(line.as_bytes());
        starts.push(text.len() as u32);
        want.extend(match i % 50 {
            0 | 2 => [NONE; 2],
            1 => [status, NONE],
            _ => [status, size],
        });
    }
    let check = exactly(want);
    let kernel = session.pair(kernels::log_status::log_status, "log_status")?;
    let text = session.stream.upload(&text)?;
    let starts = session.stream.upload(&starts)?;
    problem(
        session,
        format!("{n} lines, {} bytes", text.len()),
        &vec![[1u32; 2]; n],
        move |session, side, found| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&text, &starts, found));
            Ok(())
        },
        move |got| check(got.as_flattened()),
    )
}

#[cfg(test)]
mod tests {
    use super::kernels::log_status::numbers;

    #[test]
    fn lines_and_their_numbers() {
        assert_eq!(numbers(b"a \"b\" 200 17\n"), (Some(200), Some(17)));
        assert_eq!(numbers(b"\"x 200 17"), (None, Some(200)));
        assert_eq!(numbers(b"\"404 4294967296"), (Some(404), None));
        assert_eq!(numbers(b"200 17"), (None, None));
    }
}
