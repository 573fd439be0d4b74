// out = the cosine transform of each square of 8 x 8 pixels, less 128; a block has 8 x 32 threads.
__constant__ float cosines[8][8] = {
    {0.35355340f, 0.35355340f, 0.35355340f, 0.35355340f, 0.35355340f, 0.35355340f, 0.35355340f, 0.35355340f},
    {0.49039264f, 0.41573480f, 0.27778512f, 0.09754516f, -0.09754516f, -0.27778512f, -0.41573480f, -0.49039264f},
    {0.46193977f, 0.19134172f, -0.19134172f, -0.46193977f, -0.46193977f, -0.19134172f, 0.19134172f, 0.46193977f},
    {0.41573480f, -0.09754516f, -0.49039264f, -0.27778512f, 0.27778512f, 0.49039264f, 0.09754516f, -0.41573480f},
    {0.35355340f, -0.35355340f, -0.35355340f, 0.35355340f, 0.35355340f, -0.35355340f, -0.35355340f, 0.35355340f},
    {0.27778512f, -0.49039264f, 0.09754516f, 0.41573480f, -0.41573480f, -0.09754516f, 0.49039264f, -0.27778512f},
    {0.19134172f, -0.46193977f, 0.46193977f, -0.19134172f, -0.19134172f, 0.46193977f, -0.46193977f, 0.19134172f},
    {0.09754516f, -0.27778512f, 0.41573480f, -0.49039264f, 0.49039264f, -0.41573480f, 0.27778512f, -0.09754516f},
};

extern "C" __global__ void __launch_bounds__(256) dct_8x8(const unsigned char* __restrict__ picture, unsigned rows, unsigned columns,
                                                          unsigned stride, float* __restrict__ out, unsigned out_rows,
                                                          unsigned out_columns, unsigned out_stride) {
    __shared__ float pixels[32][8];
    __shared__ float transformed[32][8];
    const int x = threadIdx.x, y = threadIdx.y, square = y / 8 * 8;
    const int row = blockIdx.y * blockDim.y + y;
    const int column = blockIdx.x * blockDim.x + x;
    pixels[y][x] = row < rows && column < columns ? picture[(size_t)row * stride + column] - 128.0f : 0.0f;
    __syncthreads();
    float sum = 0.0f;
    for (int k = 0; k < 8; k++) sum += cosines[x][k] * pixels[y][k];
    transformed[y][x] = sum;
    __syncthreads();
    if (row >= out_rows || column >= out_columns) return;
    sum = 0.0f;
    for (int k = 0; k < 8; k++) sum += cosines[y - square][k] * transformed[square + k][x];
    out[(size_t)row * out_stride + column] = sum;
}
