//! Panics of checks that the linker makes at once: the first that fails is told, and what the host sees of memory is as in the source.

use warpsmith_host::KernelPanic;
use warpsmith_host::prelude::*;
use warpsmith_test_kernels::checks::{self as kernels, ELEMENTS, THREADS};
use warpsmith_tests::ptx::{SM_90, instructions};
use warpsmith_tests::{Fixture, fixture};

fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i * 7 + 1).collect()
}

#[test]
fn rounds_have_one_branch_and_their_loads_follow_each_other() {
    let all = instructions(SM_90, "copies_by_rounds");
    let last = all
        .iter()
        .rposition(|line| line.starts_with("ld.global.nc"));
    let before = &all[..last.expect("elements are loaded")];
    let branches = before.iter().filter(|line| line.starts_with('@'));
    assert_eq!(branches.count(), 1, "{all:#?}");
}

#[test]
fn rounds_copy_where_no_check_fails() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::copies_by_rounds)?;
    let numbers = numbers(ELEMENTS);
    let (x, mut out) = (stream.upload(&numbers)?, stream.zeroed::<u32>(THREADS)?);
    stream.launch(&kernel, Grid::new(1, THREADS as u32), (&x, &mut out))?;
    let of = |t: usize| numbers[(t ^ 1) + t % 4 * THREADS];
    let expected: Vec<u32> = (0..THREADS).map(of).collect();
    assert_eq!(stream.download(&out)?, expected);
    Ok(())
}

#[test]
fn the_first_round_that_fails_is_told() -> Result<()> {
    let f = Fixture::open()?;
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::copies_by_rounds)?;
    let mut out = stream.zeroed::<u32>(THREADS)?;
    for length in [1, 255, 256, 300, 512, 700, 1000, 1023] {
        let x = stream.upload(&numbers(length))?;
        stream.launch(&kernel, Grid::new(1, THREADS as u32), (&x, &mut out))?;
        let Err(Error::KernelPanic(panic)) = stream.synchronize() else {
            panic!("no panic of {length} elements");
        };
        let thread = panic.thread[0] as usize;
        let mut indices = (0..4).map(|j| thread + j * THREADS);
        let first = indices.find(|index| *index >= length);
        let first = first.expect("only threads panic whose elements are not there");
        let message = format!("index out of bounds: the len is {length} but the index is {first}");
        assert!(panic.message.contains(&message), "{}", panic.message);
    }
    Ok(())
}

#[test]
fn what_is_written_to_global_memory_before_a_panic_is_there() -> Result<()> {
    let f = Fixture::open()?;
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::writes_before_panics)?;
    let numbers = numbers(THREADS + 100);
    let (x, mut out) = (stream.upload(&numbers)?, stream.zeroed::<u32>(THREADS)?);
    stream.launch(&kernel, Grid::new(1, THREADS as u32), (&x, &mut out))?;
    assert!(matches!(stream.synchronize(), Err(Error::KernelPanic(_))));
    let of = |t: usize| numbers[t] + numbers.get(t + THREADS).unwrap_or(&0);
    let expected: Vec<u32> = (0..THREADS).map(of).collect();
    assert_eq!(stream.download(&out)?, expected);
    Ok(())
}

/// What each lane notes, or what it panics with: lanes that have ended count as even.
fn votes(x: &[u32], starts: &[u32; 32], weights: usize, rounds: u32) -> Vec<Result<u32, String>> {
    let message =
        |len, index| format!("index out of bounds: the len is {len} but the index is {index}");
    let mut noted = vec![Ok(0_u32); 32];
    for k in 0..rounds as usize {
        let mut odd = 0;
        for (lane, noted) in noted
            .iter_mut()
            .enumerate()
            .filter(|(_, lane)| lane.is_ok())
        {
            let place = starts[lane] as usize + k;
            if lane >= weights {
                *noted = Err(message(weights, lane));
            } else if place >= x.len() {
                *noted = Err(message(x.len(), place));
            } else {
                odd |= (x[place] % 2) << lane;
            }
        }
        for noted in noted.iter_mut().flatten() {
            *noted = noted.wrapping_mul(31).wrapping_add(odd);
        }
    }
    noted
}

