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
 * How many characters a 64-bit id has at most.
 */
#define TXID_SNOWFLAKE_LEN 19

/**
 * How many numbers txid_snowflake_decode writes.
 */
#define TXID_SNOWFLAKE_PARTS 3

/**
 * How many numbers txid_snowflake_stats writes.
 */
#define TXID_SNOWFLAKE_STATS 4

/**
 * How many bytes the functions for 64-bit ids write to `message` when they fail: what is wrong, cut off if need be, and
 * NULs up to the end, of which there is at least one.
 */
#define TXID_SNOWFLAKE_MESSAGE_LEN 1024

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
  /**
   * A layout of 64-bit ids is not one.
   */
  TXID_ERROR_SNOWFLAKE_LAYOUT = -30,
  /**
   * A node is not one of the layout's.
   */
  TXID_ERROR_SNOWFLAKE_NODE = -31,
  /**
   * A state's file cannot be opened or made.
   */
  TXID_ERROR_SNOWFLAKE_FILE = -32,
  /**
   * A state's file is damaged, or that of another layout or node.
   */
  TXID_ERROR_SNOWFLAKE_STATE = -33,
  /**
   * The clock is too far behind the last time used.
   */
  TXID_ERROR_SNOWFLAKE_CLOCK_BEHIND = -34,
  /**
   * All ids up to as far ahead of the clock as is allowed are used.
   */
  TXID_ERROR_SNOWFLAKE_EXHAUSTED = -35,
  /**
   * The clock is before the layout's epoch.
   */
  TXID_ERROR_SNOWFLAKE_BEFORE_EPOCH = -36,
  /**
   * The layout's time is used up.
   */
  TXID_ERROR_SNOWFLAKE_ENDED = -37,
  /**
   * An id is not a number, or has more bits than the layout.
   */
  TXID_ERROR_SNOWFLAKE_ID = -38,
} txid_error;

/**
 * Makes the 64-bit ids of one layout and node.
 */
typedef struct txid_snowflake txid_snowflake;

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

/**
 * Opens a generator of 64-bit ids, and writes it to `generator`. Give it back with txid_snowflake_close.
 *
 * `layout` is a preset (snowflake, sonyflake, uid, leaf) or a list of parts from the highest bits to the lowest, such as
 * time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=2020-01-01. `node` is a number, env:NAME, ip or hostname. `path` names the
 * file that all processes with this node share, and is made if there is none; or it is NULL, for memory that all
 * processes share which this one forks from now on. Ids may run ahead of the clock by `max_drift_ms`.
 *
 * Returns 0, or a txid_error; then `message` says what is wrong, and `generator` is left as it is.
 *
 * Safety:
 *
 * `layout`, `node` and `path`, if not NULL, must be NUL-terminated. `generator` must be valid for a write, `message` for
 * writes of TXID_SNOWFLAKE_MESSAGE_LEN bytes.
 */
int32_t txid_snowflake_open(const char *layout,
                            const char *node,
                            const char *path,
                            uint64_t max_drift_ms,
                            struct txid_snowflake **generator,
                            char *message);

/**
 * Gives a generator back. Others that share its state go on.
 *
 * Safety:
 *
 * `generator` must be from txid_snowflake_open and not be used by anybody any more; or NULL, for nothing to be done.
 */
void txid_snowflake_close(struct txid_snowflake *generator);

/**
 * Milliseconds since 1970-01-01 UTC by the system's clock, to its tick of a few milliseconds and never later. It costs a
 * quarter of what txid_clock_ms does.
 */
int64_t txid_clock_coarse_ms(void);

/**
 * The next 64-bit id, which is positive, or a txid_error; then `message` says what is wrong. `clock_ms` is the caller's
 * reading of the wall clock, or txid_clock_coarse_ms(). It may be old: before there is no id, the clock is read anew.
 *
 * Safety:
 *
 * `generator` must be from txid_snowflake_open, `message` valid for writes of TXID_SNOWFLAKE_MESSAGE_LEN bytes.
 */
int64_t txid_snowflake_next(const struct txid_snowflake *generator,
                            int64_t clock_ms,
                            char *message);

/**
 * Writes the next 64-bit id to `buf` as decimal digits, TXID_SNOWFLAKE_LEN at most and no NUL, and returns how many; or
 * a txid_error, as txid_snowflake_next does.
 *
 * Safety:
 *
 * As for txid_snowflake_next; and `buf` must be valid for writes of TXID_SNOWFLAKE_LEN bytes.
 */
int32_t txid_snowflake_fill(const struct txid_snowflake *generator,
                            int64_t clock_ms,
                            char *buf,
                            char *message);

/**
 * The 64-bit id that the `len` decimal digits at `text` are, or a txid_error when they are not one.
 *
 * Safety:
 *
 * `text` must be valid for reads of `len` bytes.
 */
int64_t txid_snowflake_parse(const char *text, size_t len);

/**
 * Writes what `id` says in the generator's layout to `parts`: the milliseconds since 1970-01-01 UTC, the node, and the
 * sequence. Returns 0, or a txid_error when the id has more bits than the layout; then nothing is written.
 *
 * Safety:
 *
 * `generator` must be from txid_snowflake_open, `parts` valid for writes of TXID_SNOWFLAKE_PARTS numbers.
 */
int32_t txid_snowflake_decode(const struct txid_snowflake *generator,
                              int64_t id,
                              int64_t *parts);

/**
 * Writes what the generator has done so far to `stats`: how many ids it has made; how many milliseconds the last time
 * used is ahead of the clock now, by all who share the state; how often it has seen the clock go back; and how often it
 * had no id to give.
 *
 * Safety:
 *
 * `generator` must be from txid_snowflake_open, `stats` valid for writes of TXID_SNOWFLAKE_STATS numbers.
 */
void txid_snowflake_stats(const struct txid_snowflake *generator,
                          uint64_t *stats);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TXID_H */
