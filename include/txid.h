/*
 * txid: 20-character ids that sort by time. The interface of libtxid.
 *
 * The caller owns all memory, and the library keeps none of the pointers it gets. A text that a function takes is a
 * pointer and a length, and the text of an id is not NUL-terminated; a message is. Any function may be called from any thread at any time, but not from a signal handler.
 * There is nothing to initialize.
 *
 * A function that can fail returns a negative txid_error, and leaves all buffers but `message` as they are; or else 0, a
 * length or a number. No other fails.
 *
 * Generated from crates/capi/ by `make headers`: do not edit.
 */

#ifndef TXID_H
#define TXID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// The version of this interface. It grows when callers built for the previous version would no longer work.
#define TXID_ABI_VERSION 2

/// The size of the buffer for a `message`, which may be NULL. On error, functions write a text to it that says what is wrong,
/// truncated if necessary, and a final NUL. On success they write nothing, unless a function says so.
#define TXID_MESSAGE_LEN 1024

/// The length of the longest image, and of the longest text that has one.
#define TXID_HIDDEN_LEN 36

/// The length of the longest id of any format.
#define TXID_MAX_LEN 90

/// No id has more parts.
#define TXID_PARTS_MAX 8

/// The length of the longest text of a part.
#define TXID_PART_LEN 63

/// No text fits more formats than this.
#define TXID_READINGS_MAX 16

/// The length of the longest number of a segment.
#define TXID_SEGMENT_LEN 19

/// The length of the longest 64-bit id.
#define TXID_SNOWFLAKE_LEN 19

/// The node that txid-agent leases, for txid_snowflake_open.
#define TXID_NODE_LEASED -1

/// The length of an id. Ids are not NUL-terminated.
#define TXID_LEN 20

/// The size of an id as bytes.
#define TXID_BYTES_LEN 12

/// The length of a UUID.
#define TXID_UUID_LEN 36

/// The error codes; 0 is success. All are negative.
typedef enum {
  /// A text has too few or too many characters.
  TXID_ERROR_LENGTH = -1,
  /// A text has a character that is not in its alphabet.
  TXID_ERROR_CHARACTER = -2,
  /// The last character of an id has bits that must be zero.
  TXID_ERROR_LAST_CHARACTER = -3,
  /// A text has valid characters, but a value that is not allowed.
  TXID_ERROR_VALUE = -10,
  /// An option, or the name of a format, is not known or has an invalid value.
  TXID_ERROR_OPTION = -20,
  /// An option is already set.
  TXID_ERROR_OPTION_TWICE = -21,
  /// A layout of 64-bit ids is not valid.
  TXID_ERROR_SNOWFLAKE_LAYOUT = -30,
  /// A node is not in the layout's range.
  TXID_ERROR_SNOWFLAKE_NODE = -31,
  /// A state's file cannot be opened or made.
  TXID_ERROR_SNOWFLAKE_FILE = -32,
  /// A state's file is damaged, or belongs to another layout or node.
  TXID_ERROR_SNOWFLAKE_STATE = -33,
  /// The clock is too far behind the last time used.
  TXID_ERROR_SNOWFLAKE_CLOCK_BEHIND = -34,
  /// All ids are used up, as far ahead of the clock as is allowed.
  TXID_ERROR_SNOWFLAKE_EXHAUSTED = -35,
  /// The clock is before the layout's epoch.
  TXID_ERROR_SNOWFLAKE_BEFORE_EPOCH = -36,
  /// The layout's time is used up.
  TXID_ERROR_SNOWFLAKE_ENDED = -37,
  /// An id is not a number, or has more bits than the layout.
  TXID_ERROR_SNOWFLAKE_ID = -38,
  /// The node is leased, and there is no lease now.
  TXID_ERROR_SNOWFLAKE_UNLEASED = -39,
  /// A segment's file cannot be opened: txid-agent must be started first.
  TXID_ERROR_SEGMENT_FILE = -50,
  /// A segment's file is damaged, a copy, or from an earlier boot.
  TXID_ERROR_SEGMENT_STATE = -51,
  /// Both ranges of a segment are used up.
  TXID_ERROR_SEGMENT_USED_UP = -52,
  /// A key file cannot be opened, or others than its owner may read it.
  TXID_ERROR_KEY_FILE = -60,
  /// A key file has no key, or a line that is none, or a key that may not be used.
  TXID_ERROR_KEY = -61,
  /// A number is too large to be hidden, or a text is the image of none.
  TXID_ERROR_HIDDEN_NUMBER = -62,
  /// The check digit of a hidden number is wrong.
  TXID_ERROR_HIDDEN_CHECK = -63,
  /// There is no key for the period of a hidden number.
  TXID_ERROR_HIDDEN_PERIOD = -64,
  /// The store of a segment has another key for its numbers, or the same one for another name or length, or none.
  TXID_ERROR_OTHER_KEY = -65,
} txid_error;

