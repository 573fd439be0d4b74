// output := input correlated with a 7 x 7 filter, zero outside. Twin of kernels/src/convolution.rs: 64 x 64 results a
// block of 256 threads, 4 x 4 a thread; the filter is a by-value parameter, so it lies in constant memory.
struct Filter {
    float weights[49];
};

extern "C" __global__ void __launch_bounds__(256, 6)
convolution(const float* __restrict__ input, unsigned rows, unsigned cols, unsigned stride,
            const __grid_constant__ Filter filter,
            float* __restrict__ output, unsigned out_rows, unsigned out_cols, unsigned out_stride) {
    __shared__ float4 tile[70 * 18];  // rows -3 .. 67, columns -4 .. 68 around the block's results
    const unsigned t = threadIdx.x;
    const int row0 = static_cast<int>(blockIdx.y * 64) - 3, col0 = static_cast<int>(blockIdx.x * 64) - 4;
    for (unsigned i = t; i < 70 * 18; i += 256) {
        const int row = row0 + static_cast<int>(i / 18), col = col0 + static_cast<int>(i % 18) * 4;
        float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (static_cast<unsigned>(row) < rows) {
            const float* at = input + static_cast<long long>(row) * stride + col;
            if ((stride & 3) == 0 && col >= 0 && static_cast<unsigned>(col) + 4 <= cols) {
                v = *reinterpret_cast<const float4*>(at);
            } else {
                if (static_cast<unsigned>(col) < cols) v.x = at[0];
                if (static_cast<unsigned>(col + 1) < cols) v.y = at[1];
                if (static_cast<unsigned>(col + 2) < cols) v.z = at[2];
                if (static_cast<unsigned>(col + 3) < cols) v.w = at[3];
            }
        }
        tile[i] = v;
    }
    __syncthreads();
    const unsigned tx = t & 15, ty = t >> 4;
    float acc[4][4] = {};
#pragma unroll
    for (int r = 0; r < 10; ++r) {
        const float4* at = tile + (ty * 4 + r) * 18 + tx;
        const float4 a = at[0], b = at[1], c = at[2];
        const float x[12] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            if (r - i < 0 || r - i >= 7) continue;
#pragma unroll
            for (int f = 0; f < 7; ++f)
#pragma unroll
                for (int j = 0; j < 4; ++j) acc[i][j] += filter.weights[(r - i) * 7 + f] * x[j + f + 1];
        }
    }
    const unsigned col = blockIdx.x * 64 + tx * 4;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned row = blockIdx.y * 64 + ty * 4 + i;
        if (row >= out_rows) continue;
        float* at = output + static_cast<size_t>(row) * out_stride + col;
        if ((out_stride & 3) == 0 && col + 4 <= out_cols) {
            *reinterpret_cast<float4*>(at) = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
        } else {
#pragma unroll
            for (unsigned j = 0; j < 4; ++j)
                if (col + j < out_cols) at[j] = acc[i][j];
        }
    }
}
