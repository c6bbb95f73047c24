"""The span that libtxid continues from a header, by its C interface."""

import ctypes

from library import LIBRARY, Text


class Field(ctypes.Structure):
    _fields_ = [("name_len", ctypes.c_int32), ("name", ctypes.c_char_p), ("value_len", ctypes.c_int32), ("value", ctypes.c_char_p)]


class Peer(ctypes.Structure):
    _fields_ = [("sockaddr", ctypes.c_void_p), ("text", Text)]


class Request(ctypes.Structure):
    _fields_ = [("peer", Peer), ("share", ctypes.c_int64), ("trust", ctypes.c_int8), ("judges", ctypes.c_bool),
                ("refused", ctypes.c_uint32), ("came", ctypes.c_uint32), ("repeated", ctypes.c_uint32),
                ("values", Text * 24)]


class Decision(ctypes.Structure):
    _fields_ = [("about", ctypes.c_int32), ("id", Text), ("span", ctypes.c_void_p), ("changes", ctypes.c_void_p)]


class Span(ctypes.Structure):
    _fields_ = [("trace_id", ctypes.c_char * 32), ("span_id", ctypes.c_char * 16), ("parent_span_id", ctypes.c_char * 16),
                ("traceparent", ctypes.c_char * 55), ("b3", ctypes.c_char * 68), ("sampled", ctypes.c_char), ("flags", ctypes.c_char),
                ("parent_span_id_len", ctypes.c_uint8), ("b3_len", ctypes.c_uint8), ("sampled_len", ctypes.c_uint8),
                ("flags_len", ctypes.c_uint8), ("is_continued", ctypes.c_bool), ("is_datadog", ctypes.c_bool), ("priority", ctypes.c_int8),
                ("open", ctypes.c_uint8), ("threshold", ctypes.c_int64), ("random_value", ctypes.c_uint64)]


NAMES = {"aws": b"X-Amzn-Trace-Id", "gcp": b"X-Cloud-Trace-Context", "traceparent": b"traceparent", "b3_single": b"b3", "jaeger": b"uber-trace-id"}
DATADOG = [b"X-Datadog-Trace-Id", b"X-Datadog-Parent-Id", b"X-Datadog-Sampling-Priority", b"X-Datadog-Tags"]


class Reader:
    """A policy that accepts the headers of this kind from anybody."""

    def __init__(self, kind):
        LIBRARY.txid_policy_open.restype = ctypes.c_void_p
        self.policy = ctypes.c_void_p(LIBRARY.txid_policy_open())
        self.names = DATADOG if kind == "datadog" else [NAMES[kind]]
        for option, value in [(b"accept", b"all"), (b"trace", kind.encode())]:
            words, message = (Text * 1)(Text(len(value), value)), ctypes.create_string_buffer(1024)
            if LIBRARY.txid_policy_set(self.policy, option, ctypes.c_size_t(len(option)), words, ctypes.c_size_t(1), message):
                raise ValueError(message.value)

    def span(self, *values):
        """Of the values of its headers, or None for those that are not there."""
        raw = [(name, value.encode("latin-1")) for name, value in zip(self.names, values) if value is not None]
        span = Span()
        request, decision = Request(peer=Peer(None, Text(9, b"127.0.0.1"))), Decision(span=ctypes.addressof(span))
        fields = (Field * len(raw))(*(Field(len(name), name, len(value), value) for name, value in raw))
        LIBRARY.txid_request_find(self.policy, fields, ctypes.c_size_t(len(raw)), ctypes.byref(request))
        LIBRARY.txid_decide(self.policy, ctypes.c_int64(0), ctypes.byref(request), ctypes.c_uint32(2), ctypes.byref(decision))
        return span

    def read(self, *values):
        """Trace, parent and decision, or None. A new trace is another one each time."""
        span = self.span(*values)
        if self.span(*values).trace_id != span.trace_id:
            return None
        parent = span.parent_span_id.decode() if span.parent_span_id_len else "0" * 16
        decision = "1" if span.flags_len else span.sampled.decode() if span.sampled_len else "?"
        return span.trace_id.decode(), parent, decision


def written(span, kind):
    """The header of the span: X-Amzn-Trace-Id, X-Cloud-Trace-Context, uber-trace-id, or one of Datadog's."""
    buffer = ctypes.create_string_buffer(74)
    kinds = ["aws", "gcp", "jaeger", "X-Datadog-Trace-Id", "X-Datadog-Parent-Id", "X-Datadog-Sampling-Priority", "X-Datadog-Tags"]
    length = LIBRARY.txid_span_header(ctypes.byref(span), kinds.index(kind), buffer)
    return buffer.raw[:length].decode()
