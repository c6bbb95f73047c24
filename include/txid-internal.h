
/*
 * What nginx's modules and the Lua modules of this release use besides txid.h. It is not installed, and may change with each
 * release. Names after TXID_NGINX are only in the library that nginx's modules are linked with.
 *
 * Generated from crates/capi/ by `make headers`: do not edit.
 */

#ifndef TXID_INTERNAL_H
#define TXID_INTERNAL_H

#include "txid.h"

/// The version of the interface that nginx's modules and the Lua modules use besides txid.h. Both are of the same release.
#define TXID_INTERNAL_VERSION 3

/// How many headers a policy looks at. Each has a place: the names of the option `header` in their order, that of trace_id_header at
/// TXID_IDS, and those of traces. A set of places has a bit for each.
#define TXID_PLACES 24

/// How many headers an id may come in.
#define TXID_IDS 4

/// The length of all values that change, but the id.
#define TXID_CHANGED_TEXT_LEN 704

#if defined(TXID_NGINX)
/// The length of the longest name of a header of traces.
#define TXID_TRACE_HEADER_MAX_LEN 27
#endif

/// The length of a trace id.
#define TXID_TRACE_ID_LEN 32

/// The length of a span id.
#define TXID_SPAN_ID_LEN 16

/// The length of a traceparent of version 00.
#define TXID_TRACEPARENT_LEN 55

/// The length of the longest b3 header.
#define TXID_B3_MAX_LEN 68

/// The length of the longest header of txid_span_header.
#define TXID_SPAN_HEADER_MAX_LEN 74

/// The length of the longest line of txid_span_line.
#define TXID_SPAN_LINE_MAX_LEN 32768

#if defined(TXID_NGINX)
/// The length of the longest time that txid_time_in writes.
#define TXID_TIME_LEN 24
#endif

/// A header that is not in a txid_span, but is made of it.
typedef enum {
  /// X-Amzn-Trace-Id
  TXID_SPAN_KIND_AWS = 0,
  /// X-Cloud-Trace-Context
  TXID_SPAN_KIND_GCP = 1,
  /// uber-trace-id
  TXID_SPAN_KIND_JAEGER = 2,
  /// X-Datadog-Trace-Id
  TXID_SPAN_KIND_DATADOG_TRACE_ID = 3,
  /// X-Datadog-Parent-Id
  TXID_SPAN_KIND_DATADOG_PARENT_ID = 4,
  /// X-Datadog-Sampling-Priority; its length is 0 if the decision is left to the next hop.
  TXID_SPAN_KIND_DATADOG_PRIORITY = 5,
  /// X-Datadog-Tags, unless is_datadog says that they are passed on; its length is 0 if there is nothing to say.
  TXID_SPAN_KIND_DATADOG_TAGS = 6,
  /// tracestate, unless is_continued says that it is passed on; its length is 0 if there is nothing to say.
  TXID_SPAN_KIND_TRACESTATE = 7,
  /// 1 if the traceparent says that the trace is recorded, else 0.
  TXID_SPAN_KIND_TRACE_SAMPLED = 8,
} txid_span_kind;

/// Whose span a txid_span is.
typedef enum {
  /// This hop's.
  TXID_SPAN_OF_THIS_HOP = 0,
  /// The caller's: this hop has none of its own.
  TXID_SPAN_OF_CALLER = 1,
  /// A trace came in, of which only the id is known.
  TXID_SPAN_OF_TRACE = 2,
  /// No trace came in, and none begins here.
  TXID_SPAN_OF_NONE = 3,
} txid_span_of;

/// What is to be decided.
typedef enum {
  /// Whether an id is kept: `about` and `id`.
  TXID_WANTS_ID = 1,
  /// The span: what `span` points to.
  TXID_WANTS_SPAN = 2,
  /// What `changes` points to, for the id and the span that were decided now or before. Without an id, the header for it is left out.
  TXID_WANTS_CHANGES = 4,
} txid_wants;

#if defined(TXID_NGINX)
/// Makes txids, in one thread.
typedef struct txid_generator txid_generator;
#endif

