//! Matrices, volumes and pitched memory.

use warpsmith_host::CopyBatch;

use crate::row::{Row, rows};

const TOO_MANY: usize = u32::MAX as usize + 1;

pub fn rows() -> Vec<Row> {
    rows! {
        "DeviceSlice::matrix", "more elements than the part has" => Invalid, |w| w.words.slice(1..).matrix(8, 8);
        "DeviceSlice::matrix", "more rows than 32 bits count" => Invalid, |w| w.words.slice(..).matrix(TOO_MANY, 0);
        "DeviceSlice::matrix_with_stride", "rows that overlap" => Invalid, |w| w.words.slice(..).matrix_with_stride(8, 8, 7);
        "DeviceSlice::matrix_with_stride", "a product that overflows" => Invalid, |w| w.words.slice(..).matrix_with_stride(TOO_MANY - 1, 1, TOO_MANY - 1);
        "DeviceSliceMut::matrix_mut", "more elements than the part has" => Invalid, |w| w.words.slice_mut(1..).matrix_mut(8, 8);
        "DeviceSliceMut::matrix_mut_with_stride", "rows that overlap" => Invalid, |w| w.words.slice_mut(..).matrix_mut_with_stride(8, 8, 7);
        "DeviceSliceMut::volume_mut", "more elements than the part has" => Invalid, |w| w.words.slice_mut(1..).volume_mut(4, 4, 4);
        "DeviceSliceMut::volume_mut", "more layers than 32 bits count" => Invalid, |w| w.words.slice_mut(..).volume_mut(TOO_MANY, 0, 0);
        "DeviceSliceMut::volume_mut", "a product that overflows" => Invalid, |w| w.words.slice_mut(..).volume_mut(TOO_MANY - 1, TOO_MANY - 1, TOO_MANY - 1);
        "DeviceSliceMut::volume_mut_with_stride", "rows that overlap" => Invalid, |w| w.words.slice_mut(..).volume_mut_with_stride(2, 4, 4, 3);
        "whole_buffer::matrix", "one element too many" => Invalid, |w| w.words.matrix(5, 13);
        "whole_buffer::matrix_with_stride", "a stride of 0" => Invalid, |w| w.words.matrix_with_stride(4, 4, 0);
        "whole_buffer::matrix_mut", "one element too many" => Invalid, |w| w.words.matrix_mut(5, 13);
        "whole_buffer::matrix_mut_with_stride", "a stride of 0" => Invalid, |w| w.words.matrix_mut_with_stride(4, 4, 0);
        "whole_buffer::volume_mut", "one element too many" => Invalid, |w| w.words.volume_mut(1, 5, 13);
        "whole_buffer::volume_mut_with_stride", "a stride of 0" => Invalid, |w| w.words.volume_mut_with_stride(1, 4, 4, 0);
        "Stream::pitched_zeroed", "more bytes than an address space" => Invalid, |w| w.stream.pitched_zeroed::<u64>(TOO_MANY - 1, TOO_MANY - 1);
        "Stream::pitched_zeroed", "columns that overflow" => Invalid, |w| w.stream.pitched_zeroed::<u64>(1, usize::MAX);
        "Stream::pitched_zeroed", "more rows than 32 bits count" => Invalid, |w| w.stream.pitched_zeroed::<u32>(TOO_MANY, 0);
        "Stream::pitched_upload", "fewer elements" => Invalid, |w| w.stream.pitched_upload(&[1_u32; 63], 8, 8);
        "Stream::pitched_upload", "a product that overflows" => Invalid, |w| w.stream.pitched_upload(&[0_u32; 0], 1 << 33, 1 << 31);
        "Stream::pitched_volume_zeroed", "more bytes than an address space" => Invalid, |w| w.stream.pitched_volume_zeroed::<u64>(1, TOO_MANY - 1, TOO_MANY - 1);
        "Stream::pitched_volume_zeroed", "more rows of all layers than 32 bits count" => Invalid, |w| w.stream.pitched_volume_zeroed::<u32>(1 << 17, 1 << 16, 1);
        "Stream::pitched_volume_zeroed", "layers that overflow" => Invalid, |w| w.stream.pitched_volume_zeroed::<u32>(usize::MAX, 2, 1);
        "Stream::pitched_volume_upload", "fewer elements" => Invalid, |w| w.stream.pitched_volume_upload(&[1_u32; 63], 4, 4, 4);
        "Stream::upload_matrix", "fewer elements" => Invalid, |w| w.stream.upload_matrix(&[1; 63], &mut w.words.matrix_mut(8, 8)?);
        "Stream::upload_matrix_with_stride", "a stride that is less than the columns" => Invalid, |w| w.stream.upload_matrix_with_stride(&[1; 64], 7, &mut w.words.matrix_mut(8, 8)?);
        "Stream::upload_matrix_with_stride", "a last row that is not there" => Invalid, |w| w.stream.upload_matrix_with_stride(&[1; 77], 10, &mut w.words.matrix_mut(8, 8)?);
        "Stream::download_matrix_into", "fewer elements" => Invalid, |w| w.stream.download_matrix_into(&w.words.matrix(8, 8)?, &mut [0; 63], 8);
        "Stream::download_matrix_into", "a stride that overflows" => Invalid, |w| w.stream.download_matrix_into(&w.words.matrix(8, 8)?, &mut [0; 64], usize::MAX);
        "Stream::download_matrix", "memory of a graph" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            w.stream.download_matrix(&graph.zeroed::<u32>(64)?.matrix(8, 8)?)
        };
        "Stream::copy_matrix", "another shape" => Invalid, |w| {
            let from = w.stream.filled(64, 7_u32)?;
            w.stream.copy_matrix(&from.matrix(4, 16)?, &mut w.words.matrix_mut(16, 4)?)
        };
        "Stream::copy_matrix", "one row fewer" => Invalid, |w| {
            let from = w.stream.filled(64, 7_u32)?;
            w.stream.copy_matrix(&from.matrix(7, 8)?, &mut w.words.matrix_mut(8, 8)?)
        };
        "Stream::copy_matrix_from_host", "fewer elements" => Invalid, |w| w.stream.copy_matrix_from_host(&w.pinned.slice(1..), &mut w.words.matrix_mut(8, 8)?);
        "Stream::copy_matrix_to_host", "fewer elements" => Invalid, |w| w.stream.copy_matrix_to_host(&w.words.matrix(8, 8)?, &mut w.pinned.slice_mut(1..));
        "Stream::fill_matrix", "memory of a graph" => Invalid, |w| {
            let mut graph = w.gpu.graph()?;
            w.stream.fill_matrix(&mut graph.zeroed::<u32>(64)?.matrix_mut(8, 8)?, 1)
        };
        "CopyBatch::copy_matrix", "another shape" => Invalid, |w| {
            let from = w.stream.filled(64, 7_u32)?;
            CopyBatch::new().copy_matrix(&from.matrix(4, 16)?, &mut w.words.matrix_mut(16, 4)?)
        };
        "CopyBatch::copy_matrix_from_host", "fewer elements" => Invalid, |w| {
            CopyBatch::new().copy_matrix_from_host(&w.pinned.slice(1..), &mut w.words.matrix_mut(8, 8)?)
        };
        "CopyBatch::copy_matrix_to_host", "fewer elements" => Invalid, |w| {
            CopyBatch::new().copy_matrix_to_host(&w.words.matrix(8, 8)?, &mut w.pinned.slice_mut(1..))
        };
    }
}