#[test]
fn warps_vote_before_rounds_that_all_pass_their_checks() {
    let all = instructions(SM_90, "votes_of_rounds");
    let has = |what: &str| all.iter().filter(|line| line.contains(what)).count();
    assert_eq!(has("vote.sync.all"), 1, "{all:#?}");
    assert!(has("vote.sync.ballot") > 1, "{all:#?}");
}

/// All lanes pass all checks; or one does not, in the first, in a middle, or in the last round; or some do not pass a check that is the same in all.
#[test]
fn lanes_that_panic_leave_a_warp_whose_others_go_on() -> Result<()> {
    let f = Fixture::open()?;
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::votes_of_rounds)?;
    let numbers: Vec<u32> = (0..40).map(|i| i * i % 7).collect();
    let x = stream.upload(&numbers)?;
    let late = |lanes: &[(usize, u32)]| {
        let mut starts = [3; 32];
        lanes
            .iter()
            .for_each(|(lane, start)| starts[*lane] = *start);
        starts
    };
    let of_starts = [
        late(&[]),
        late(&[(5, 40)]),
        late(&[(31, 38)]),
        late(&[(0, 36), (1, 37), (17, 1 << 31)]),
        late(&[(9, 31)]),
        [40; 32],
    ];
    for starts in of_starts {
        let all_starts = stream.upload(&starts)?;
        for weights in [32, 31, 1, 0] {
            let all_weights = stream.upload(&vec![31; weights])?;
            for rounds in [0, 1, 2, 4, 5, 9] {
                let case = format!("{starts:?}, {weights} weights, {rounds} rounds");
                let mut out = stream.zeroed::<u32>(32)?;
                let arguments = (&x, &all_starts, &all_weights, rounds, &mut out);
                stream.launch(&kernel, Grid::new(1, 32), arguments)?;
                let found = stream.synchronize();
                let expected = votes(&numbers, &starts, weights, rounds);
                match found {
                    Ok(()) => assert!(expected.iter().all(Result::is_ok), "no panic: {case}"),
                    Err(Error::KernelPanic(panic)) => {
                        let lane = panic.thread[0] as usize;
                        let message = expected[lane].as_ref().expect_err(&case);
                        assert!(panic.message.contains(message), "{case}: {}", panic.message);
                    }
                    Err(error) => panic!("{case}: {error}"),
                }
                let noted: Vec<_> = expected
                    .into_iter()
                    .map(Result::unwrap_or_default)
                    .collect();
                assert_eq!(stream.download(&out)?, noted, "{case}");
            }
        }
    }
    Ok(())
}

/// What the host computes, or the first place that is behind the end.
fn expected(x: &[u32], which: u32, start: usize, count: usize, step: usize) -> Result<u32, usize> {
    let mut beyond = None;
    let read = |place| {
        x.get(place).copied().unwrap_or_else(|| {
            beyond.get_or_insert(place);
            0
        })
    };
    let sum = kernels::sum_of_rounds(read, which, start, count, step);
    beyond.map_or(Ok(sum), Err)
}

