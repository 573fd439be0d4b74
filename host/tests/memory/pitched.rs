//! Matrices with padded rows, and copies of rectangles between all kinds of memory.

use crate::common::gpu;
use warpsmith_host::prelude::*;
use warpsmith_testkit::Random;

fn numbers(count: usize) -> Vec<u32> {
    (0..count as u32)
        .map(|i| i.wrapping_mul(2_654_435_761))
        .collect()
}

// covers: MEM-04
#[test]
fn rows_begin_at_multiples_of_512_bytes() -> Result<()> {
    fn check<T: bytemuck::Pod + PartialEq + std::fmt::Debug>(
        stream: &Stream,
        value: T,
        pitch: usize,
    ) -> Result<()> {
        for (rows, columns) in [(1, 1), (3, 65), (7, 0), (0, 7), (64, 64)] {
            let mut buffer = stream.pitched_zeroed::<T>(rows, columns)?;
            assert_eq!((buffer.rows(), buffer.columns()), (rows, columns));
            assert_eq!(buffer.pitch() % pitch, 0);
            assert!(buffer.pitch() >= columns * size_of::<T>());
            assert_eq!(buffer.as_device_ptr().address() % 256, 0);
            let zeros = vec![T::zeroed(); rows * columns];
            assert_eq!(stream.download_matrix(&buffer.matrix())?, zeros);
            let values = vec![value; rows * columns];
            stream.upload_matrix(&values, &mut buffer.matrix_mut())?;
            assert_eq!(stream.download_matrix(&buffer.matrix())?, values);
            let again = stream.pitched_upload(&values, rows, columns)?;
            assert_eq!(stream.download_matrix(&again.matrix())?, values);
        }
        Ok(())
    }
    let gpu = gpu();
    let stream = gpu.stream()?;
    check(&stream, 7_u8, 512)?;
    check(&stream, 1.5_f32, 512)?;
    check(&stream, [1.0_f32, 2.0, 3.0], 1536)?;
    check(&stream, u128::MAX, 512)
}

/// Each copy is made on the host, too.
// covers: MEM-06, EX1-07
#[test]
fn rectangles_go_between_all_kinds_of_memory() -> Result<()> {
    const ROWS: usize = 9;
    const COLUMNS: usize = 13;
    const STRIDE: usize = 17;
    let gpu = gpu();
    let (stream, other) = (gpu.stream()?, gpu.stream()?);
    let start = numbers(ROWS * STRIDE);
    // Rows with gaps that belong to the test, and rows with the driver's.
    let mut plain = stream.upload(&start)?;
    let mut padded = stream.pitched_zeroed::<u32>(ROWS, COLUMNS)?;
    let (mut plain_model, mut padded_model) = (start, vec![0; ROWS * COLUMNS]);
    let mut random = Random::new(8);
    for round in 0..200 {
        let rows = 1 + random.index(ROWS);
        let columns = 1 + random.index(COLUMNS);
        let mut at = || {
            (
                random.index(ROWS - rows + 1),
                random.index(COLUMNS - columns + 1),
            )
        };
        let ((from_row, from_column), (to_row, to_column)) = (at(), at());
        let from_rows = from_row..from_row + rows;
        let from_columns = from_column..from_column + columns;
        let to_rows = to_row..to_row + rows;
        let to_columns = to_column..to_column + columns;
        let stream = [&stream, &other][random.index(2)];
        match random.below(4) {
            0 => {
                let from = plain.matrix_with_stride(ROWS, COLUMNS, STRIDE)?;
                let from = from.region(from_rows, from_columns);
                let mut to = padded.matrix_mut();
                stream.copy_matrix(&from, &mut to.region_mut(to_rows, to_columns))?;
                for row in 0..rows {
                    let from = (from_row + row) * STRIDE + from_column;
                    let to = (to_row + row) * COLUMNS + to_column;
                    padded_model[to..to + columns]
                        .copy_from_slice(&plain_model[from..from + columns]);
                }
            }
            1 => {
                let mut to = plain.matrix_mut_with_stride(ROWS, COLUMNS, STRIDE)?;
                let from = padded.matrix();
                stream.copy_matrix(
                    &from.region(from_rows, from_columns),
                    &mut to.region_mut(to_rows, to_columns),
                )?;
                for row in 0..rows {
                    let from = (from_row + row) * COLUMNS + from_column;
                    let to = (to_row + row) * STRIDE + to_column;
                    plain_model[to..to + columns]
                        .copy_from_slice(&padded_model[from..from + columns]);
                }
            }
            2 => {
                let data: Vec<u32> = (0..rows * STRIDE).map(|_| random.below(u32::MAX)).collect();
                let mut to = padded.matrix_mut();
                let mut to = to.region_mut(to_rows, to_columns);
                stream.upload_matrix_with_stride(&data, STRIDE, &mut to)?;
                for row in 0..rows {
                    let to = (to_row + row) * COLUMNS + to_column;
                    padded_model[to..to + columns]
                        .copy_from_slice(&data[row * STRIDE..][..columns]);
                }
            }
            _ => {
                // Through page-locked memory, there and back.
                let mut pinned = gpu.pinned::<u32>(rows * columns)?;
                let from = plain.matrix_with_stride(ROWS, COLUMNS, STRIDE)?;
                let from = from.region(from_rows, from_columns);
                stream.copy_matrix_to_host(&from, &mut pinned)?;
                let mut to = padded.matrix_mut();
                let mut to = to.region_mut(to_rows, to_columns);
                stream.copy_matrix_from_host(&pinned, &mut to)?;
                for row in 0..rows {
                    let from = (from_row + row) * STRIDE + from_column;
                    let to = (to_row + row) * COLUMNS + to_column;
                    padded_model[to..to + columns]
                        .copy_from_slice(&plain_model[from..from + columns]);
                }
            }
        }
        assert_eq!(
            stream.download_matrix(&padded.matrix())?,
            padded_model,
            "{round}"
        );
        assert_eq!(stream.download(&plain)?, plain_model, "{round}");
    }
    // What lies between the host's rows stays as it is.
    let mut rows = vec![5_u32; 2 * STRIDE];
    let corner = padded.matrix().region(0..2, 0..3);
    stream.download_matrix_into(&corner, &mut rows, STRIDE)?;
    assert_eq!(rows[..3], padded_model[..3]);
    assert_eq!(rows[3..STRIDE], [5; STRIDE - 3]);
    assert_eq!(rows[STRIDE..STRIDE + 3], padded_model[COLUMNS..COLUMNS + 3]);
    assert_eq!(rows[STRIDE + 3..], [5; STRIDE - 3]);
    Ok(())
}

