// out = red, green and blue of each pixel of Bayer's mosaic: what it lacks is the mean of its neighbours that have it. Beyond the border the
// picture goes on as at the border.
extern "C" __global__ void demosaic(const unsigned char* __restrict__ raw, unsigned rows, unsigned columns, unsigned stride,
                                    uchar3* __restrict__ out, unsigned out_rows, unsigned out_columns, unsigned out_stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= out_rows || column >= out_columns) return;
    const int left = max(column - 1, 0), right = min(column + 1, (int)columns - 1);
    const unsigned char* here = raw + (size_t)row * stride;
    const unsigned char* above = raw + (size_t)max(row - 1, 0) * stride;
    const unsigned char* below = raw + (size_t)min(row + 1, (int)rows - 1) * stride;
    const unsigned char own = here[column];
    const int across = (here[left] + here[right]) / 2;
    const int along = (above[column] + below[column]) / 2;
    const int cross = (here[left] + here[right] + above[column] + below[column]) / 4;
    const int corners = (above[left] + above[right] + below[left] + below[right]) / 4;
    uchar3 pixel;
    switch (row % 2 * 2 + column % 2) {
        case 0: pixel = make_uchar3(own, cross, corners); break;
        case 1: pixel = make_uchar3(across, own, along); break;
        case 2: pixel = make_uchar3(along, own, across); break;
        default: pixel = make_uchar3(corners, cross, own); break;
    }
    out[(size_t)row * out_stride + column] = pixel;
}
