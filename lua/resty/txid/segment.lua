-- Small, dense numbers from ranges that txid-agent takes from a database. segment.new{...} returns a source of numbers.

local args = require "resty.txid.args"
local ffi = require "ffi"
local lib = require "resty.txid.lib"


local C = lib.needed_by "resty.txid.segment"
local check_table = args.check_table
local error = error
local ffi_new = ffi.new
local ffi_str = ffi.string
local handle_of = args.handle_of
local pairs = pairs
local setmetatable = setmetatable
local tonumber = tonumber
local tostring = tostring
local type = type


local NEWS = {
    [lib.SEGMENT_NEWS_SERVING] = "serving",
    [lib.SEGMENT_NEWS_NO_TAG] = "no-tag",
    [lib.SEGMENT_NEWS_WENT_DOWN] = "went-down",
    [lib.SEGMENT_NEWS_ENDED] = "ended",
}

local buf = ffi_new("char[?]", lib.SEGMENT_LEN)
local message = ffi_new("char[?]", lib.MESSAGE_LEN)
local counters = ffi_new("txid_segment_counters")
local COUNTERS_SIZE = ffi.sizeof("txid_segment_counters")


local methods = {}
local segment_mt = { __index = methods }


-- Returns the next number in decimal, or nil and why there is none now.
function segment_mt.__call(self)
    local len = C.txid_segment_fill(self.handle, buf, message)
    if len < 0 then
        return nil, ffi_str(message)
    end
    return (ffi_str(buf, len))
end


-- Returns the next number as an int64_t, or nil and why there is none now.
function methods.next(self)
    local number = C.txid_segment_next(handle_of(self, "segment", "next", ""), message)
    if number < 0 then
        return nil, ffi_str(message)
    end
    return number
end


-- Returns what is left for all processes of this host, and what txid-agent reports.
function methods.stats(self)
    C.txid_segment_stats(handle_of(self, "segment", "stats", ""), counters, COUNTERS_SIZE)
    local contact_ms, lasts_ms = tonumber(counters.contact_ms), tonumber(counters.lasts_ms)
    return {
        left = tonumber(counters.left),
        next = tonumber(counters.next),
        step = tonumber(counters.step),
        lasts_ms = lasts_ms >= 0 and lasts_ms or nil,
        contact_ms = contact_ms > 0 and contact_ms or nil,
        fetches = tonumber(counters.fetches),
        failures = tonumber(counters.failures),
        news = NEWS[counters.news],
    }
end


-- Raises an error at the caller of new(), which called the function that calls this.
local function wrong(option, what)
    error("bad option '" .. option .. "' to 'new' (" .. what .. ")", 3)
end


local _M = {}


-- Returns a source of numbers; raises an error if an option is wrong or the file cannot be opened.
--   state  the file that txid-agent keeps, such as "/run/txid/invoices.segment"
function _M.new(options)
    check_table(options, "new")
    for key in pairs(options) do
        if key ~= "state" then
            wrong(tostring(key), "unknown option; the only option is state")
        end
    end

    local state = options.state
    if type(state) ~= "string" then
        wrong("state", "the file that txid-agent keeps expected, got " .. type(state))
    end
    if state:sub(1, 1) ~= "/" then
        wrong("state", "absolute path expected, got '" .. state .. "'")
    end
    -- C would read only the part before a NUL.
    if state:find("\0", 1, true) then
        wrong("state", "text without a NUL expected")
    end

    local opened = ffi_new("txid_segment *[1]")
    if C.txid_segment_open(state, #state, opened, message) < 0 then
        error("cannot open a segment: " .. ffi_str(message), 2)
    end
    return setmetatable({ handle = ffi.gc(opened[0], C.txid_segment_close) }, segment_mt)
end


return _M
