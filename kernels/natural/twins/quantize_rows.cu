// out = each row of x divided by its scale and rounded, so that its largest element becomes 127 or -127; a warp a row.
extern "C" __global__ void quantize_rows(const float* __restrict__ x, unsigned rows, unsigned columns, unsigned stride,
                                         float* __restrict__ scales, size_t scales_len, signed char* __restrict__ out, unsigned out_rows,
                                         unsigned out_columns, unsigned out_stride) {
    const int lane = threadIdx.x % 32;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= out_rows) return;
    const float* from = x + (size_t)row * stride;
    signed char* to = out + (size_t)row * out_stride;
    float largest = 0.0f;
    for (int i = lane; i < columns; i += 32) largest = fmaxf(largest, fabsf(from[i]));
    for (int offset = 16; offset > 0; offset /= 2) largest = fmaxf(largest, __shfl_xor_sync(0xffffffff, largest, offset));
    const float inverse = largest > 0.0f ? 127.0f / largest : 0.0f;
    for (int i = lane; i < columns; i += 32) to[i] = (signed char)rintf(from[i] * inverse);
    if (lane == 0) scales[row] = largest / 127.0f;
}
