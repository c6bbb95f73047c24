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

/**
 * How many bytes an id has when it is not text.
 */
#define TXID_BYTES_LEN 12

/**
 * How many bytes txid_explain writes at most.
 */
#define TXID_MESSAGE_LEN 64

/**
 * What a function that can fail returns; 0 is success. All are negative.
 */
typedef enum txid_error {
  /**
   * A text has too few or too many characters.
   */
  TXID_ERROR_LENGTH = -1,
  /**
   * A text has a character that its alphabet does not have.
   */
  TXID_ERROR_CHARACTER = -2,
  /**
   * The last character of an id is not '0' or 'g'.
   */
  TXID_ERROR_LAST_CHARACTER = -3,
} txid_error;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * What a txid_error, or 0, means: static text that, unlike an id, ends in a NUL.
 */
const char *txid_strerror(int32_t code);

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

/**
 * Writes the lowest id of the millisecond `ms` to `buf`, as txid_fill does: no id stamped with `ms` is less.
 *
 * Safety:
 *
 * `buf` must be valid for writes of TXID_LEN bytes.
 */
void txid_first(char *buf,
                int64_t ms);

/**
 * Writes the highest id of the millisecond `ms` to `buf`, as txid_fill does: no id stamped with `ms` is greater.
 *
 * Safety:
 *
 * `buf` must be valid for writes of TXID_LEN bytes.
 */
void txid_last(char *buf,
               int64_t ms);

/**
 * The millisecond since 1970-01-01 UTC of the id at `text`, in either case, or a txid_error when the `len` characters
 * there are not an id.
 *
 * Safety:
 *
 * `text` must be valid for reads of `len` bytes.
 */
int64_t txid_ms(const char *text,
                size_t len);

/**
 * Writes the TXID_BYTES_LEN bytes of the id at `text`, in either case, to `bytes`, where they sort as the text does.
 * Returns 0, or a txid_error when the `len` characters are not an id; then nothing is written.
 *
 * Safety:
 *
 * `text` must be valid for reads of `len` bytes, `bytes` for writes of TXID_BYTES_LEN bytes.
 */
int32_t txid_to_bytes(const char *text,
                      size_t len,
                      uint8_t *bytes);

/**
 * Writes the text of the id whose TXID_BYTES_LEN bytes are at `bytes` to `buf`, as txid_fill does. Any bytes are an id.
 *
 * Safety:
 *
 * `bytes` must be valid for reads of TXID_BYTES_LEN bytes, `buf` for writes of TXID_LEN bytes.
 */
void txid_from_bytes(const uint8_t *bytes,
                     char *buf);

/**
 * Writes what is wrong with the `len` characters at `text`, and where, to `message`: at most TXID_MESSAGE_LEN bytes of
 * ASCII, no NUL. Returns how many it wrote; 0 when the text is an id.
 *
 * Safety:
 *
 * `text` must be valid for reads of `len` bytes, `message` for writes of TXID_MESSAGE_LEN bytes.
 */
size_t txid_explain(const char *text,
                    size_t len,
                    char *message);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TXID_H */
