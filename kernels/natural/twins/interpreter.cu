// What the program leaves on top of the stack, for each input.
enum Operation { Push, Input, Add, Multiply, Xor, Shift, Duplicate, Swap, JumpIfOdd };

extern "C" __global__ void interpreter(const unsigned* __restrict__ program, size_t length, const unsigned* __restrict__ inputs,
                                       size_t inputs_len, unsigned* __restrict__ out, size_t n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const unsigned input = inputs[i];
    unsigned stack[16] = {0};
    int top = 0, place = 0;
    while (place < length) {
        const unsigned word = program[place++];
        const unsigned number = word & 0xffffff;
        bool is_known = true;
        switch (word >> 24) {
            case Push: stack[++top] = number; break;
            case Input: stack[++top] = input; break;
            case Add: top--; stack[top] += stack[top + 1]; break;
            case Multiply: top--; stack[top] *= stack[top + 1]; break;
            case Xor: top--; stack[top] ^= stack[top + 1]; break;
            case Shift: stack[top] >>= number & 31; break;
            case Duplicate: stack[top + 1] = stack[top]; top++; break;
            case Swap: {
                const unsigned other = stack[top];
                stack[top] = stack[top - 1];
                stack[top - 1] = other;
                break;
            }
            case JumpIfOdd:
                top--;
                if (stack[top + 1] & 1) place = number;
                break;
            default: is_known = false;
        }
        if (!is_known) break;
    }
    out[i] = stack[top];
}