/// What an agent reports about a segment.
typedef enum {
  /// It takes ranges when they are needed.
  TXID_SEGMENT_NEWS_SERVING = 0,
  /// The store has no such tag.
  TXID_SEGMENT_NEWS_NO_TAG = 1,
  /// The number in the store is lower than one it had before. Nothing is taken until it is raised.
  TXID_SEGMENT_NEWS_WENT_DOWN = 2,
  /// The 63-bit numbers are used up.
  TXID_SEGMENT_NEWS_ENDED = 3,
} txid_segment_news;

/// What a part of an id is.
typedef enum {
  /// A text.
  TXID_VALUE_TEXT = 0,
  /// A number.
  TXID_VALUE_NUMBER = 1,
  /// True or false.
  TXID_VALUE_FLAG = 2,
} txid_value;

/// What to do with an id that may have come in with a request.
typedef enum {
  /// The request gets a new id.
  TXID_VERDICT_NEW = 0,
  /// The request keeps the id that came in.
  TXID_VERDICT_ACCEPTED = 1,
  /// The peer may send an id, but it sent an invalid one, or several. The request gets a new id, or is rejected.
  TXID_VERDICT_INVALID = 2,
} txid_verdict;

/// Hides the numbers or the UUIDs of one series, and reveals them.
typedef struct txid_hidden txid_hidden;

/// Makes the ids of one format.
typedef struct txid_maker txid_maker;

/// The options of a server: whose ids and traces it accepts, and in which headers.
typedef struct txid_policy txid_policy;

/// Takes the numbers of one segment.
typedef struct txid_segment txid_segment;

/// Makes the 64-bit ids of one layout and node.
typedef struct txid_snowflake txid_snowflake;

/// A text, laid out as nginx's ngx_str_t.
typedef struct {
  /// Its length in bytes.
  size_t len;
  /// Its bytes.
  const char *data;
} txid_text;

/// A part of an id.
typedef struct {
  /// Its name, such as sequence. The text belongs to the library.
  txid_text name;
  /// A txid_value.
  uint8_t value;
  /// The length of its text.
  uint8_t text_len;
  /// Any part as text, without a NUL: 17, true, or 02:42:ac:11:00:02.
  char text[TXID_PART_LEN];
  /// A number; 1 or 0 for true or false; otherwise 0.
  uint64_t number;
} txid_part;

/// What an id holds.
typedef struct {
  /// Milliseconds since 1970-01-01 UTC; INT64_MIN if the id has no time, INT64_MAX for all later times. Those of a trace
  /// id count from its epoch.
  int64_t ms;
  /// The number of its other parts.
  size_t count;
  /// These parts.
  txid_part list[TXID_PARTS_MAX];
} txid_parts;

/// A text as an id of one format. The texts belong to the library.
typedef struct {
  /// The format, as in txid_maker_open.
  txid_text format;
  /// The name of a 64-bit id's layout; otherwise its length is 0.
  txid_text layout;
  /// Milliseconds since 1970-01-01 UTC; INT64_MIN if the id has no time.
  int64_t ms;
  /// Whether it is unlikely to be an id of the format: its time is before such ids existed, or more than a day ahead.
  bool is_unlikely;
} txid_reading;

