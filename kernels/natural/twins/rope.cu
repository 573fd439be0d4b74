// Rotary embedding. A position has some vectors; the pairs of each are turned by the angles in the position's row of cosines and sines.
#include <cuda_fp16.h>

extern "C" __global__ void rope(const float* __restrict__ cosines, unsigned rows, unsigned columns, unsigned stride,
                                const float* __restrict__ sines, unsigned sines_rows, unsigned sines_columns, unsigned sines_stride,
                                unsigned heads, __half2* __restrict__ vectors, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int vector = i / columns, column = i % columns;
    const int position = vector / heads;
    const float cosine = cosines[(size_t)position * stride + column];
    const float sine = sines[(size_t)position * sines_stride + column];
    const float2 pair = __half22float2(vectors[i]);
    vectors[i] = __floats2half2_rn(pair.x * cosine - pair.y * sine, pair.x * sine + pair.y * cosine);
}
