//! Events counted by month and weekday.

use super::prelude::*;
use kernels::date_histogram::{BINS, Date};

case!(date_histogram: "times counted by month and weekday", "times", simulator [3000, 1], gpu 1 << 25);

const FIRST_YEAR: i32 = 1950;

fn prepare(session: &Session, n: usize) -> Result<Box<dyn Problem>> {
    // From 1902 to 2038.
    let words = draw::<u32>(1, n).into_iter();
    let times: Vec<i64> = words.map(|word| i64::from(word.cast_signed())).collect();
    let mut want = vec![0u32; BINS];
    for time in &times {
        let days = time.div_euclid(86_400) as i32;
        let date = Date::from_days(days);
        if date.year >= FIRST_YEAR {
            want[(date.month as usize - 1) * 7 + (days + 4).rem_euclid(7) as usize] += 1;
        }
    }
    let kernel = session.pair(kernels::date_histogram::date_histogram, "date_histogram")?;
    let times = session.stream.upload(&times)?;
    let blocks = n.div_ceil(256).min(1024) as u32;
    problem(
        session,
        format!("{n} times"),
        &[0u32; BINS],
        move |session, side, counts| {
            let grid = Grid::new(blocks, 256);
            launch_pair!(session, side, kernel, grid, (&times, FIRST_YEAR, counts));
            Ok(())
        },
        exactly(want),
    )
}

#[cfg(test)]
mod tests {
    use super::Date;

    #[test]
    fn dates_of_days() {
        let date = |days| {
            let Date { year, month, day } = Date::from_days(days);
            (year, month, day)
        };
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(-1), (1969, 12, 31));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(-25_567), (1900, 1, 1));
    }
}
