// out = for each query the values, weighted by the softmax of its products with the keys; a warp a query of 64 numbers.
extern "C" __global__ void attention_row(const float* __restrict__ queries, unsigned rows, unsigned columns, unsigned stride,
                                         const float* __restrict__ keys, unsigned key_rows, unsigned key_columns, unsigned key_stride,
                                         const float* __restrict__ values, unsigned value_rows, unsigned value_columns,
                                         unsigned value_stride, float scale, float* __restrict__ out, unsigned out_rows,
                                         unsigned out_columns, unsigned out_stride) {
    const int lane = threadIdx.x % 32;
    const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (row >= out_rows) return;
    const float q0 = queries[(size_t)row * stride + lane], q1 = queries[(size_t)row * stride + lane + 32];
    float max = -INFINITY, sum = 0.0f, total0 = 0.0f, total1 = 0.0f;
    for (int at = 0; at < key_rows; at++) {
        const float* key = keys + (size_t)at * key_stride;
        const float* value = values + (size_t)at * value_stride;
        float score = q0 * key[lane] + q1 * key[lane + 32];
        for (int offset = 16; offset > 0; offset /= 2) score += __shfl_xor_sync(0xffffffff, score, offset);
        score *= scale;
        const float new_max = fmaxf(score, max);
        const float kept = __expf(max - new_max), weight = __expf(score - new_max);
        sum = sum * kept + weight;
        total0 = total0 * kept + weight * value[lane];
        total1 = total1 * kept + weight * value[lane + 32];
        max = new_max;
    }
    out[(size_t)row * out_stride + lane] = total0 / sum;
    out[(size_t)row * out_stride + lane + 32] = total1 / sum;
}