/// The state of a segment.
typedef struct {
  /// How many numbers are left in the current range.
  uint64_t left;
  /// How many numbers the next range has; 0 if it is not there yet.
  uint64_t next;
  /// How many numbers the agent takes at a time.
  uint64_t step;
  /// How long the numbers last at the present rate, in milliseconds; -1 if none are taken.
  int64_t lasts_ms;
  /// When the store last answered, in milliseconds since 1970-01-01 UTC; 0 if it never did.
  int64_t contact_ms;
  /// How many ranges were taken from the store.
  uint64_t fetches;
  /// How many requests to the store failed.
  uint64_t failures;
  /// A txid_segment_news.
  int32_t news;
} txid_segment_counters;

/// The fields of a 64-bit id.
typedef struct {
  /// Milliseconds since 1970-01-01 UTC.
  int64_t ms;
  /// The node that made it.
  int64_t node;
  /// Its number within its unit of time.
  int64_t sequence;
} txid_snowflake_parts;

/// What a generator has done so far.
typedef struct {
  /// How many ids it has made.
  uint64_t issued;
  /// How many milliseconds the last time used is ahead of the clock now, counting the ids of every process that
  /// shares the state.
  uint64_t borrowed_ms;
  /// How often it has seen the clock go back.
  uint64_t clock_steps;
  /// How often it could not make an id.
  uint64_t refused;
  /// Its node; -1 if there is no lease now.
  int64_t node;
  /// How many milliseconds are left of the lease, 0 if there is none now; -1 if the node is not leased.
  int64_t lease_left_ms;
  /// How often the lease was taken or renewed.
  uint64_t renewals;
  /// How many of the agent's requests to its store failed.
  uint64_t failures;
  /// The last millisecond since 1970-01-01 UTC that the layout has ids for.
  int64_t layout_ends_ms;
} txid_snowflake_counters;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// The TXID_ABI_VERSION that the library was built with.
uint32_t txid_abi_version(void);

/// Milliseconds since 1970-01-01 UTC by the system's clock.
int64_t txid_clock_ms(void);

/// Milliseconds since 1970-01-01 UTC by the system's clock, with its tick of a few milliseconds, and never later. It
/// costs a quarter of txid_clock_ms.
int64_t txid_clock_coarse_ms(void);

/// The meaning of a txid_error, or of 0, as a static text. Unlike an id, it is NUL-terminated.
const char *txid_strerror(int32_t code);

/// Opens a series of hidden numbers or UUIDs, and writes it to `hidden`. Any thread may use it, and any child. Release it
/// with txid_hidden_close.
///
/// The words are key=FILE, which only its owner may read; name=NAME, and with another name, the images are others; digits=N
/// for images of 6 to 19 digits, letters=N for 4 to 13 letters, or uuid for UUIDs; and for numbers perhaps check, for a check
/// digit after that, and state=FILE, the file of the numbers' segment. All are UTF-8.
///
/// Returns 0, or a txid_error; then `message` says what is wrong, and `hidden` is unchanged.
///
/// Safety:
///
/// `list` must be valid for reads of `count` texts, as must their bytes; `hidden` for a write, `message` NULL or valid for
/// writes of TXID_MESSAGE_LEN bytes.
int32_t txid_hidden_open(const txid_text *list,
                         size_t count,
                         txid_hidden **hidden,
                         char *message);

/// Whether the system keeps the key out of swap space. If not, `message` says why.
///
/// Safety:
///
/// `hidden` must be from txid_hidden_open, `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
bool txid_hidden_is_locked(const txid_hidden *hidden,
                           char *message);

/// Releases a series, and wipes its key from memory.
///
/// Safety:
///
/// `hidden` must be from txid_hidden_open and must not be used any more; or NULL, which does nothing.
void txid_hidden_close(txid_hidden *hidden);

/// Writes the image of `number` to `buf`, at most TXID_HIDDEN_LEN bytes and without a NUL, and returns its length; or a
/// txid_error, and then `message` says what is wrong.
///
/// Safety:
///
/// `hidden` must be from txid_hidden_open, `buf` valid for writes of TXID_HIDDEN_LEN bytes, `message` NULL or valid for
/// writes of TXID_MESSAGE_LEN bytes.
int32_t txid_hidden_hide(const txid_hidden *hidden,
                         uint64_t number,
                         char *buf,
                         char *message);

