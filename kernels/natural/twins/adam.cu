// A step of the optimiser Adam of all parameters against their gradients.
#include <cuda_bf16.h>

struct Adam {
    float rate, beta1, beta2, epsilon, decay, correction1, correction2;
};

extern "C" __global__ void adam(Adam adam, const __nv_bfloat16* __restrict__ gradients, size_t gradients_len, float* __restrict__ means,
                                size_t means_len, float* __restrict__ squares, size_t squares_len, __nv_bfloat16* __restrict__ parameters,
                                size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const float gradient = __bfloat162float(gradients[i]);
    const float parameter = __bfloat162float(parameters[i]);
    const float mean = adam.beta1 * means[i] + (1.0f - adam.beta1) * gradient;
    const float square = adam.beta2 * squares[i] + (1.0f - adam.beta2) * gradient * gradient;
    means[i] = mean;
    squares[i] = square;
    const float change = mean / adam.correction1 / (sqrtf(square / adam.correction2) + adam.epsilon) + adam.decay * parameter;
    parameters[i] = __float2bfloat16(parameter - adam.rate * change);
}
