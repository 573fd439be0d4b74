/* What NVIDIA's headers use of the C library, so that the generated code does not depend on this machine's. */
#pragma once
#include <stddef.h>