/// Writes the number with the image `text` to `number`.
///
/// Returns 0, or a txid_error; then `message` says what is wrong, and `number` is unchanged.
///
/// Safety:
///
/// `hidden` must be from txid_hidden_open, `text` valid for reads of `len` bytes, `number` for a write, `message` NULL or valid
/// for writes of TXID_MESSAGE_LEN bytes.
int32_t txid_hidden_reveal(const txid_hidden *hidden,
                           const char *text,
                           size_t len,
                           uint64_t *number,
                           char *message);

/// Writes the image of `text`, a number in decimal digits or a UUID of version 7, to `buf`, or returns a txid_error, as
/// txid_hidden_hide does. The image of a UUID is one of version 4, of 36 bytes. `buf` may be where `text` is.
///
/// Safety:
///
/// As for txid_hidden_hide; also, `text` must be valid for reads of `len` bytes.
int32_t txid_hidden_hide_text(const txid_hidden *hidden,
                              const char *text,
                              size_t len,
                              char *buf,
                              char *message);

/// Writes the number with the image `text` in decimal digits, or the UUID with it, to `buf`, at most TXID_HIDDEN_LEN bytes
/// and without a NUL, and returns its length; or a txid_error, and then `message` says what is wrong. `buf` may be where
/// `text` is.
///
/// Safety:
///
/// As for txid_hidden_hide_text.
int32_t txid_hidden_reveal_text(const txid_hidden *hidden,
                                const char *text,
                                size_t len,
                                char *buf,
                                char *message);

/// Opens a maker of ids, and writes it to `maker`. The first of the `count` words is the name of the format, and the
/// others are its options, name=value: docs/lua.md lists them. Options may also be in the first word, as in
/// nanoid(length=10,alphabet=0123456789). Names have - or _. With `is_trial`, the options are only checked, as in a test
/// of a configuration: no file is made, and a state without a file is one in memory. Release it with txid_maker_close.
///
/// Nobody can guess ids of txid, strong, uuid_v4, ksuid, nanoid, trace_id, span_id, otel_trace_id, traceparent and b3. Of uuid_v7
/// and ulid, the next of a thread within the same millisecond is one of 2^32. Ids of other formats count, and can be guessed.
///
/// Returns 0, or a txid_error; then `message` says what is wrong, and `maker` is unchanged.
///
/// Safety:
///
/// `list` must be valid for reads of `count` texts, as must their bytes; `maker` for a write, `message` NULL or valid for
/// writes of TXID_MESSAGE_LEN bytes.
int32_t txid_maker_open(const txid_text *list,
                        size_t count,
                        bool is_trial,
                        txid_maker **maker,
                        char *message);

/// Releases a maker. Others that share its state are not affected.
///
/// Safety:
///
/// `maker` must be from txid_maker_open and must not be used any more; or NULL, which does nothing.
void txid_maker_close(txid_maker *maker);

/// Writes a new id of this moment to `buf`, and returns its length; see txid_fill_now for `clock_ms`. Sets `guessable`
/// if the id was meant to be impossible to guess, but the system gave no randomness; otherwise leaves it unchanged. If
/// there is no id now, returns a txid_error, and `message` says why.
///
/// Safety:
///
/// `maker` must be from txid_maker_open, `buf` valid for writes of TXID_MAX_LEN bytes, `guessable` for a write,
/// `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
int32_t txid_maker_fill(const txid_maker *maker,
                        int64_t clock_ms,
                        char *buf,
                        bool *guessable,
                        char *message);

/// As txid_maker_fill, stamped with exactly `ms`, or with its low bits if ids of this format cannot hold that time. If they have
/// no time, or only the clock's, returns a txid_error, and `message` says so.
///
/// Safety:
///
/// As for txid_maker_fill.
int32_t txid_maker_fill_at(const txid_maker *maker,
                           int64_t ms,
                           char *buf,
                           bool *guessable,
                           char *message);

/// Opens a policy without options, which accepts nobody's ids. Release it with txid_policy_close.
txid_policy *txid_policy_open(void);

/// Releases a policy.
///
/// Safety:
///
/// `policy` must be from txid_policy_open and must not be used any more; or NULL, which does nothing.
void txid_policy_close(txid_policy *policy);

