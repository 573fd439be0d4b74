//! Running sums of the rows of a picture (the first pass of an integral image), a warp a row.

use warpsmith_device::prelude::*;

/// `sums` = for each pixel the sum of its row up to it.
#[kernel]
pub fn integral_rows(picture: Matrix<u8>, mut sums: RowPerWarp<u32>) {
    let lane = warp::lane() as usize;
    if let Some(mut own) = sums.mine() {
        let row = picture.row(own.row());
        let mut places = own.strided();
        let mut carry = 0;
        for pixels in row.chunks(32) {
            let pixel = pixels.get(lane).map_or(0, |&pixel| u32::from(pixel));
            let sum = carry + warp::inclusive_scan(pixel, |a, b| a + b);
            if let Some((_column, to)) = places.next() {
                *to = sum;
            }
            carry = warp::shuffle(warp::FULL, sum, 31);
        }
    }
}
