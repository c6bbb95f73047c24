/*
 * What the C of nginx calls of libngx_txid.a. The caller owns all memory. Text is not NUL-terminated; a message is.
 *
 * Generated from nginx/rust/ by `make headers`: do not edit.
 */

#ifndef NGX_TXID_LIB_H
#define NGX_TXID_LIB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * The size of the buffer for a `message`. On error, functions write a text to it that says what is wrong, truncated if
 * necessary, and a final NUL.
 */
#define TXID_MESSAGE_LEN 1024

/**
 * The length of the longest id of any format.
 */
#define TXID_MAX_LEN 64

/**
 * How many characters txid_series_fill writes.
 */
#define TXID_LEN 20

/**
 * The headers that carry a trace, in the order of txid_span_continue.
 */
#define TXID_TRACE_HEADERS 7

/**
 * The length of the text of txid_rfc3339.
 */
#define TXID_RFC3339_LEN 24

/**
 * What to do with an id that may have come in with a request.
 */
typedef enum {
  /**
   * The request gets a new id.
   */
  TXID_VERDICT_NEW,
  /**
   * The request keeps the id that came in.
   */
  TXID_VERDICT_ACCEPTED,
  /**
   * The peer may send an id, but this is not a valid one. The request gets a new id, or is rejected.
   */
  TXID_VERDICT_INVALID,
} txid_verdict;

/**
 * The headers that a trace comes in.
 */
typedef enum {
  /**
   * W3C's traceparent.
   */
  TXID_TRACE_KIND_TRACEPARENT,
  /**
   * The X-B3- headers.
   */
  TXID_TRACE_KIND_B3,
  /**
   * The single b3 header.
   */
  TXID_TRACE_KIND_B3_SINGLE,
} txid_trace_kind;

/**
 * Makes the ids of one format.
 */
typedef struct txid_maker txid_maker;

/**
 * Networks of peers.
 */
typedef struct txid_networks txid_networks;

/**
 * Makes txids, in one thread.
 */
typedef struct txid_series txid_series;

/**
 * An ngx_str_t.
 */
typedef struct {
  /**
   * Its length in bytes.
   */
  size_t len;
  /**
   * Its bytes.
   */
  const char *data;
} txid_text;

/**
 * The sender of a request.
 */
typedef struct {
  /**
   * Its struct sockaddr, or NULL if only its text is known.
   */
  const void *sockaddr;
  /**
   * Its address as nginx writes it.
   */
  txid_text text;
} txid_peer;

/**
 * The values of one header in a request.
 */
typedef struct {
  /**
   * How often the request has it.
   */
  size_t count;
  /**
   * The last value.
   */
  txid_text value;
} txid_header;

/**
 * The span of a request, in the form of headers. A header of length 0 must not be sent.
 */
typedef struct {
  /**
   * X-B3-TraceId: the trace.
   */
  uint8_t trace_id[32];
  /**
   * X-B3-SpanId: this hop.
   */
  uint8_t span_id[16];
  /**
   * X-B3-ParentSpanId: the span that called this one.
   */
  uint8_t parent_span_id[16];
  /**
   * traceparent
   */
  uint8_t traceparent[55];
  /**
   * b3
   */
  uint8_t b3[68];
  /**
   * X-B3-Sampled: 0 or 1.
   */
  uint8_t sampled;
  /**
   * X-B3-Flags: 1.
   */
  uint8_t flags;
  /**
   * The length of parent_span_id: 16 or 0.
   */
  uint8_t parent_span_id_len;
  /**
   * The length of b3.
   */
  uint8_t b3_len;
  /**
   * The length of sampled: 1 or 0.
   */
  uint8_t sampled_len;
  /**
   * The length of flags: 1 or 0.
   */
  uint8_t flags_len;
  /**
   * Whether it continues the trace of the traceparent that came in, so that its tracestate is passed on as well.
   */
  bool is_continued;
} txid_span;

/**
 * Opens a maker of ids. The first of the `count` words is the name of the format, and the others are its options,
 * name=value. Returns NULL on error; then `message` says what is wrong.
 *
 * Safety:
 *
 * `list` must be valid for reads of `count` texts, `message` for writes of TXID_MESSAGE_LEN bytes.
 */
txid_maker *txid_maker_open(const txid_text *list,
                            size_t count,
                            char *message);

/**
 * Releases a maker. Others that share its state are not affected.
 *
 * Safety:
 *
 * `maker` must be from txid_maker_open and must not be used any more.
 */
