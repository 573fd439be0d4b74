// The last place and speed of each track by Kalman's filter. A row of seen has the points of one moment, dt after the row before.
template <int R, int C>
struct Small {
    float at[R][C];

    __device__ Small<C, R> transposed() const {
        Small<C, R> out;
        for (int i = 0; i < C; i++)
            for (int j = 0; j < R; j++) out.at[i][j] = at[j][i];
        return out;
    }

    static __device__ Small diagonal(float x) {
        Small out;
        for (int i = 0; i < R; i++)
            for (int j = 0; j < C; j++) out.at[i][j] = i == j ? x : 0.0f;
        return out;
    }
};

template <int R, int K, int C>
static __device__ Small<R, C> operator*(const Small<R, K>& a, const Small<K, C>& b) {
    Small<R, C> out;
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++) {
            float sum = 0.0f;
            for (int k = 0; k < K; k++) sum += a.at[i][k] * b.at[k][j];
            out.at[i][j] = sum;
        }
    return out;
}

template <int R, int C>
static __device__ Small<R, C> operator+(const Small<R, C>& a, const Small<R, C>& b) {
    Small<R, C> out;
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++) out.at[i][j] = a.at[i][j] + b.at[i][j];
    return out;
}

template <int R, int C>
static __device__ Small<R, C> operator-(const Small<R, C>& a, const Small<R, C>& b) {
    Small<R, C> out;
    for (int i = 0; i < R; i++)
        for (int j = 0; j < C; j++) out.at[i][j] = a.at[i][j] - b.at[i][j];
    return out;
}

static __device__ Small<2, 2> inverse(const Small<2, 2>& m) {
    const float scale = 1.0f / (m.at[0][0] * m.at[1][1] - m.at[0][1] * m.at[1][0]);
    return {{{m.at[1][1] * scale, -m.at[0][1] * scale}, {-m.at[1][0] * scale, m.at[0][0] * scale}}};
}

extern "C" __global__ void kalman(const float2* __restrict__ seen, unsigned rows, unsigned columns, unsigned stride, float dt, float noise,
                                  float (*__restrict__ states)[4], size_t n) {
    const int track = blockIdx.x * blockDim.x + threadIdx.x;
    if (track >= n) return;
    const float2 first = seen[track];
    Small<4, 1> state = {{{first.x}, {first.y}, {0.0f}, {0.0f}}};
    Small<4, 4> covariance = Small<4, 4>::diagonal(1.0f);
    Small<4, 4> motion = Small<4, 4>::diagonal(1.0f);
    motion.at[0][2] = dt;
    motion.at[1][3] = dt;
    const Small<2, 4> sees = {{{1.0f, 0.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f, 0.0f}}};
    for (int time = 1; time < rows; time++) {
        const float2 point = seen[(size_t)time * stride + track];
        state = motion * state;
        covariance = motion * covariance * motion.transposed() + Small<4, 4>::diagonal(0.01f);
        const Small<2, 1> place = {{{point.x}, {point.y}}};
        const Small<2, 1> surprise = place - sees * state;
        const Small<2, 2> spread = sees * covariance * sees.transposed() + Small<2, 2>::diagonal(noise);
        const Small<4, 2> gain = covariance * sees.transposed() * inverse(spread);
        state = state + gain * surprise;
        covariance = (Small<4, 4>::diagonal(1.0f) - gain * sees) * covariance;
    }
    for (int j = 0; j < 4; j++) states[track][j] = state.at[j][0];
}
