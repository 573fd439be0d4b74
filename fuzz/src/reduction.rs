//! Makes a failing case smaller: lines are left out as long as it still fails.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};

/// How long a case is reduced.
const LIMIT: Duration = Duration::from_secs(60);

/// Leaves out lines of a case, first many at once, then few, and writes the file anew; `fails` says whether a file's case still fails.
/// Comments stay: they say how the case is run.
pub fn reduce(file: &Path, fails: impl Fn(&Path) -> Result<bool>) -> Result<()> {
    let text = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let mut lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    let candidate = file
        .with_file_name("candidate")
        .with_extension(file.extension().unwrap_or_default());
    let end = Instant::now() + LIMIT;
    let mut size = lines.len().div_ceil(2);
    let mut reduced = false;
    while size > 0 {
        let mut at = 0;
        while at < lines.len() {
            if Instant::now() > end {
                size = 1;
                break;
            }
            let kept = |(number, line): (usize, &&[u8])| {
                !(at..at + size).contains(&number) || line.starts_with(b"//")
            };
            let fewer: Vec<&[u8]> = lines
                .iter()
                .enumerate()
                .filter(|&(number, line)| kept((number, line)))
                .map(|(_, line)| *line)
                .collect();
            if fewer.len() == lines.len() {
                at += size;
                continue;
            }
            fs::write(&candidate, fewer.concat()).context("cannot write a candidate")?;
            if fails(&candidate)? {
                lines = fewer;
                reduced = true;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    let _ = fs::remove_file(&candidate);
    if reduced {
        fs::write(file, lines.concat())
            .with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_failure_needs_is_left() {
        let file = std::env::temp_dir().join(format!("warpsmith-fuzz-{}.txt", std::process::id()));
        let lines: String = (0..100).map(|number| format!("line {number}\n")).collect();
        fs::write(&file, format!("// head\n{lines}")).unwrap();
        let needed = ["line 7\n", "line 8\n", "line 61\n"];
        reduce(&file, |candidate| {
            let text = fs::read_to_string(candidate)?;
            Ok(needed.iter().all(|line| text.contains(line)))
        })
        .unwrap();
        let text = fs::read_to_string(&file).unwrap();
        fs::remove_file(&file).unwrap();
        assert_eq!(text, format!("// head\n{}", needed.concat()));
    }
}