#if defined(TXID_NGINX)
/// Which formats ids are looked for in, where the time of one is wanted.
typedef struct txid_times txid_times;
#endif

/// The sender of a request.
typedef struct {
  /// Its struct sockaddr, or NULL if only its text is known.
  const void *sockaddr;
  /// Its address as nginx writes it.
  txid_text text;
} txid_peer;

/// What a gateway knows of a request. If all of it is zero, nothing came in, and the policy's options count.
typedef struct {
  /// Who sent it.
  txid_peer peer;
  /// The share of traces that are recorded, as txid_share has it, in place of the policy's; or 0.
  int64_t share;
  /// 1 if the peer is trusted, -1 if not, and 0 if the policy is to say.
  int8_t trust;
  /// Whether each id that came once is valid, but those of `refused`.
  bool judges;
  /// Places of ids that are not valid.
  uint32_t refused;
  /// The headers that came.
  uint32_t came;
  /// Those of them that came more than once.
  uint32_t repeated;
  /// Their values, with the spaces around them. Only those of headers that came once are read.
  txid_text values[TXID_PLACES];
} txid_request;

/// The span of a request, in the form of headers. A header of length 0 must not be sent.
typedef struct {
  /// X-B3-TraceId: the trace.
  uint8_t trace_id[TXID_TRACE_ID_LEN];
  /// X-B3-SpanId: this hop.
  uint8_t span_id[TXID_SPAN_ID_LEN];
  /// X-B3-ParentSpanId: the span that called this one.
  uint8_t parent_span_id[TXID_SPAN_ID_LEN];
  /// traceparent
  uint8_t traceparent[TXID_TRACEPARENT_LEN];
  /// b3
  uint8_t b3[TXID_B3_MAX_LEN];
  /// X-B3-Sampled: 0 or 1.
  uint8_t sampled;
  /// X-B3-Flags: 1.
  uint8_t flags;
  /// The length of parent_span_id: 16 or 0.
  uint8_t parent_span_id_len;
  /// The length of b3.
  uint8_t b3_len;
  /// The length of sampled: 1 or 0.
  uint8_t sampled_len;
  /// The length of flags: 1 or 0.
  uint8_t flags_len;
  /// Whether it continues the trace of the traceparent that came in, so that its tracestate is passed on as well.
  bool is_continued;
  /// Whether it continues the trace of Datadog's headers that came in, so that X-Datadog-Tags and X-Datadog-Origin are passed
  /// on as well.
  bool is_datadog;
  /// The X-Datadog-Sampling-Priority that came in, if it says more than sampled and flags; otherwise 0.
  int8_t priority;
  /// Whether it was left to this hop to decide if the trace is recorded: 1 by the end of its id, and 2 by random_value, which is sent.
  uint8_t open;
  /// Whose it is, a txid_span_of.
  uint8_t of;
  /// How many of 2^56 traces are not recorded, if this hop decided by it; otherwise -1.
  int64_t threshold;
  /// The value that decides; of 2, once it has.
  uint64_t random_value;
} txid_span;

/// A header of a request that must change.
typedef struct {
  /// Its name.
  txid_text name;
  /// Its new value; `data` is NULL if the request must not have it.
  txid_text value;
  /// Its place.
  size_t place;
} txid_changed_header;

/// The headers of a request that must change.
typedef struct {
  /// How many there are.
  size_t count;
  /// The length of `text`.
  size_t text_len;
  /// The headers; `count` of them are written.
  txid_changed_header list[TXID_PLACES];
  /// Their values, one after the other.
  uint8_t text[TXID_CHANGED_TEXT_LEN];
} txid_changed_headers;

/// What is decided about a request.
typedef struct {
  /// The place of the id that is kept, or of the first invalid one; otherwise -1.
  int32_t about;
  /// The id that is kept. If its length is 0, the caller makes one.
  txid_text id;
  /// Room for the span, or the one that was decided before. NULL if the request has none.
  txid_span *span;
  /// Room for the headers that must change.
  txid_changed_headers *changes;
} txid_decision;

