// out[i] = the sum of the products of the filter's taps and the samples from i on.
extern "C" __global__ void convolve_1d(const float* __restrict__ signal, size_t signal_len, const float* __restrict__ taps,
                                       size_t taps_len, float* __restrict__ out, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0.0f;
    for (int j = 0; j < taps_len; j++) sum += signal[i + j] * taps[j];
    out[i] = sum;
}
