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
 * How many bytes a function that takes a `message` may write there: text that says what is wrong, cut off if need be, and
 * a NUL at its end.
 */
#define TXID_MESSAGE_LEN 1024

/**
 * How many characters an id of any format has at most.
 */
#define TXID_MAX_LEN 64

/**
 * The headers that carry a trace, in the order of txid_span_continue.
 */
#define TXID_TRACE_HEADERS 7

/**
 * How many characters txid_rfc3339 writes.
 */
#define TXID_RFC3339_LEN 24

/**
 * What becomes of an id that may have come in with a request.
 */
typedef enum {
  /**
   * The request gets a new id.
   */
  TXID_VERDICT_NEW,
  /**
   * The id that came in is the request's.
   */
  TXID_VERDICT_ACCEPTED,
  /**
   * The peer may send an id, but this is not one. The request gets a new id, or is rejected.
   */
  TXID_VERDICT_INVALID,
} txid_verdict;

/**
 * In which headers a trace comes in.
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
 * An ngx_str_t.
 */
typedef struct {
  /**
   * How many bytes it has.
   */
  size_t len;
  /**
   * Where they are.
   */
  const char *data;
} txid_text;

/**
 * Who sent a request.
 */
typedef struct {
  /**
   * Its struct sockaddr, or NULL where all there is is text.
   */
  const void *sockaddr;
  /**
   * Its address as nginx writes it.
   */
  txid_text text;
} txid_peer;

/**
 * What a request has of one header.
 */
typedef struct {
  /**
   * How often it is there.
   */
  size_t count;
  /**
   * The value of the last one.
   */
  txid_text value;
} txid_header;

/**
 * The span of a request, as it goes on in headers. One of length 0 is not to be sent.
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
   * X-B3-ParentSpanId: the span that this one was called from.
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
   * How long parent_span_id is: 16 or 0.
   */
  uint8_t parent_span_id_len;
  /**
   * How long b3 is.
   */
  uint8_t b3_len;
  /**
   * How long sampled is: 1 or 0.
   */
  uint8_t sampled_len;
  /**
   * How long flags is: 1 or 0.
   */
  uint8_t flags_len;
  /**
   * Whether it is the trace of the traceparent that came in, so that its tracestate goes on, too.
   */
  bool is_continued;
} txid_span;

/**
 * Opens a maker of ids. Of the `count` words, the first is the name of the format, and each that follows an option of it:
 * name=value. Returns NULL when something is wrong; then `message` says what.
 *
 * Safety:
 *
 * `list` must be valid for reads of `count` texts, `message` for writes of TXID_MESSAGE_LEN bytes.
 */
txid_maker *txid_maker_open(const txid_text *list,
                            size_t count,
                            char *message);

/**
 * Gives a maker back. Others that share its state go on.
 *
 * Safety:
 *
 * `maker` must be from txid_maker_open and not be used by anybody any more.
 */
void txid_maker_close(txid_maker *maker);

/**
 * Writes a new id of this moment, where the clock reads `clock_ms`, to `buf`, and returns how many characters it has; or 0,
 * and `message` says why there is none. An id that was to be one that nobody can guess, and is not because the system has
 * no randomness to give, sets `guessable`; else it is left as it is.
 *
 * Safety:
 *
 * `maker` must be from txid_maker_open, `buf` valid for writes of TXID_MAX_LEN bytes, `guessable` for a write, `message` for
 * writes of TXID_MESSAGE_LEN bytes.
 */
size_t txid_maker_fill(const txid_maker *maker,
                       int64_t clock_ms,
                       char *buf,
                       bool *guessable,
                       char *message);

/**
 * Reads a list of `count` networks: addresses, networks such as 10.0.0.0/8, unix: and all; or off alone. Returns NULL when
 * something is wrong; then `message` says what.
 *
 * Safety:
 *
 * `list` must be valid for reads of `count` texts, `message` for writes of TXID_MESSAGE_LEN bytes.
 */
txid_networks *txid_networks_open(const txid_text *list,
                                  size_t count,
                                  char *message);

/**
 * Gives networks back.
 *
 * Safety:
 *
 * `networks` must be from txid_networks_open and not be used by anybody any more.
 */
void txid_networks_close(txid_networks *networks);

/**
 * Whether the peer is in one of the networks.
 *
 * Safety:
 *
 * `networks` must be from txid_networks_open, `peer` be valid for a read, as must what it points to.
 */
bool txid_networks_contain(const txid_networks *networks,
                           const txid_peer *peer);

/**
 * What becomes of the id in `header`, which `peer` sent, where `accept` are the networks whose ids are taken. Of several headers none counts.
 *
 * Safety:
 *
 * `accept` must be from txid_networks_open, the others be valid for a read, as must what they point to.
 */
txid_verdict txid_judge(const txid_networks *accept,
                        const txid_peer *peer,
                        const txid_header *header);

/**
 * Whether `name` may be the name of a header.
 *
 * Safety:
 *
 * `name` must be valid for a read, as must its text.
 */
bool txid_is_header_name(const txid_text *name);

/**
 * Writes the first span of a new trace to `span`.
 *
 * Safety:
 *
 * `span` must be valid for a write.
 */
void txid_span_start(txid_span *span);

/**
 * Writes a span to `span` that continues what came in as `kind`; where nothing or nothing valid did, the first of a new
 * trace. `headers` are the request's traceparent, b3, X-B3-TraceId, X-B3-SpanId, X-B3-ParentSpanId, X-B3-Sampled and
 * X-B3-Flags.
 *
 * Safety:
 *
 * `headers` must be valid for reads of TXID_TRACE_HEADERS of them, as must their texts; `kind` must be one of the enum's, and
 * `span` be valid for a write.
 */
void txid_span_continue(txid_trace_kind kind,
                        const txid_header *headers,
                        txid_span *span);

/**
 * Writes the milliseconds since 1970-01-01 UTC that the id at `text` was stamped with to `ms`: of a txid, a UUID of version
 * 1, 6 or 7, a flake, a UNIQUE_ID, or an id of SOFATracer or SkyWalking. Returns whether it is one of these.
 *
 * Safety:
 *
 * `text` must be valid for a read, as must its bytes, and `ms` for a write.
 */
bool txid_time_in(const txid_text *text,
                  int64_t *ms);

/**
 * Writes the milliseconds since 1970 that txid_time_in found as RFC 3339 has them, "2014-09-01T00:00:00.000Z", to `buf`.
 * Returns whether they are of the years 0 to 9999; else nothing is written.
 *
 * Safety:
 *
 * `buf` must be valid for writes of TXID_RFC3339_LEN bytes.
 */
bool txid_rfc3339(int64_t ms,
                  uint8_t *buf);

#endif  /* NGX_TXID_LIB_H */