/// Sets a header of a request, or removes it if `value` is NULL: lua-nginx-module's ngx_http_lua_ffi_req_set_header. Returns 0, or -5 for a
/// header that it does not set.
typedef int32_t (*txid_set_header)(void *request,
                                   const char *name,
                                   size_t name_len,
                                   const char *value,
                                   size_t value_len,
                                   const void *values,
                                   size_t values_len,
                                   int32_t replaces,
                                   const char **message);

/// A header of a request, laid out as lua-nginx-module's ngx_http_lua_ffi_table_elt_t.
typedef struct {
  /// The length of the name.
  int32_t name_len;
  /// The name, in any case.
  const char *name;
  /// The length of the value.
  int32_t value_len;
  /// The value.
  const char *value;
} txid_field;

/// What is kept for a request.
typedef struct {
  /// Its id. NULL until there is one.
  txid_text id;
  /// Its span. NULL until there is one.
  txid_span *span;
  /// Whether it is still to be rejected.
  bool rejected;
  /// As in txid_request.
  int8_t trust;
} txid_kept;

/// Adds an entry to the list of a request's main request, with `size` bytes of its memory as data, and returns it: nginx's
/// ngx_http_cleanup_add.
typedef void *(*txid_add_cleanup)(void *request, size_t size);

#if defined(TXID_NGINX)
/// What a policy says of every request.
typedef struct {
  /// Whether it accepts nobody's ids, so that no header needs to be read.
  bool trusts_nobody;
  /// Whether it rejects requests with an invalid id.
  bool rejects;
  /// Whether it continues traces.
  bool traces;
  /// Whether this hop has no span.
  bool passes_spans;
} txid_terms;
#endif

/// An attribute of a span.
typedef struct {
  /// Its name.
  txid_text key;
  /// Its value. An attribute without one is left out.
  txid_text value;
} txid_attribute;

/// What a span tells of its request. Texts may have any bytes; those without any are left out.
typedef struct {
  /// The name of the service.
  txid_text service;
  /// The name of the span; by default, the method.
  txid_text name;
  /// The method.
  txid_text method;
  /// The path as it came. A query in it is left out.
  txid_text path;
  /// http or https
  txid_text scheme;
  /// The name of the host, without a port.
  txid_text host;
  /// The address of the client.
  txid_text client;
  /// The protocol, as in HTTP/1.1.
  txid_text protocol;
  /// The User-Agent header.
  txid_text user_agent;
  /// The id of the request.
  txid_text request_id;
  /// The tracestate that came in. It counts if the span says that it is passed on.
  txid_text tracestate;
  /// The status of the response; below 100 if there is none.
  uint32_t status;
  /// When the request began, in milliseconds since 1970.
  uint64_t start_ms;
  /// More attributes.
  const txid_attribute *attributes;
  /// How many.
  size_t attribute_count;
} txid_span_texts;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/// The TXID_INTERNAL_VERSION that the library was built with.
uint32_t txid_internal_version(void);

/// Decides about a request what is in `wants`, a sum of txid_wants, and leaves the rest of `decision` as it is. Returns a txid_verdict on
/// the id, if that is decided. If several are wanted, `trust` of the request then says whether the peer is trusted. See txid_fill_now for
/// `clock_ms`.
///
/// Safety:
///
/// `policy` must be from txid_policy_open; `request` and what it points to must be valid for reads, and `trust` for a write; `decision`
/// and the rooms in it for what is wanted for writes. It then points into itself, to the policy and to the request.
int32_t txid_decide(const txid_policy *policy,
                    int64_t clock_ms,
                    txid_request *request,
                    uint32_t wants,
                    txid_decision *decision);

/// Changes these headers of a request by `set`. Returns false if one cannot be set.
///
/// Safety:
///
/// `changes` must be from txid_decide, and what it points to still be there; `request` must be one that `set` takes.
bool txid_change_headers(const txid_changed_headers *changes,
                         void *request,
                         txid_set_header set);