/// Rounds of which all pass their checks, and rounds of which one does not: the first, one of the next, the last, or one that began anew at 0.
#[test]
fn rounds_read_what_is_there_and_panic_at_the_first_place_that_is_not() -> Result<()> {
    let f = Fixture::open()?;
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::rounds_with_checks)?;
    let numbers = numbers(40);
    let x = stream.upload(&numbers)?;
    let mut out = stream.zeroed::<u32>(1)?;
    let huge = usize::MAX;
    for which in 0..kernels::LOOPS {
        for start in [0, 1, 9, 33, 39, 40, 41, 1 << 32, huge - 3, huge] {
            for count in [0, 1, 2, 3, 4, 5, 8, 11, 13, 40, 41] {
                for step in [1, 2, 5, 1 << 31, 1 << 61, 1 << 63, huge] {
                    // The other loops do not ask for it; of these every round steps past all elements, or the loop has no end.
                    let is_new = step == 1 || matches!(which, 2 | 4);
                    let ends = which != 4 || (step < 1 << 31 && start < huge - 3);
                    if !(is_new && ends) {
                        continue;
                    }
                    let case = format!("loop {which}, {start}, {count}, {step}");
                    let arguments = (&x, which, start, count, step, &mut out);
                    stream.launch(&kernel, Grid::new(1, 1), arguments)?;
                    let found = stream.synchronize();
                    match expected(&numbers, which, start, count, step) {
                        Ok(sum) => {
                            found.unwrap_or_else(|error| panic!("{case}: {error}"));
                            assert_eq!(stream.download(&out)?, [sum], "{case}");
                        }
                        Err(place) => {
                            let Err(Error::KernelPanic(panic)) = found else {
                                panic!("no panic: {case}");
                            };
                            let message = format!("the len is 40 but the index is {place}");
                            assert!(
                                panic.message.contains(&message),
                                "{case}: {}",
                                panic.message
                            );
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

#[test]
fn what_rounds_have_written_before_one_panics_is_there() -> Result<()> {
    let f = Fixture::open()?;
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::rounds_that_write)?;
    for length in [1, 3, 4, 6, 11] {
        let numbers = numbers(length);
        let x = stream.upload(&numbers)?;
        let mut out = stream.zeroed::<u32>(16)?;
        let row = out.matrix_mut(1, 16)?;
        stream.launch(&kernel, Grid::new(1, 1), (&x, 16, row))?;
        assert!(matches!(stream.synchronize(), Err(Error::KernelPanic(_))));
        let written = numbers.iter().map(|number| number + 1);
        let expected: Vec<u32> = written.chain(std::iter::repeat(0)).take(16).collect();
        assert_eq!(stream.download(&out)?, expected);
    }
    Ok(())
}

/// A loop of rounds that all pass their checks is beside the one that makes them.
#[test]
fn rounds_of_the_grid_are_there_without_checks() {
    let all = instructions(SM_90, "looks_up");
    let stores = all.iter().filter(|line| line.starts_with("st.global"));
    assert!(stores.count() > 1, "{all:#?}");
}

#[test]
fn a_table_that_has_all_bytes_is_looked_up() -> Result<()> {
    let f = fixture();
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::looks_up)?;
    let table = numbers(256);
    for length in [0, 1, 31, 64, 65, 500] {
        let bytes: Vec<u8> = (0..length).map(|i| (i * 7 % 251) as u8).collect();
        let x = stream.upload(&bytes)?;
        let expected: Vec<u32> = bytes.iter().map(|byte| table[usize::from(*byte)]).collect();
        // One of these has each byte that is asked for, and no more.
        for entries in [256, 251] {
            let entries = stream.upload(&table[..entries])?;
            let mut out = stream.zeroed::<u32>(length)?;
            stream.launch(&kernel, Grid::new(2, 32), (&x, &entries, &mut out))?;
            assert_eq!(stream.download(&out)?, expected);
        }
    }
    Ok(())
}

#[test]
fn a_byte_that_a_table_does_not_have_is_told_and_those_before_are_looked_up() -> Result<()> {
    let f = Fixture::open()?;
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::looks_up)?;
    for entries in [0, 1, 100, 255] {
        let table = numbers(entries);
        for (length, first) in [(1, 0), (9, 0), (9, 3), (9, 4), (9, 8), (70, 40)] {
            if entries == 0 && first > 0 {
                continue;
            }
            let wrong = entries.max(1) - usize::from(entries == 0);
            let byte = |i: usize| match i {
                _ if i == first => wrong,
                _ if i > first => 255,
                _ => i * 7 % entries.max(1),
            };
            let bytes: Vec<u8> = (0..length).map(|i| byte(i) as u8).collect();
            let (x, entries_there) = (stream.upload(&bytes)?, stream.upload(&table)?);
            let mut out = stream.zeroed::<u32>(length)?;
            stream.launch(&kernel, Grid::new(1, 1), (&x, &entries_there, &mut out))?;
            let Err(Error::KernelPanic(panic)) = stream.synchronize() else {
                panic!("no panic: {entries} entries, {first}");
            };
            let message =
                format!("index out of bounds: the len is {entries} but the index is {wrong}");
            assert!(panic.message.contains(&message), "{}", panic.message);
            let written = bytes[..first]
                .iter()
                .map(|byte| table[usize::from(*byte)])
                .chain(std::iter::repeat(0));
            let expected: Vec<u32> = written.take(length).collect();
            assert_eq!(stream.download(&out)?, expected);
        }
    }
    Ok(())
}

/// Rows of `row` columns, a table of so many, and how many columns there are to be written.
struct Row {
    row: usize,
    table: usize,
    columns: usize,
}

impl Row {
    /// Gives the panic, if there was one, and what was written by one warp of so many threads.
    fn multiplied(
        &self,
        f: &Fixture,
        threads: u32,
    ) -> Result<(Option<Box<KernelPanic>>, Vec<u32>)> {
        let stream = f.stream();
        let kernel = f.module.kernel(kernels::multiplies_rows)?;
        let x = stream.upload(&numbers(self.row))?;
        let table = stream.upload(&numbers(self.table))?;
        let mut out = stream.zeroed::<u32>(self.columns)?;
        let row = x.matrix(1, self.row)?;
        let to = out.matrix_mut(1, self.columns)?;
        stream.launch(&kernel, Grid::new(1, threads), (row, &table, to))?;
        let panic = match stream.synchronize() {
            Err(Error::KernelPanic(panic)) => Some(panic),
            other => other.map(|()| None)?,
        };
        Ok((panic, stream.download(&out)?))
    }
}

#[test]
fn rows_of_whole_warps_and_others_are_multiplied() -> Result<()> {
    let f = fixture();
    for threads in [1, 7, 31, 32, 33, 40, 64] {
        for columns in [0, 1, 31, 32, 33, 64, 96, 100, 127, 128, 129, 160, 260] {
            for longer in [0, 1, 40] {
                let row = Row {
                    row: columns + longer,
                    table: columns + 40 - longer,
                    columns,
                };
                let (panic, out) = row.multiplied(f, threads)?;
                let expected: Vec<u32> = numbers(columns).iter().map(|n| n * n).collect();
                assert!(panic.is_none(), "{threads} threads, {columns} columns");
                assert_eq!(out, expected, "{threads} threads, {columns} columns");
            }
        }
    }
    Ok(())
}

#[test]
fn a_column_that_a_table_does_not_have_is_told_and_those_before_are_written() -> Result<()> {
    let f = Fixture::open()?;
    for (threads, columns) in [(1, 5), (7, 30), (32, 2), (32, 33), (32, 200), (40, 200)] {
        for length in [0, 1, columns / 2, columns - 1] {
            let [row, table] = [(columns, length), (length, columns)][length % 2].into();
            let of = Row {
                row,
                table,
                columns,
            };
            let (panic, out) = of.multiplied(&f, threads)?;
            let Some(panic) = panic else {
                panic!("no panic: {threads} threads, {length} of {columns} columns");
            };
            let thread = panic.thread[0] as usize;
            let mut own = (thread..columns).step_by(threads.min(32) as usize);
            let first = own.find(|column| *column >= length);
            let first = first.expect("only threads panic whose columns are not there");
            let message =
                format!("index out of bounds: the len is {length} but the index is {first}");
            assert!(panic.message.contains(&message), "{}", panic.message);
            let product = |column: usize| numbers(column + 1)[column].pow(2);
            for (column, &out) in out.iter().enumerate() {
                let is_own = column % threads.min(32) as usize == thread;
                let is_written = out == product(column) && column < length;
                assert!(is_written || out == 0 && !(is_own && column < first));
            }
        }
    }
    Ok(())
}

/// The numbers of the two places at which the kernel panics.
#[test]
fn the_number_of_a_place_is_known_where_its_check_fails_alone() {
    let all = instructions(SM_90, "writes_before_panics");
    let end = all.iter().position(|line| line == "ret").unwrap();
    for number in ["mov.b32 %r, 0", "mov.b32 %r, 1"] {
        let has = |part: &[String]| part.iter().any(|line| line == number);
        assert!(!has(&all[..end]) && has(&all[end..]), "{all:#?}");
    }
}

/// The sum of what is looked up, and the length and place of the first part that a table does not have.
fn sum_of_turns(x: &[u32], bytes: &[u32], few: &[u32]) -> (u32, Option<(usize, usize)>) {
    let mut sum = 0;
    for &word in x {
        let beyond = std::cell::Cell::new(None);
        let read = |table: &[u32], place| {
            table.get(place).copied().unwrap_or_else(|| {
                beyond.set(beyond.get().or(Some((table.len(), place))));
                0
            })
        };
        let next = kernels::turn(sum, word, |i| read(bytes, i), |i| read(few, i));
        if beyond.get().is_some() {
            return (sum, beyond.get());
        }
        sum = next;
    }
    (sum, None)
}

/// Tables that have all that can be asked for, all that is, or neither: of each the rounds before the one that panics are made.
#[test]
fn parts_that_tables_do_not_have_are_told_and_those_before_are_looked_up() -> Result<()> {
    let f = Fixture::open()?;
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::looks_up_by_turns)?;
    let word = |i: u32| i.wrapping_mul(0x9e37_79b9) ^ i >> 3;
    let table = numbers(300);
    let (mut panics, mut sums) = (0, 0);
    for length in [0, 1, 2, 7, 40] {
        for (bytes, few) in [0, 1, 100, 250, 255, 256, 300]
            .into_iter()
            .flat_map(|bytes| [0, 10, 11, 15, 16, 17].map(|few| (bytes, few)))
        {
            let words: Vec<u32> = (1..=length).map(word).collect();
            let (bytes, few) = (&table[..bytes], &table[..few]);
            let (expected, beyond) = sum_of_turns(&words, bytes, few);
            let mut out = stream.zeroed::<u32>(1)?;
            let tables = (stream.upload(bytes)?, stream.upload(few)?);
            let arguments = (&stream.upload(&words)?, &tables.0, &tables.1, &mut out);
            stream.launch(&kernel, Grid::new(1, 1), arguments)?;
            match (beyond, stream.synchronize()) {
                (None, found) => {
                    found?;
                    sums += 1;
                }
                (Some((length, place)), Err(Error::KernelPanic(panic))) => {
                    let message = format!(
                        "index out of bounds: the len is {length} but the index is {place}"
                    );
                    assert!(panic.message.contains(&message), "{}", panic.message);
                    panics += 1;
                }
                (Some(_), _) => panic!("no panic of tables of {} and {}", bytes.len(), few.len()),
            }
            assert_eq!(stream.download(&out)?, [expected]);
        }
    }
    assert!(panics > 50 && sums > 50, "{panics} {sums}");
    Ok(())
}

/// What is left of a walk along edges: the least lengths, the rounds that were begun, and the length and place that were asked for in vain.
type Walk = (Vec<u32>, u32, Option<(usize, usize)>);

/// What [`kernels::relaxes`] does with one thread's edges, of which `mask` is taken of places in `lengths`.
fn walk(edges: &[[u32; 2]], end: usize, lengths: &[u32], mask: usize, least: usize) -> Walk {
    let mut least = vec![u32::MAX; least];
    for i in 0..end {
        let rounds = i as u32 + 1;
        let Some(&[to, length]) = edges.get(i) else {
            return (least, rounds, Some((edges.len(), i)));
        };
        let Some(&limit) = lengths.get(to as usize & mask) else {
            return (least, rounds, Some((lengths.len(), to as usize & mask)));
        };
        if length < limit {
            let count = least.len();
            let Some(found) = least.get_mut(to as usize) else {
                return (least, rounds, Some((count, to as usize)));
            };
            *found = length.min(*found);
        }
    }
    (least, end as u32, None)
}

fn is_left_so(found: Result<()>, expected: Option<(usize, usize)>) -> Result<()> {
    match (expected, found) {
        (None, found) => found,
        (Some((length, place)), Err(Error::KernelPanic(panic))) => {
            let message =
                format!("index out of bounds: the len is {length} but the index is {place}");
            assert!(panic.message.contains(&message), "{}", panic.message);
            Ok(())
        }
        (Some(place), _) => panic!("no panic of {place:?}"),
    }
}

/// Rounds whose loads are made before the rounds themselves: what a round does before the next one panics is done, what a later one would do is not, and
/// the first panic is told, whether it is of what is loaded early or not.
#[test]
fn rounds_before_a_panic_are_made_and_those_behind_it_are_not() -> Result<()> {
    let f = Fixture::open()?;
    let stream = f.stream();
    let kernel = f.module.kernel(kernels::relaxes)?;
    let by_index = f.module.kernel(kernels::relaxes_by_index)?;
    let lengths: Vec<u32> = (0..40).map(|i| i * 7 % 19 * 50).collect();
    for count in (0..14).chain([23, 24]) {
        let edges: Vec<[u32; 2]> = (0..count)
            .map(|i| [i * i * 5 % 16, i * 131 % 700])
            .collect();
        // Beyond one, beyond the other, and beyond both, in each round; the last place is of none.
        for (place, beyond) in (0..=count as usize).flat_map(|p| [15, 40, u32::MAX].map(|b| (p, b)))
        {
            let mut edges = edges.clone();
            if let Some(edge) = edges.get_mut(place) {
                *edge = [beyond, 0];
            }
            if let Some(edge) = edges.get_mut(place + 2) {
                edge[0] = 39;
            }
            let inputs = (stream.upload(&edges)?, stream.upload(&lengths)?);
            let starts = stream.upload(&[0, count])?;
            let (left, rounds, panic) = walk(&edges, edges.len(), &lengths, usize::MAX, 30);
            let mut least = stream.upload(&[u32::MAX; 30])?;
            let mut begun = stream.zeroed::<u32>(1)?;
            let arguments = (&starts, &inputs.0, &inputs.1, &mut least, &mut begun);
            stream.launch(&kernel, Grid::new(1, 1), arguments)?;
            is_left_so(stream.synchronize(), panic)?;
            assert_eq!(stream.download(&least)?, left, "{count} {place} {beyond}");
            assert_eq!(
                stream.download(&begun)?,
                [rounds],
                "{count} {place} {beyond}"
            );

            // To an end behind the edges: none of those is read.
            let end = edges.len() + place % 5;
            let (left, rounds, panic) = walk(&edges, end, &lengths, 15, 30);
            let mut least = stream.upload(&[u32::MAX; 30])?;
            let mut begun = stream.zeroed::<u32>(1)?;
            let arguments = (0, end, &inputs.0, &inputs.1, &mut least, &mut begun);
            stream.launch(&by_index, Grid::new(1, 1), arguments)?;
            is_left_so(stream.synchronize(), panic)?;
            assert_eq!(stream.download(&least)?, left, "{count} {place} {beyond}");
            assert_eq!(
                stream.download(&begun)?,
                [rounds],
                "{count} {place} {beyond}"
            );
        }
    }
    Ok(())
}