pub fn far_rows() -> Vec<Row> {
    rows! {
        "Stream::upload_matrix", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.upload_matrix(&[1; 64], &mut far.words.matrix_mut(8, 8)?)
        };
        "Stream::upload_matrix_with_stride", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.upload_matrix_with_stride(&[1; 80], 10, &mut far.words.matrix_mut(8, 8)?)
        };
        "Stream::download_matrix", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.download_matrix(&far.words.matrix(8, 8)?)
        };
        "Stream::download_matrix_into", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.download_matrix_into(&far.words.matrix(8, 8)?, &mut [0; 64], 8)
        };
        "Stream::copy_matrix", "from another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.copy_matrix(&far.words.matrix(8, 8)?, &mut near.words.matrix_mut(8, 8)?)
        };
        "Stream::copy_matrix_from_host", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.copy_matrix_from_host(near.pinned, &mut far.words.matrix_mut(8, 8)?)
        };
        "Stream::copy_matrix_to_host", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.copy_matrix_to_host(&far.words.matrix(8, 8)?, near.pinned)
        };
        "Stream::fill_matrix", "memory of another device" => Invalid, |w| {
            let (near, far) = w.both();
            near.stream.fill_matrix(&mut far.words.matrix_mut(8, 8)?, 7)
        };
    }
}