/// Finds the headers that the policy looks at among the `count` at `fields`, and writes them to `request`: what came, and the values.
///
/// Safety:
///
/// `policy` must be from txid_policy_open; `fields` valid for reads of `count` of them, as must be what they point to; `request` for
/// writes. It then points to the values of the fields.
void txid_request_find(const txid_policy *policy,
                       const txid_field *fields,
                       size_t count,
                       txid_request *request);

/// Whether the peer of the request is trusted: by its `trust`, and otherwise by the policy, and then `trust` says so.
///
/// Safety:
///
/// `policy` must be from txid_policy_open, and `request` valid for reads and a write, as must be its peer for reads.
bool txid_request_trust(const txid_policy *policy,
                        txid_request *request);

/// Writes the name of the header at this place to `name`, as it was chosen; its length is 0 if the policy looks at none there. The name
/// is valid until the policy changes.
///
/// Safety:
///
/// `policy` must be from txid_policy_open, and `name` valid for a write.
void txid_policy_header(const txid_policy *policy,
                        size_t place,
                        txid_text *name);

/// The share of traces that these words of the option `sample` say, for txid_request: more than 0; or 0 for "off", and -1 if they are
/// wrong.
///
/// Safety:
///
/// `sample` must be valid for reads of `len` bytes.
int64_t txid_share(const char *sample,
                   size_t len);

#if defined(TXID_NGINX)
/// Opens a generator of txids. Release it with txid_generator_close.
txid_generator *txid_generator_open(void);
#endif

#if defined(TXID_NGINX)
/// Releases a generator.
///
/// Safety:
///
/// `generator` must be from txid_generator_open and must not be used any more; or NULL, which does nothing.
void txid_generator_close(txid_generator *generator);
#endif

#if defined(TXID_NGINX)
/// Writes a new txid of this moment to `buf`; see txid_fill_now for `clock_ms`.
///
/// Safety:
///
/// `generator` must be from txid_generator_open and not in use by another thread, `buf` valid for writes of TXID_LEN bytes.
void txid_generator_fill(const txid_generator *generator,
                         int64_t clock_ms,
                         char *buf);
#endif

/// Returns what is kept for the request, or NULL: before txid_kept_start, in the log phase, and if `request` is NULL.
///
/// Safety:
///
/// `request` must be an ngx_http_request_t, or NULL.
txid_kept *txid_kept_of(const void *request);

/// Returns what is kept for the request, or begins to keep it, with `add`, and without an id. In the log phase, `is_over` must
/// be true. Returns NULL if there is no memory, or if this nginx lays out its requests in an unknown way.
///
/// Safety:
///
/// `request` must be an ngx_http_request_t of a client, and `add` ngx_http_cleanup_add.
txid_kept *txid_kept_start(void *request,
                           txid_add_cleanup add,
                           bool is_over);

/// Keeps the id of a request. Returns false if there is no memory.
///
/// Safety:
///
/// `kept` must be from txid_kept_start for the current request, and `id` valid for reads of `id_len` bytes.
bool txid_kept_set_id(txid_kept *kept,
                      const char *id,
                      size_t id_len);

/// Returns memory for a span that lives as long as the request, or NULL.
///
/// Safety:
///
/// `kept` must be from txid_kept_start for the current request.
txid_span *txid_kept_span_place(const txid_kept *kept);

#if defined(TXID_NGINX)
/// As txid_maker_open, of a format that needs no options: the one with the name of `len` characters at `name`.
///
/// Safety:
///
/// `name` must be valid for reads of `len` bytes, `maker` for a write, `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
int32_t txid_maker_named(const char *name,
                         size_t len,
                         txid_maker **maker,
                         char *message);
#endif

#if defined(TXID_NGINX)
/// Writes the name of a header of traces to `name`, in lower case, and returns its length: of the one at this place. Returns 0 for
/// those whose names the policy chooses.
///
/// Safety:
///
/// `name` must be valid for writes of TXID_TRACE_HEADER_MAX_LEN bytes.
size_t txid_trace_header(size_t at,
                         char *name);
#endif