/// Sets the option of this name to what the `count` words say. docs/request.md has the options that are directives, but format.
///
/// Returns 0, or a txid_error; then `message` says what is wrong.
///
/// Safety:
///
/// `policy` must be from txid_policy_open and not in use by another thread; `option` valid for reads of `option_len`
/// bytes; `list` for reads of `count` texts, as must be their bytes; `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
int32_t txid_policy_set(txid_policy *policy,
                        const char *option,
                        size_t option_len,
                        const txid_text *list,
                        size_t count,
                        char *message);

/// Checks whether the options go together, when all are set or inherited. `is_id_of_trace` says whether the new id of a
/// request is that of its trace. Returns 0, or a txid_error; then `message` begins with the name of an option.
///
/// Safety:
///
/// `policy` must be from txid_policy_open, and `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
int32_t txid_policy_check(const txid_policy *policy,
                          bool is_id_of_trace,
                          char *message);

/// Reads the `len` characters at `text` as an id of the format with the name of `format_len` characters at `format`, as in
/// txid_maker_open, and writes what it holds to `parts`, of which `size` is the size: a later version may have more.
/// tests/vectors/README.md has the parts of each format. "uuid" reads a UUID of any version, "snowflake" a 64-bit id in the
/// layout of that name: txid_snowflake_decode reads others.
///
/// Returns 0, or a txid_error; then `message` says what is wrong, and where, and `parts` is unchanged.
///
/// Safety:
///
/// `format` must be valid for reads of `format_len` bytes, `text` of `len` bytes, `parts` for writes of `size` bytes,
/// `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
int32_t txid_read(const char *format,
                  size_t format_len,
                  const char *text,
                  size_t len,
                  txid_parts *parts,
                  size_t size,
                  char *message);

/// Writes what the `len` characters at `text` can be to `readings`, the likeliest first and at most `room`, and returns how
/// many it wrote. `size` is the size of one: a later version may have more fields. See txid_fill_now for `clock_ms`.
///
/// Safety:
///
/// `text` must be valid for reads of `len` bytes, `readings` for writes of `room` times `size` bytes.
size_t txid_readings(const char *text,
                     size_t len,
                     int64_t clock_ms,
                     txid_reading *readings,
                     size_t size,
                     size_t room);

/// Opens the segment in the file at `path`, which txid-agent has made, and writes it to `segment`. Release it with
/// txid_segment_close.
///
/// Returns 0, or a txid_error; then `message` says what is wrong, and `segment` is unchanged.
///
/// Safety:
///
/// `path` must be valid for reads of `path_len` bytes, `segment` for a write, `message` NULL or valid for writes of
/// TXID_MESSAGE_LEN bytes.
int32_t txid_segment_open(const char *path,
                          size_t path_len,
                          txid_segment **segment,
                          char *message);

/// Releases a segment. Other users of the same file are not affected.
///
/// Safety:
///
/// `segment` must be from txid_segment_open and must not be used any more; or NULL, which does nothing.
void txid_segment_close(txid_segment *segment);

/// The next number, which is not negative; or a txid_error, and then `message` says what is wrong.
///
/// Safety:
///
/// `segment` must be from txid_segment_open, `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
int64_t txid_segment_next(const txid_segment *segment,
                          char *message);

/// Writes the next number to `buf` as decimal digits, at most TXID_SEGMENT_LEN and without a NUL, and returns their
/// number; or a txid_error, as txid_segment_next does.
///
/// Safety:
///
/// As for txid_segment_next; also, `buf` must be valid for writes of TXID_SEGMENT_LEN bytes.
int32_t txid_segment_fill(const txid_segment *segment,
                          char *buf,
                          char *message);

/// Writes the state of the segment to `counters`, of which `size` is the size: a later version may have more.
///
/// Safety:
///
/// `segment` must be from txid_segment_open, `counters` valid for writes of `size` bytes.
void txid_segment_stats(const txid_segment *segment,
                        txid_segment_counters *counters,
                        size_t size);

