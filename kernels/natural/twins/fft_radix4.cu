// out = the transform of each row of 1024 points of x, by Stockham's algorithm with radix 4.
static __device__ float2 add(float2 a, float2 b) { return make_float2(a.x + b.x, a.y + b.y); }
static __device__ float2 subtract(float2 a, float2 b) { return make_float2(a.x - b.x, a.y - b.y); }
static __device__ float2 multiply(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }

extern "C" __global__ void __launch_bounds__(256)
fft_radix4(const float2* __restrict__ x, unsigned rows, unsigned columns, unsigned stride, float2* __restrict__ out, unsigned out_rows,
           unsigned out_columns, unsigned out_stride) {
    __shared__ float2 first[1024], second[1024];
    float2 *from = first, *to = second;
    const int t = threadIdx.x;
    if (blockIdx.x >= rows) return;
    const float2* row = x + (size_t)blockIdx.x * stride;
    for (int j = 0; j < 4; j++) from[t + j * 256] = row[t + j * 256];
    __syncthreads();
    for (int p = 1; p < 1024; p *= 4) {
        const int k = t % p;
        const float angle = -2.0f * 3.14159265f * k / (4 * p);
        const float2 w1 = make_float2(__cosf(angle), __sinf(angle));
        const float2 w2 = multiply(w1, w1);
        const float2 w3 = multiply(w2, w1);
        const float2 a = from[t];
        const float2 b = multiply(from[t + 256], w1);
        const float2 c = multiply(from[t + 512], w2);
        const float2 d = multiply(from[t + 768], w3);
        const float2 s = add(a, c), u = subtract(a, c), v = add(b, d), w = subtract(b, d);
        const int base = (t - k) * 4 + k;
        to[base] = add(s, v);
        to[base + p] = make_float2(u.x + w.y, u.y - w.x);
        to[base + 2 * p] = subtract(s, v);
        to[base + 3 * p] = make_float2(u.x - w.y, u.y + w.x);
        float2* const other = from;
        from = to;
        to = other;
        __syncthreads();
    }
    for (int i = t; i < out_columns; i += 256) out[(size_t)blockIdx.x * out_stride + i] = from[i];
}
