/*
 * txid: 20-character ids that sort by time. The interface of libtxid.
 *
 * The caller owns all memory, and the library keeps no pointer it was given. Text is not NUL-terminated. Any function may
 * be called from any thread at any time, save from a signal handler; there is nothing to initialise.
 *
 * Generated from src/ffi.rs by `make headers`: do not edit.
 */

#ifndef TXID_H
#define TXID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The version of this interface. It grows when a caller built for the version before could no longer work.
 */
#define TXID_ABI_VERSION 1

/**
 * How many characters an id has. They are not NUL-terminated.
 */
#define TXID_LEN 20

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The TXID_ABI_VERSION that the library was built with.
 */
uint32_t txid_abi_version(void);

/**
 * Milliseconds since 1970-01-01 UTC by the system's clock.
 */
int64_t txid_clock_ms(void);

/**
 * Writes a new id stamped with exactly `ms` to `buf`: TXID_LEN characters, no NUL. The low 42 bits of `ms` count, so that
 * -1 gives the last millisecond of the range and 2^42 the first.
 *
 * Safety:
 *
 * `buf` must be valid for writes of TXID_LEN bytes.
 */
void txid_fill(char *buf,
               int64_t ms);

/**
 * Writes a new id of this moment to `buf`, as txid_fill does. `clock_ms` is the caller's reading of the wall clock, or
 * txid_clock_ms(). Within a thread time never runs backwards: a clock that is behind the last time used here by at most
 * ten seconds is waited for, one further behind is followed.
 *
 * Safety:
 *
 * `buf` must be valid for writes of TXID_LEN bytes.
 */
void txid_fill_now(char *buf,
                   int64_t clock_ms);

/**
 * Whether this thread's ids are made without the operating system's randomness, because it had none to give when it was
 * last asked. Such ids are still made from the clock, the process and its address space; the next second asks again.
 */
bool txid_entropy_degraded(void);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TXID_H */
