// y += a x, an element a thread.
extern "C" __global__ void saxpy(float a, const float* __restrict__ x, size_t x_len, float* __restrict__ y, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += a * x[i];
}
