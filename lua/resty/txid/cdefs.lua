-- What include/txid.h and txid-internal.h declare. Written by `make headers`: do not edit.

require("ffi").cdef[[
typedef struct txid_hidden txid_hidden;
typedef struct txid_maker txid_maker;
typedef struct txid_policy txid_policy;
typedef struct txid_segment txid_segment;
typedef struct txid_snowflake txid_snowflake;
typedef struct {
  size_t len;
  const char *data;
} txid_text;
typedef struct {
  const void *sockaddr;
  txid_text text;
} txid_peer;
typedef struct {
  txid_peer peer;
  int64_t share;
  int8_t trust;
  bool judges;
  uint32_t refused;
  uint32_t came;
  uint32_t repeated;
  txid_text values[24];
} txid_request;
typedef struct {
  uint8_t trace_id[32];
  uint8_t span_id[16];
  uint8_t parent_span_id[16];
  uint8_t traceparent[55];
  uint8_t b3[68];
  uint8_t sampled;
  uint8_t flags;
  uint8_t parent_span_id_len;
  uint8_t b3_len;
  uint8_t sampled_len;
  uint8_t flags_len;
  bool is_continued;
  bool is_datadog;
  int8_t priority;
  uint8_t open;
  uint8_t of;
  int64_t threshold;
  uint64_t random_value;
} txid_span;
typedef struct {
  txid_text name;
  txid_text value;
  size_t place;
} txid_changed_header;
typedef struct {
  size_t count;
  size_t text_len;
  txid_changed_header list[24];
  uint8_t text[704];
} txid_changed_headers;
typedef struct {
  int32_t about;
  txid_text id;
  txid_span *span;
  txid_changed_headers *changes;
} txid_decision;
typedef int32_t (*txid_set_header)(void *request,
                                   const char *name,
                                   size_t name_len,
                                   const char *value,
                                   size_t value_len,
                                   const void *values,
                                   size_t values_len,
                                   int32_t replaces,
                                   const char **message);
typedef struct {
  int32_t name_len;
  const char *name;
  int32_t value_len;
  const char *value;
} txid_field;
typedef struct {
  txid_text id;
  txid_span *span;
  bool rejected;
  int8_t trust;
} txid_kept;
typedef void *(*txid_add_cleanup)(void *request, size_t size);
typedef struct {
  txid_text name;
  uint8_t value;
  uint8_t text_len;
  char text[63];
  uint64_t number;
} txid_part;
typedef struct {
  int64_t ms;
  size_t count;
  txid_part list[8];
} txid_parts;
typedef struct {
  txid_text format;
  txid_text layout;
  int64_t ms;
  bool is_unlikely;
} txid_reading;
typedef struct {
  uint64_t left;
  uint64_t next;
  uint64_t step;
  int64_t lasts_ms;
  int64_t contact_ms;
  uint64_t fetches;
  uint64_t failures;
  int32_t news;
} txid_segment_counters;
typedef struct {
  int64_t ms;
  int64_t node;
  int64_t sequence;
} txid_snowflake_parts;
typedef struct {
  uint64_t issued;
  uint64_t borrowed_ms;
  uint64_t clock_steps;
  uint64_t refused;
  int64_t node;
  int64_t lease_left_ms;
  uint64_t renewals;
  uint64_t failures;
  int64_t layout_ends_ms;
} txid_snowflake_counters;
typedef struct {
  txid_text key;
  txid_text value;
} txid_attribute;
typedef struct {
  txid_text service;
  txid_text name;
  txid_text method;
  txid_text path;
  txid_text scheme;
  txid_text host;
  txid_text client;
  txid_text protocol;
  txid_text user_agent;
  txid_text request_id;
  txid_text tracestate;
  uint32_t status;
  uint64_t start_ms;
  const txid_attribute *attributes;
  size_t attribute_count;
} txid_span_texts;
uint32_t txid_abi_version(void);
uint32_t txid_internal_version(void);
int64_t txid_clock_ms(void);
int64_t txid_clock_coarse_ms(void);
int32_t txid_decide(const txid_policy *policy,
                    int64_t clock_ms,
                    txid_request *request,
                    uint32_t wants,
                    txid_decision *decision);
bool txid_change_headers(const txid_changed_headers *changes, void *request, txid_set_header set);
void txid_request_find(const txid_policy *policy,
                       const txid_field *fields,
                       size_t count,
                       txid_request *request);
bool txid_request_trust(const txid_policy *policy, txid_request *request);
void txid_policy_header(const txid_policy *policy, size_t place, txid_text *name);
int64_t txid_share(const char *sample, size_t len);
const char *txid_strerror(int32_t code);
int32_t txid_hidden_open(const txid_text *list, size_t count, txid_hidden **hidden, char *message);
bool txid_hidden_is_locked(const txid_hidden *hidden, char *message);
void txid_hidden_close(txid_hidden *hidden);
int32_t txid_hidden_hide(const txid_hidden *hidden, uint64_t number, char *buf, char *message);
int32_t txid_hidden_reveal(const txid_hidden *hidden,
                           const char *text,
                           size_t len,
                           uint64_t *number,
                           char *message);
int32_t txid_hidden_hide_text(const txid_hidden *hidden,
                              const char *text,
                              size_t len,
                              char *buf,
                              char *message);
int32_t txid_hidden_reveal_text(const txid_hidden *hidden,
                                const char *text,
                                size_t len,
                                char *buf,
                                char *message);
txid_kept *txid_kept_of(const void *request);
txid_kept *txid_kept_start(void *request, txid_add_cleanup add, bool is_over);
bool txid_kept_set_id(txid_kept *kept, const char *id, size_t id_len);
txid_span *txid_kept_span_place(const txid_kept *kept);
int32_t txid_maker_open(const txid_text *list,
                        size_t count,
                        bool is_trial,
                        txid_maker **maker,
                        char *message);
void txid_maker_close(txid_maker *maker);
int32_t txid_maker_fill(const txid_maker *maker,
                        int64_t clock_ms,
                        char *buf,
                        bool *guessable,
                        char *message);
int32_t txid_maker_fill_at(const txid_maker *maker,
                           int64_t ms,
                           char *buf,
                           bool *guessable,
                           char *message);
txid_policy *txid_policy_open(void);
void txid_policy_close(txid_policy *policy);
int32_t txid_policy_set(txid_policy *policy,
                        const char *option,
                        size_t option_len,
                        const txid_text *list,
                        size_t count,
                        char *message);
int32_t txid_policy_check(const txid_policy *policy, bool is_id_of_trace, char *message);
int32_t txid_read(const char *format,
                  size_t format_len,
                  const char *text,
                  size_t len,
                  txid_parts *parts,
                  size_t size,
                  char *message);
size_t txid_readings(const char *text,
                     size_t len,
                     int64_t clock_ms,
                     txid_reading *readings,
                     size_t size,
                     size_t room);
int32_t txid_segment_open(const char *path, size_t path_len, txid_segment **segment, char *message);
void txid_segment_close(txid_segment *segment);
int64_t txid_segment_next(const txid_segment *segment, char *message);
int32_t txid_segment_fill(const txid_segment *segment, char *buf, char *message);
void txid_segment_stats(const txid_segment *segment, txid_segment_counters *counters, size_t size);
int32_t txid_snowflake_open(const char *layout,
                            size_t layout_len,
                            int64_t node,
                            const char *path,
                            size_t path_len,
                            uint64_t max_drift_ms,
                            txid_snowflake **generator,
                            char *message);
int64_t txid_snowflake_node(const char *layout,
                            size_t layout_len,
                            const char *text,
                            size_t len,
                            char *message);
void txid_snowflake_close(txid_snowflake *generator);
int64_t txid_snowflake_next(const txid_snowflake *generator, int64_t clock_ms, char *message);
int32_t txid_snowflake_fill(const txid_snowflake *generator,
                            int64_t clock_ms,
                            char *buf,
                            char *message);
int64_t txid_snowflake_parse(const char *text, size_t len);
int32_t txid_snowflake_decode(const txid_snowflake *generator,
                              int64_t id,
                              txid_snowflake_parts *parts,
                              size_t size);
void txid_snowflake_stats(const txid_snowflake *generator,
                          txid_snowflake_counters *counters,
                          size_t size);
void txid_span_start(const txid_policy *policy, int64_t clock_ms, txid_span *span);
size_t txid_span_header(const txid_span *span, int32_t kind, char *buf);
size_t txid_span_line(const txid_span *span, const txid_span_texts *texts, char *buf);
void txid_fill(char *buf, int64_t ms);
void txid_fill_now(char *buf, int64_t clock_ms);
bool txid_entropy_degraded(void);
void txid_first(char *buf, int64_t ms);
void txid_last(char *buf, int64_t ms);
int64_t txid_ms(const char *text, size_t len);
int32_t txid_to_bytes(const char *text, size_t len, uint8_t *bytes_out);
void txid_from_bytes(const uint8_t *bytes, char *buf);
void txid_uuid_v4(char *buf);
void txid_uuid_v7(char *buf, int64_t ms);
void txid_uuid_v7_now(char *buf, int64_t clock_ms);
int32_t txid_uuid_of_name(int32_t version,
                          const char *namespace_text,
                          size_t namespace_len,
                          const char *name,
                          size_t len,
                          char *buf);
]]


