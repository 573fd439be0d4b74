// out = each pixel of red, green and blue as Y, U and V.
__device__ unsigned char clamped(int value) { return min(max(value, 0), 255); }

extern "C" __global__ void rgb_to_yuv(const uchar3* __restrict__ pixels, size_t n, uchar3* __restrict__ out, size_t out_len) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const uchar3 pixel = pixels[i];
        const int r = pixel.x, g = pixel.y, b = pixel.z;
        const int y = ((66 * r + 129 * g + 25 * b + 128) >> 8) + 16;
        const int u = ((-38 * r - 74 * g + 112 * b + 128) >> 8) + 128;
        const int v = ((112 * r - 94 * g - 18 * b + 128) >> 8) + 128;
        out[i] = make_uchar3(clamped(y), clamped(u), clamped(v));
    }
}