void txid_maker_close(txid_maker *maker);

/**
 * Writes a new id to `buf`, when the clock reads `clock_ms`, and returns its length; or returns 0, and `message` says
 * why there is no id. Sets `guessable` if the id was meant to be impossible to guess, but the system gave no
 * randomness; otherwise leaves it unchanged.
 *
 * Safety:
 *
 * `maker` must be from txid_maker_open, `buf` valid for writes of TXID_MAX_LEN bytes, `guessable` for a write,
 * `message` for writes of TXID_MESSAGE_LEN bytes.
 */
size_t txid_maker_fill(const txid_maker *maker,
                       int64_t clock_ms,
                       char *buf,
                       bool *guessable,
                       char *message);

/**
 * Reads a list of `count` networks: addresses, networks such as 10.0.0.0/8, unix: and all; or off alone. Returns NULL
 * on error; then `message` says what is wrong.
 *
 * Safety:
 *
 * `list` must be valid for reads of `count` texts, `message` for writes of TXID_MESSAGE_LEN bytes.
 */
txid_networks *txid_networks_open(const txid_text *list,
                                  size_t count,
                                  char *message);

/**
 * Releases networks.
 *
 * Safety:
 *
 * `networks` must be from txid_networks_open and must not be used any more.
 */
void txid_networks_close(txid_networks *networks);

/**
 * Whether the peer is in one of the networks.
 *
 * Safety:
 *
 * `networks` must be from txid_networks_open, and `peer` must be valid for a read, as must what it points to.
 */
bool txid_networks_contain(const txid_networks *networks,
                           const txid_peer *peer);

/**
 * Decides about the id in `header`, which `peer` sent. `accept` are the networks whose ids are accepted. A repeated
 * header does not count.
 *
 * Safety:
 *
 * `accept` must be from txid_networks_open, and the others must be valid for a read, as must what they point to.
 */
txid_verdict txid_judge(const txid_networks *accept,
                        const txid_peer *peer,
                        const txid_header *header);

/**
 * Whether `name` is valid as the name of a header.
 *
 * Safety:
 *
 * `name` must be valid for a read, as must its text.
 */
bool txid_is_header_name(const txid_text *name);

/**
 * Opens a series of txids.
 */
txid_series *txid_series_open(void);

/**
 * Releases a series.
 *
 * Safety:
 *
 * `series` must be from txid_series_open and must not be used any more.
 */
void txid_series_close(txid_series *series);

/**
 * Writes a new txid of this moment, where the clock reads `clock_ms`, to `buf`.
 *
 * Safety:
 *
 * `series` must be from txid_series_open and not in use by another thread, `buf` valid for writes of TXID_LEN bytes.
 */
void txid_series_fill(const txid_series *series,
                      int64_t clock_ms,
                      char *buf);

/**
 * Writes the first span of a new trace to `span`.
 *
 * Safety:
 *
 * `span` must be valid for a write.
 */
void txid_span_start(txid_span *span);

/**
 * Writes a span to `span` that continues the trace that came in as `kind`; if there is no valid one, the first span of
 * a new trace. `headers` are the request's traceparent, b3, X-B3-TraceId, X-B3-SpanId, X-B3-ParentSpanId, X-B3-Sampled
 * and X-B3-Flags.
 *
 * Safety:
 *
 * `headers` must be valid for reads of TXID_TRACE_HEADERS of them, as must their texts; `kind` must be one of the
 * enum's values, and `span` must be valid for a write.
 */
void txid_span_continue(txid_trace_kind kind,
                        const txid_header *headers,
                        txid_span *span);

/**
 * Writes the time in the id at `text` to `ms`, in milliseconds since 1970-01-01 UTC: of a txid, a UUID of version 1, 6
 * or 7, a flake, a UNIQUE_ID, or an id of SOFATracer or SkyWalking. Returns whether it is one of these.
 *
 * Safety:
 *
 * `text` must be valid for a read, as must its bytes, and `ms` for a write.
 */
bool txid_time_in(const txid_text *text,
                  int64_t *ms);

/**
 * Writes the milliseconds since 1970 that txid_time_in found in RFC 3339, "2014-09-01T00:00:00.000Z", to `buf`.
 * Returns false, and writes nothing, if they are outside the years 0 to 9999.
 *
 * Safety:
 *
 * `buf` must be valid for writes of TXID_RFC3339_LEN bytes.
 */
bool txid_rfc3339(int64_t ms,
                  uint8_t *buf);

#endif  /* NGX_TXID_LIB_H */
