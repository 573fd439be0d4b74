// out = each row of x (the planes of a group's channels) with mean 0 and variance 1, then scaled and moved by channel; a block a row.
extern "C" __global__ void __launch_bounds__(256)
group_norm(const float* __restrict__ x, unsigned rows, unsigned columns, unsigned stride, size_t channels, const float* __restrict__ scales,
           size_t scales_len, const float* __restrict__ offsets, size_t offsets_len, float* __restrict__ out, unsigned out_rows,
           unsigned out_columns, unsigned out_stride) {
    __shared__ float2 partial[256];
    const int t = threadIdx.x, row = blockIdx.x;
    if (row >= out_rows) return;
    const int group = row % (int)(scales_len / channels);
    const int plane = columns / (int)channels;
    const float* from = x + (size_t)row * stride;
    float* to = out + (size_t)row * out_stride;
    float sum = 0.0f, squares = 0.0f;
    for (int i = t; i < columns; i += 256) {
        sum += from[i];
        squares += from[i] * from[i];
    }
    partial[t] = make_float2(sum, squares);
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (t < half) {
            partial[t].x += partial[t + half].x;
            partial[t].y += partial[t + half].y;
        }
        __syncthreads();
    }
    const float mean = partial[0].x / columns;
    const float variance = partial[0].y / columns - mean * mean;
    const float inverse = 1.0f / sqrtf(variance + 1e-5f);
    for (int i = t; i < columns; i += 256) {
        const int channel = group * (int)channels + i / plane;
        to[i] = (from[i] - mean) * inverse * scales[channel] + offsets[channel];
    }
}
