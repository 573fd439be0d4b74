//! Lines of JSON.

use super::prelude::*;

case!(json_tokens: "what lines of JSON consist of", "lines", simulator [120, 1], gpu 1 << 19);

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    let (mut text, mut starts) = (Vec::new(), vec![0u32]);
    let mut want = Vec::new();
    for (i, &bits) in draw::<u32>(1, n).iter().enumerate() {
        let (number, name) = (bits >> (bits % 30), bits % 997);
        let (mut line, counts) = match bits % 7 {
            0 | 1 => (
                format!("{{\"name\": \"n{name}\", \"at\": -{number}.5e+3}}"),
                [3, 1, 0, 1],
            ),
            2 => (
                format!("[{number}, [true, null, {name}], {{}}]"),
                [0, 2, 2, 2],
            ),
            3 => (
                format!("{{\"a\\\"{name}\": [\"\\\\\", \"}}{number}\"]}}"),
                [3, 0, 0, 2],
            ),
            4 => (
                format!("{{\"deep\": [[[[{name}]]]], \"flag\":false}}"),
                [2, 1, 1, 5],
            ),
            5 => (format!(" {number}\t"), [0, 1, 0, 0]),
            _ => (
                format!("[\"{name} {number} \u{e4}\u{f6}\",{name},{number}]"),
                [1, 2, 0, 1],
            ),
        };
        let wrong = match i % 64 {
            3 => "]",
            7 => "\"",
            11 => "[",
            13 => "%",
            _ => "",
        };
        line.push_str(wrong);
        text.extend_from_slice(line.as_bytes());
        starts.push(text.len() as u32);
        want.extend(if wrong.is_empty() {
            counts
        } else {
            [u32::MAX; 4]
        });
    }
    let check = exactly(want);
    let kernel = session.pair(kernels::json_tokens::json_tokens, "json_tokens")?;
    let text = session.stream.upload(&text)?;
    let starts = session.stream.upload(&starts)?;
    problem(
        session,
        format!("{n} lines, {} bytes", text.len()),
        &vec![[9u32; 4]; n],
        move |session, side, counts| {
            let grid = Grid::cover(n, 256);
            launch_pair!(session, side, kernel, grid, (&text, &starts, counts));
            Ok(())
        },
        move |got| check(got.as_flattened()),
    )
}
