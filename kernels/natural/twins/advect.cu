// out = the quantity after the time dt, in which the flow carries it and it decays; beyond the border it is as at the border.
struct Field {
    const float* values;
    int rows, columns, stride;

    __device__ float at(int row, int column) const { return values[(size_t)row * stride + column]; }

    __device__ float sample(float x, float y) const {
        x = fminf(fmaxf(x, 0.0f), columns - 1);
        y = fminf(fmaxf(y, 0.0f), rows - 1);
        const int left = (int)x, top = (int)y;
        const int right = min(left + 1, columns - 1), bottom = min(top + 1, rows - 1);
        const float fx = x - left, fy = y - top;
        const float upper = at(top, left) + (at(top, right) - at(top, left)) * fx;
        const float lower = at(bottom, left) + (at(bottom, right) - at(bottom, left)) * fx;
        return upper + (lower - upper) * fy;
    }
};

extern "C" __global__ void advect(const float2* __restrict__ flow, unsigned flow_rows, unsigned flow_columns, unsigned flow_stride,
                                  const float* __restrict__ quantity, unsigned rows, unsigned columns, unsigned stride, float dt,
                                  float decay, float* __restrict__ out, unsigned out_rows, unsigned out_columns, unsigned out_stride) {
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= out_rows || column >= out_columns) return;
    const Field field = {quantity, (int)rows, (int)columns, (int)stride};
    const float2 velocity = flow[(size_t)row * flow_stride + column];
    const float carried = field.sample(column - dt * velocity.x, row - dt * velocity.y);
    out[(size_t)row * out_stride + column] = carried / (1.0f + decay * dt);
}
