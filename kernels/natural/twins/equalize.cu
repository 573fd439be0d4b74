// out = the new grey of each pixel; cumulative[g] is how many pixels are as dark as g or darker.
extern "C" __global__ void equalize(const unsigned char* __restrict__ pixels, size_t n, const unsigned* __restrict__ cumulative,
                                    size_t greys, unsigned darkest, unsigned char* __restrict__ out, size_t out_len) {
    const unsigned total = n;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < out_len; i += gridDim.x * blockDim.x) {
        const unsigned rank = cumulative[pixels[i]] - darkest;
        out[i] = (unsigned char)(rank * 255.0f / (total - darkest));
    }
}
