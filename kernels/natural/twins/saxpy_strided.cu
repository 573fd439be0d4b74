// y += a x, several elements a thread.
extern "C" __global__ void saxpy_strided(float a, const float* __restrict__ x, size_t x_len, float* __restrict__ y, size_t n) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] += a * x[i];
}
