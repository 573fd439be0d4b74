//! Events counted by month and by weekday.

use warpsmith_device::prelude::*;

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    /// Its year.
    pub year: i32,
    /// Its month, from 1.
    pub month: u32,
    /// Its day, from 1.
    pub day: u32,
}

impl Date {
    /// The date of a number of days from 1 January 1970.
    pub fn from_days(days: i32) -> Date {
        let days = days + 719_468;
        let era = days.div_euclid(146_097);
        let of_era = days.rem_euclid(146_097) as u32;
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let shifted = (5 * of_year + 2) / 153;
        let month = if shifted < 10 {
            shifted + 3
        } else {
            shifted - 9
        };
        Date {
            year: year as i32 + era * 400 + i32::from(month <= 2),
            month,
            day: of_year - (153 * shifted + 2) / 5 + 1,
        }
    }
}

/// Bins: 12 months times 7 weekdays.
pub const BINS: usize = 84;

/// Adds to `counts` how many of the times (seconds from 1 January 1970) from the year `first_year` on lie in each month, on each weekday.
#[kernel(launch_bounds(256))]
pub fn date_histogram(times: &[i64], first_year: i32, counts: AtomicSlice<u32>) {
    let local = shared!([u32; BINS]).fill_with(|_| 0).sync_atomic();
    for i in strided::in_grid(0..times.len()) {
        let days = times[i].div_euclid(86_400) as i32;
        let date = Date::from_days(days);
        let weekday = (days + 4).rem_euclid(7) as usize;
        if date.year >= first_year {
            local[(date.month as usize - 1) * 7 + weekday].add(1, Relaxed);
        }
    }
    let totals = local.sync();
    let bin = thread::thread_idx_x() as usize;
    if let Some(&total) = totals.get(bin) {
        counts[bin].add(total, Relaxed);
    }
}