// covers: MEM-05
#[test]
fn volumes_are_layers_of_padded_rows() -> Result<()> {
    const DEPTH: usize = 3;
    const ROWS: usize = 5;
    const COLUMNS: usize = 65;
    let gpu = gpu();
    let stream = gpu.stream()?;
    let values = numbers(DEPTH * ROWS * COLUMNS);
    let mut volume = stream.pitched_volume_upload(&values, DEPTH, ROWS, COLUMNS)?;
    assert_eq!(
        (volume.depth(), volume.rows(), volume.columns()),
        (DEPTH, ROWS, COLUMNS)
    );
    assert_eq!((volume.pitch(), volume.slice_pitch()), (512, ROWS * 512));
    assert_eq!(stream.download_matrix(&volume.matrix())?, values);
    for z in 0..DEPTH {
        let layer = &values[z * ROWS * COLUMNS..][..ROWS * COLUMNS];
        assert_eq!(stream.download_matrix(&volume.layer(z))?, layer);
    }
    // A layer by itself, and what lies beside it stays.
    stream.upload_matrix(&[7; ROWS * COLUMNS], &mut volume.layer_mut(1))?;
    let mut expected = values.clone();
    expected[ROWS * COLUMNS..][..ROWS * COLUMNS].fill(7);
    assert_eq!(stream.download_matrix(&volume.matrix())?, expected);
    let mut whole = stream.zeroed::<u32>(COLUMNS * ROWS)?;
    let mut layer = whole.matrix_mut(ROWS, COLUMNS)?;
    stream.copy_matrix(&volume.layer(2), &mut layer)?;
    assert_eq!(stream.download(&whole)?, expected[2 * ROWS * COLUMNS..]);
    let empty = stream.pitched_volume_zeroed::<u32>(0, ROWS, COLUMNS)?;
    assert_eq!(stream.download_matrix(&empty.matrix())?, [0; 0]);
    assert!(
        stream
            .pitched_volume_zeroed::<u32>(usize::MAX, 2, 2)
            .is_err()
    );
    let outside = || volume.layer(DEPTH).rows();
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(outside)).unwrap_err();
    Ok(())
}

#[test]
fn a_captured_copy_is_a_node() -> Result<()> {
    let gpu = gpu();
    let mut stream = gpu.stream()?;
    let from = stream.pitched_upload(&numbers(12), 3, 4)?;
    let mut to = stream.zeroed::<u32>(12)?;
    let mut ones = stream.zeroed::<u32>(4)?;
    let graph = stream.capture(|capture| {
        capture.copy_matrix(&from.matrix(), &mut to.matrix_mut(3, 4)?)?;
        // A wait cannot be captured.
        let refused = capture.download_matrix(&from.matrix()).unwrap_err();
        assert!(refused.to_string().contains("captured"), "{refused}");
        // Memory with padded rows is the graph's.
        let scratch = capture.pitched_upload(&[1; 4], 2, 2)?;
        capture.copy_matrix(&scratch.matrix(), &mut ones.matrix_mut(2, 2)?)
    })?;
    assert_eq!(stream.download(&to)?, [0; 12]);
    let mut graph = graph.instantiate()?;
    graph.launch(&stream)?;
    assert_eq!(stream.download(&to)?, numbers(12));
    assert_eq!(stream.download(&ones)?, [1; 4]);
    Ok(())
}