/// Opens a generator of 64-bit ids, and writes it to `generator`. Release it with txid_snowflake_close.
///
/// - `layout` is a preset (snowflake, sonyflake, uid, leaf, snowflake53, discord, instagram, mastodon), or a list of parts
///   from the highest bits to the lowest, such as time_bits=41,node_bits=10,sequence_bits=12,unit_ms=1,epoch=2020-01-01.
/// - `node` is a number, such as that of txid_snowflake_node, or TXID_NODE_LEASED.
/// - `path` is the file that all processes with this node share. Unless the node is leased, it is made if it is missing.
///   If `path_len` is 0, the state is in memory that children inherit; that is refused while another libtxid.so is loaded.
/// - `max_drift_ms` is how far ids may run ahead of the clock.
///
/// Returns 0, or a txid_error; then `message` says what is wrong, and `generator` is unchanged.
///
/// Safety:
///
/// `layout` and `path` must be valid for reads of their lengths, `generator` for a write, `message` NULL or valid for writes of
/// TXID_MESSAGE_LEN bytes.
int32_t txid_snowflake_open(const char *layout,
                            size_t layout_len,
                            int64_t node,
                            const char *path,
                            size_t path_len,
                            uint64_t max_drift_ms,
                            txid_snowflake **generator,
                            char *message);

/// The node that `text` names: a number; env:NAME, an environment variable with a number; ip, the low bits of this machine's
/// private address; or hostname, the number at the end of a pod's name. Returns a txid_error if it names none of the layout;
/// then `message` says why.
///
/// Safety:
///
/// `layout` and `text` must be valid for reads of their lengths, `message` NULL or valid for writes of TXID_MESSAGE_LEN
/// bytes.
int64_t txid_snowflake_node(const char *layout,
                            size_t layout_len,
                            const char *text,
                            size_t len,
                            char *message);

/// Releases a generator. Others that share its state are not affected.
///
/// Safety:
///
/// `generator` must be from txid_snowflake_open and must not be used any more; or NULL, which does nothing.
void txid_snowflake_close(txid_snowflake *generator);

/// The next 64-bit id, which is not negative; or a txid_error, and then `message` says what is wrong. `clock_ms` is the
/// caller's reading of the wall clock, or txid_clock_coarse_ms(). It may be old: the clock is read again before an id
/// is refused.
///
/// Safety:
///
/// `generator` must be from txid_snowflake_open, `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
int64_t txid_snowflake_next(const txid_snowflake *generator,
                            int64_t clock_ms,
                            char *message);

/// Writes the next 64-bit id to `buf` as decimal digits, at most TXID_SNOWFLAKE_LEN and without a NUL, and returns
/// their number; or a txid_error, as txid_snowflake_next does.
///
/// Safety:
///
/// As for txid_snowflake_next; also, `buf` must be valid for writes of TXID_SNOWFLAKE_LEN bytes.
int32_t txid_snowflake_fill(const txid_snowflake *generator,
                            int64_t clock_ms,
                            char *buf,
                            char *message);

/// Reads the `len` decimal digits at `text` as a 64-bit id, with zeros before it or without; returns it, or a txid_error. If
/// there are more than 1024, `text` is not read.
///
/// Safety:
///
/// `text` must be valid for reads of `len` bytes.
int64_t txid_snowflake_parse(const char *text,
                             size_t len);

/// Writes the fields of `id` in the generator's layout to `parts`, of which `size` is the size: a later version may have
/// more. Returns 0, or a txid_error if the id has more bits than the layout; then nothing is written.
///
/// Safety:
///
/// `generator` must be from txid_snowflake_open, `parts` valid for writes of `size` bytes.
int32_t txid_snowflake_decode(const txid_snowflake *generator,
                              int64_t id,
                              txid_snowflake_parts *parts,
                              size_t size);

/// Writes what the generator has done so far to `counters`, of which `size` is the size: a later version may have more.
///
/// Safety:
///
/// `generator` must be from txid_snowflake_open, `counters` valid for writes of `size` bytes.
void txid_snowflake_stats(const txid_snowflake *generator,
                          txid_snowflake_counters *counters,
                          size_t size);

