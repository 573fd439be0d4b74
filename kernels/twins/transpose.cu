// dst := transpose of src. Twin of kernels/src/transpose.rs: 64 x 64 tiles through shared memory, 16-byte
// accesses on both sides, an XOR swizzle of the 16-byte columns instead of padding.
extern "C" __global__ void __launch_bounds__(256)
transpose(const float* __restrict__ src, unsigned rows, unsigned cols, unsigned src_stride,
          float* __restrict__ dst, unsigned dst_rows, unsigned dst_cols, unsigned dst_stride) {
    __shared__ float4 tile[64 * 16];
    const unsigned t = threadIdx.x;
    const unsigned row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    const bool vectors = ((rows | cols | src_stride | dst_stride) & 3) == 0;
    if (vectors) {
        const unsigned chunk = t & 15, col = col0 + chunk * 4;
        float4 four[4];
#pragma unroll
        for (unsigned pass = 0; pass < 4; ++pass) {
            const unsigned row = row0 + pass * 16 + (t >> 4);
            four[pass] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (row < rows && col < cols)
                four[pass] = *reinterpret_cast<const float4*>(src + static_cast<size_t>(row) * src_stride + col);
        }
#pragma unroll
        for (unsigned pass = 0; pass < 4; ++pass) {
            const unsigned r = pass * 16 + (t >> 4);
            tile[r * 16 + (chunk ^ ((r >> 2) & 7))] = four[pass];
        }
    } else {
        float* cells = reinterpret_cast<float*>(tile);
        const unsigned c = t & 63, col = col0 + c;
        for (unsigned pass = 0; pass < 16; ++pass) {
            const unsigned r = pass * 4 + (t >> 6), row = row0 + r;
            if (row < rows && col < cols) {
                cells[(r * 16 + ((c >> 2) ^ ((r >> 2) & 7))) * 4 + (c & 3)] =
                    src[static_cast<size_t>(row) * src_stride + col];
            }
        }
    }
    __syncthreads();
    const float* cells = reinterpret_cast<const float*>(tile);
    if (vectors) {
        const unsigned lane = t & 31, warp = t >> 5;
#pragma unroll
        for (unsigned pass = 0; pass < 4; ++pass) {
            const unsigned group = lane & 15, c = (pass * 8 + warp) * 2 + (lane >> 4);
            const unsigned row = row0 + group * 4, col = col0 + c;
            if (row < rows && col < cols) {
                const float* cell = cells + group * 256 + ((c >> 2) ^ (group & 7)) * 4 + (c & 3);
                *reinterpret_cast<float4*>(dst + static_cast<size_t>(col) * dst_stride + row) =
                    make_float4(cell[0], cell[64], cell[128], cell[192]);
            }
        }
    } else {
        const unsigned r = t & 63, row = row0 + r;
        for (unsigned pass = 0; pass < 16; ++pass) {
            const unsigned c = pass * 4 + (t >> 6), col = col0 + c;
            if (row < rows && col < cols) {
                dst[static_cast<size_t>(col) * dst_stride + row] =
                    cells[(r * 16 + ((c >> 2) ^ ((r >> 2) & 7))) * 4 + (c & 3)];
            }
        }
    }
}