return {
    ABI_VERSION = 2,
    INTERNAL_VERSION = 3,
    MESSAGE_LEN = 1024,
    PLACES = 24,
    IDS = 4,
    CHANGED_TEXT_LEN = 704,
    HIDDEN_LEN = 36,
    MAX_LEN = 90,
    PARTS_MAX = 8,
    PART_LEN = 63,
    READINGS_MAX = 16,
    SEGMENT_LEN = 19,
    SNOWFLAKE_LEN = 19,
    NODE_LEASED = -1,
    TRACE_ID_LEN = 32,
    SPAN_ID_LEN = 16,
    TRACEPARENT_LEN = 55,
    B3_MAX_LEN = 68,
    SPAN_HEADER_MAX_LEN = 74,
    SPAN_LINE_MAX_LEN = 32768,
    LEN = 20,
    BYTES_LEN = 12,
    UUID_LEN = 36,
    ERROR_LENGTH = -1,
    ERROR_CHARACTER = -2,
    ERROR_LAST_CHARACTER = -3,
    ERROR_VALUE = -10,
    ERROR_OPTION = -20,
    ERROR_OPTION_TWICE = -21,
    ERROR_SNOWFLAKE_LAYOUT = -30,
    ERROR_SNOWFLAKE_NODE = -31,
    ERROR_SNOWFLAKE_FILE = -32,
    ERROR_SNOWFLAKE_STATE = -33,
    ERROR_SNOWFLAKE_CLOCK_BEHIND = -34,
    ERROR_SNOWFLAKE_EXHAUSTED = -35,
    ERROR_SNOWFLAKE_BEFORE_EPOCH = -36,
    ERROR_SNOWFLAKE_ENDED = -37,
    ERROR_SNOWFLAKE_ID = -38,
    ERROR_SNOWFLAKE_UNLEASED = -39,
    ERROR_SEGMENT_FILE = -50,
    ERROR_SEGMENT_STATE = -51,
    ERROR_SEGMENT_USED_UP = -52,
    ERROR_KEY_FILE = -60,
    ERROR_KEY = -61,
    ERROR_HIDDEN_NUMBER = -62,
    ERROR_HIDDEN_CHECK = -63,
    ERROR_HIDDEN_PERIOD = -64,
    ERROR_OTHER_KEY = -65,
    SEGMENT_NEWS_SERVING = 0,
    SEGMENT_NEWS_NO_TAG = 1,
    SEGMENT_NEWS_WENT_DOWN = 2,
    SEGMENT_NEWS_ENDED = 3,
    SPAN_KIND_AWS = 0,
    SPAN_KIND_GCP = 1,
    SPAN_KIND_JAEGER = 2,
    SPAN_KIND_DATADOG_TRACE_ID = 3,
    SPAN_KIND_DATADOG_PARENT_ID = 4,
    SPAN_KIND_DATADOG_PRIORITY = 5,
    SPAN_KIND_DATADOG_TAGS = 6,
    SPAN_KIND_TRACESTATE = 7,
    SPAN_KIND_TRACE_SAMPLED = 8,
    SPAN_OF_THIS_HOP = 0,
    SPAN_OF_CALLER = 1,
    SPAN_OF_TRACE = 2,
    SPAN_OF_NONE = 3,
    VALUE_TEXT = 0,
    VALUE_NUMBER = 1,
    VALUE_FLAG = 2,
    VERDICT_NEW = 0,
    VERDICT_ACCEPTED = 1,
    VERDICT_INVALID = 2,
    WANTS_ID = 1,
    WANTS_SPAN = 2,
    WANTS_CHANGES = 4,
}