/// Writes a new id stamped with exactly `ms` to `buf`: TXID_LEN characters, no NUL. Only the low 42 bits of `ms` count,
/// so -1 gives the last millisecond of the range, and 2^42 the first. Nobody can guess an id, or compute one from others.
///
/// Safety:
///
/// `buf` must be valid for writes of TXID_LEN bytes.
void txid_fill(char *buf,
               int64_t ms);

/// Writes a new id of this moment to `buf`, as txid_fill does. `clock_ms` is the caller's reading of the wall clock, or
/// txid_clock_ms(). Within a thread, time never goes backwards: if the clock is at most ten seconds behind the last
/// time used, ids keep that time until the clock has caught up; if it is further behind, it is followed.
///
/// Safety:
///
/// `buf` must be valid for writes of TXID_LEN bytes.
void txid_fill_now(char *buf,
                   int64_t clock_ms);

/// Whether this thread's ids are made without the operating system's randomness, because it failed to give any when
/// last asked. Such ids come from the clock, the process and its address space; the system is asked again in the next
/// second.
bool txid_entropy_degraded(void);

/// Writes the lowest id of the millisecond `ms` to `buf`, as txid_fill does: no id stamped with `ms` is lower.
///
/// Safety:
///
/// `buf` must be valid for writes of TXID_LEN bytes.
void txid_first(char *buf,
                int64_t ms);

/// Writes the highest id of the millisecond `ms` to `buf`, as txid_fill does: no id stamped with `ms` is higher.
///
/// Safety:
///
/// `buf` must be valid for writes of TXID_LEN bytes.
void txid_last(char *buf,
               int64_t ms);

/// The millisecond since 1970-01-01 UTC of the id at `text`, in upper or lower case; or a txid_error if the `len`
/// characters are not an id.
///
/// Safety:
///
/// `text` must be valid for reads of `len` bytes.
int64_t txid_ms(const char *text,
                size_t len);

/// Writes the TXID_BYTES_LEN bytes of the id at `text`, in upper or lower case, to `bytes_out`. They sort as the text
/// does. Returns 0, or a txid_error if the `len` characters are not an id; then nothing is written.
///
/// Safety:
///
/// `text` must be valid for reads of `len` bytes, `bytes_out` for writes of TXID_BYTES_LEN bytes.
int32_t txid_to_bytes(const char *text,
                      size_t len,
                      uint8_t *bytes_out);

/// Writes the text of the id in the TXID_BYTES_LEN bytes at `bytes` to `buf`, as txid_fill does. Any bytes are an id.
///
/// Safety:
///
/// `bytes` must be valid for reads of TXID_BYTES_LEN bytes, `buf` for writes of TXID_LEN bytes.
void txid_from_bytes(const uint8_t *bytes,
                     char *buf);

/// Writes a new UUID of version 4, all random, to `buf`: TXID_UUID_LEN characters, no NUL.
///
/// Safety:
///
/// `buf` must be valid for writes of TXID_UUID_LEN bytes.
void txid_uuid_v4(char *buf);

/// Writes a new UUID of version 7, stamped with the low 48 bits of `ms`, to `buf`. If the thread's previous one has the
/// same stamp, this one is greater.
///
/// Safety:
///
/// `buf` must be valid for writes of TXID_UUID_LEN bytes.
void txid_uuid_v7(char *buf,
                  int64_t ms);

/// Writes a new UUID of version 7 of this moment to `buf`, greater than the previous one of this thread. See
/// txid_fill_now for `clock_ms`.
///
/// Safety:
///
/// `buf` must be valid for writes of TXID_UUID_LEN bytes.
void txid_uuid_v7_now(char *buf,
                      int64_t clock_ms);

/// Writes the UUID of the name of `len` bytes at `name` to `buf`: the same each time. `version` is 3 (MD5) or 5 (SHA-1), and
/// the namespace a UUID, or dns, url, oid or x500. Returns 0, or a txid_error if the version or the namespace is none; then
/// nothing is written.
///
/// Safety:
///
/// `namespace_text` must be valid for reads of `namespace_len` bytes, `name` of `len` bytes, `buf` for writes of
/// TXID_UUID_LEN bytes.
int32_t txid_uuid_of_name(int32_t version,
                          const char *namespace_text,
                          size_t namespace_len,
                          const char *name,
                          size_t len,
                          char *buf);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TXID_H */