#[test]
fn what_does_not_fit_is_named() -> Result<()> {
    let gpu = gpu();
    let stream = gpu.stream()?;
    let from = stream.pitched_upload(&numbers(12), 3, 4)?;
    let mut to = stream.pitched_zeroed::<u32>(4, 3)?;
    let text = |result: Result<()>| result.unwrap_err().to_string();
    let differ = text(stream.copy_matrix(&from.matrix(), &mut to.matrix_mut()));
    assert!(
        differ.contains("3 x 4 elements and the destination 4 x 3"),
        "{differ}"
    );
    assert!(differ.contains("`region`"), "{differ}");
    let short = text(stream.upload_matrix(&[1; 11], &mut to.matrix_mut()));
    assert!(
        short.contains("4 x 3 = 12 elements, the host's memory 11"),
        "{short}"
    );
    let narrow = text(stream.upload_matrix_with_stride(&[1; 100], 2, &mut to.matrix_mut()));
    assert!(
        narrow.contains("a stride of 2 is less than 3 columns"),
        "{narrow}"
    );
    // The last row of four ends at 3 * 5 + 3.
    let mut rows = [0; 18];
    stream.download_matrix_into(&to.matrix(), &mut rows, 5)?;
    let short = text(stream.download_matrix_into(&to.matrix(), &mut rows[..17], 5));
    assert!(
        short.contains("needs 18 elements, the memory has 17"),
        "{short}"
    );
    let pinned = gpu.pinned::<u32>(11)?;
    let short = text(stream.copy_matrix_from_host(&pinned, &mut to.matrix_mut()));
    assert!(
        short.contains("12 elements, the host's memory 11"),
        "{short}"
    );
    let wide = stream
        .pitched_zeroed::<u8>(1, 1 << 32)
        .unwrap_err()
        .to_string();
    assert!(wide.contains("does not fit in 32 bits"), "{wide}");
    let endless = stream
        .pitched_zeroed::<u8>(2, usize::MAX)
        .unwrap_err()
        .to_string();
    assert!(endless.contains("more than an address space"), "{endless}");
    for (rows, columns) in [(2..5, 0..1), (0..1, 1..4), (4..5, 0..0)] {
        let region = || to.matrix().region(rows.clone(), columns.clone()).rows();
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(region)).unwrap_err();
    }
    Ok(())
}

/// A matrix is filled, and what lies beside it stays, whatever the width of the value.
// covers: MEM-18
#[test]
fn rectangles_are_filled() -> Result<()> {
    fn filled<T: bytemuck::Pod + PartialEq + std::fmt::Debug>(
        stream: &Stream,
        background: T,
        value: T,
    ) -> Result<()> {
        for (rows, columns) in [(1, 1), (5, 1), (1, 6), (5, 6), (7, 9), (0, 3), (3, 0)] {
            let mut buffer = stream.filled(7 * 9, background)?;
            let mut matrix = buffer.matrix_mut(7, 9)?;
            let (first_row, first_column) = (7 - rows, 9 - columns);
            let mut part = matrix.region_mut(first_row..7, first_column..9);
            stream.fill_matrix(&mut part, value)?;
            for (index, element) in stream.download(&buffer)?.into_iter().enumerate() {
                let inside = index / 9 >= first_row && index % 9 >= first_column;
                let expected = if inside { value } else { background };
                assert_eq!(element, expected, "{rows} x {columns}: {index}");
            }
        }
        Ok(())
    }
    let gpu = gpu();
    let stream = gpu.stream()?;
    filled(&stream, 1_u8, 2)?;
    filled(&stream, 1_u16, 0x0203)?;
    filled(&stream, 1.0_f32, 2.5)?;
    filled(&stream, 1_u64, 0x0101_0101_0101_0101)?;
    filled(&stream, 1.0_f64, 2.1)?;
    filled(&stream, [1_u16; 3], [1, 2, 3])?;

    let mut padded = stream.pitched_zeroed::<f32>(3, 5)?;
    stream.fill_matrix(&mut padded.matrix_mut(), 1.5)?;
    assert_eq!(stream.download_matrix(&padded.matrix())?, [1.5; 15]);
    Ok(())
}
