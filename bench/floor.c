/*
 * The floor of any id in LuaJIT: C functions that only write bytes, as many as the id has, and
 * different ones in each call. bench/run.sh builds this, and bench/floor.lua calls the function
 * for a length.
 */
#include <stdint.h>
#include <string.h>

static uint64_t word;

#define FLOOR(length)                                       \
    void floor_##length(char *buf)                          \
    {                                                       \
        uint64_t words[(length + 7) / 8];                   \
        for (unsigned i = 0; i < sizeof(words) / 8; i++) {  \
            words[i] = word += 0x9e3779b97f4a7c15u;         \
        }                                                   \
        memcpy(buf, words, length);                         \
    }

FLOOR(7)
FLOOR(10)
FLOOR(16)
FLOOR(19)
FLOOR(20)
FLOOR(21)
FLOOR(22)
FLOOR(24)
FLOOR(26)
FLOOR(27)
FLOOR(28)
FLOOR(29)
FLOOR(30)
FLOOR(31)
FLOOR(32)
FLOOR(36)
FLOOR(52)
FLOOR(55)