#if defined(TXID_NGINX)
/// Takes from `parent` the options that are not set in `policy`.
///
/// Safety:
///
/// Both must be from txid_policy_open, and `policy` not in use by another thread.
void txid_policy_inherit(txid_policy *policy, const txid_policy *parent);
#endif

#if defined(TXID_NGINX)
/// Writes what the policy says of every request to `terms`.
///
/// Safety:
///
/// `policy` must be from txid_policy_open, and `terms` valid for a write.
void txid_policy_terms(const txid_policy *policy, txid_terms *terms);
#endif

#if defined(TXID_NGINX)
/// Whether the header whose name are the `len` characters at `name` can carry an id. Returns 0, or a txid_error; then
/// `message` says why not.
///
/// Safety:
///
/// `name` must be valid for reads of `len` bytes, `message` NULL or valid for writes of TXID_MESSAGE_LEN bytes.
int32_t txid_check_header_name(const char *name,
                               size_t len,
                               char *message);
#endif

/// Writes the first span of a new trace to `span`; see txid_fill_now for `clock_ms`.
///
/// Safety:
///
/// `policy` must be from txid_policy_open, or NULL for one without options; `span` must be valid for a write.
void txid_span_start(const txid_policy *policy,
                     int64_t clock_ms,
                     txid_span *span);

/// Writes a header of a span, a txid_span_kind, to `buf`, and returns its length; 0 if there is none of this kind.
///
/// Safety:
///
/// `span` must be from txid_span_start or txid_decide, and `buf` valid for writes of TXID_SPAN_HEADER_MAX_LEN bytes.
size_t txid_span_header(const txid_span *span,
                        int32_t kind,
                        char *buf);

/// Writes a request that ends now to `buf`, as a line of OTLP/JSON without its end, and returns its length; 0 if its trace is not
/// recorded.
///
/// Safety:
///
/// `span` must be from txid_span_start or txid_decide; `texts` and what it points to must be valid for reads, and `buf` for writes of
/// TXID_SPAN_LINE_MAX_LEN bytes.
size_t txid_span_line(const txid_span *span,
                      const txid_span_texts *texts,
                      char *buf);

#if defined(TXID_NGINX)
/// Opens a list of the `count` formats whose names are at `list`, perhaps with options as in snowflake(layout=discord) or
/// trace_id(epoch=2020-01-01), and writes it to `times`. With `is_only`, the time of a text is that of the first one that it
/// fits. Otherwise they are the formats that a server makes: such a text is rather its own id than another's, if its time can
/// be; and if it fits none, it is read as txid_time_in does without a list. Release it with txid_times_close.
///
/// Returns 0, or a txid_error; then `message` says what is wrong, and `times` is unchanged.
///
/// Safety:
///
/// `list` must be valid for reads of `count` texts, as must their bytes; `times` for a write, `message` NULL or valid for
/// writes of TXID_MESSAGE_LEN bytes.
int32_t txid_times_open(const txid_text *list,
                        size_t count,
                        bool is_only,
                        txid_times **times,
                        char *message);
#endif

#if defined(TXID_NGINX)
/// Releases a list of formats.
///
/// Safety:
///
/// `times` must be from txid_times_open and must not be used any more; or NULL, which does nothing.
void txid_times_close(txid_times *times);
#endif

#if defined(TXID_NGINX)
/// Writes the time in the id of `len` characters at `text` to `buf`, and returns its length; 0 if there is none, or if the text
/// can be of another time, too. Without `times`, most txids that are older than an hour can: they may as well be xids. The time
/// is in milliseconds since 1970-01-01 UTC, or with `iso8601` as in "2014-09-01T00:00:00.000Z".
///
/// Safety:
///
/// `times` must be from txid_times_open, or NULL; `text` must be valid for reads of `len` bytes, `buf` for writes of
/// TXID_TIME_LEN bytes.
size_t txid_time_in(const txid_times *times,
                    const char *text,
                    size_t len,
                    bool iso8601,
                    char *buf);
#endif

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TXID_INTERNAL_H */
