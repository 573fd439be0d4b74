// The text of each payload of 24 bytes as digits of base 58, with blanks behind it.
static __constant__ char ALPHABET[59] = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

extern "C" __global__ void base58(const unsigned char (*__restrict__ payloads)[24], size_t payloads_len,
                                  unsigned char (*__restrict__ texts)[48], size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char digits[48];
    int length = 0;
    for (int j = 0; j < 24; j++) {
        unsigned carry = payloads[i][j];
        for (int k = 0; k < length; k++) {
            carry += (unsigned)digits[k] << 8;
            digits[k] = carry % 58;
            carry /= 58;
        }
        while (carry > 0) {
            digits[length++] = carry % 58;
            carry /= 58;
        }
    }
    int at = 0;
    while (at < 24 && payloads[i][at] == 0) texts[i][at++] = ALPHABET[0];
    for (int k = length - 1; k >= 0; k--) texts[i][at++] = ALPHABET[digits[k]];
    while (at < 48) texts[i][at++] = ' ';
}
