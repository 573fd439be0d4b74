// The new memory and output of each cell, from the four gates before their functions: input, forget, new value, output.
__device__ float sigmoid(float x) { return 1.0f / (1.0f + __expf(-x)); }

__device__ float tanh_of(float x) { return 2.0f * sigmoid(2.0f * x) - 1.0f; }

extern "C" __global__ void lstm_cell(const float* __restrict__ gates, unsigned rows, unsigned columns, unsigned stride,
                                     const float* __restrict__ biases, size_t biases_len, float2* __restrict__ cells, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int size = columns / 4;
    const int row = i / size, column = i % size;
    float gate[4];
    for (int g = 0; g < 4; g++) gate[g] = gates[(size_t)row * stride + g * size + column] + biases[g * size + column];
    const float memory = sigmoid(gate[1]) * cells[i].x + sigmoid(gate[0]) * tanh_of(gate[2]);
    cells[i] = make_float2(memory, sigmoid(gate[3]) * tanh_of(memory));
}
