-- 64-bit ids of the snowflake family, from one state for all workers of a host. snowflake.new{...} returns a generator.

local args = require "resty.txid.args"
local ffi = require "ffi"
local lib = require "resty.txid.lib"
local text = require "resty.txid.text"


local C = lib.needed_by "resty.txid.snowflake"
local bad_argument = args.bad_argument
local check_table = args.check_table
local error = error
local ffi_new = ffi.new
local ffi_str = ffi.string
local find = string.find
local floor = math.floor
local format = string.format
local getenv = os.getenv
local handle_of = args.handle_of
local is_int64 = args.is_int64
local pairs = pairs
local printable = text.printable
local rfc3339 = text.rfc3339
local setmetatable = setmetatable
local sort = table.sort
local tonumber = tonumber
local tostring = tostring
local type = type
local concat = table.concat


local MAX_NUMBER = 2^53
local DEFAULT_MAX_DRIFT = 10
local ORDERS = {
    ["time,node,sequence"] = { "node_bits", "sequence_bits" },
    ["time,sequence,node"] = { "sequence_bits", "node_bits" },
}
local OPTIONS = { layout = true, node = true, state = true, max_drift = true }
local PARTS_OF_A_LAYOUT = {
    time_bits = true, node_bits = true, sequence_bits = true, unit_ms = true, epoch = true, random_start = true,
    order = true,
}

local buf = ffi_new("char[?]", lib.SNOWFLAKE_LEN)
local message = ffi_new("char[?]", lib.MESSAGE_LEN)
local parts = ffi_new("txid_snowflake_parts")
local PARTS_SIZE = ffi.sizeof("txid_snowflake_parts")
local counters = ffi_new("txid_snowflake_counters")
local COUNTERS_SIZE = ffi.sizeof("txid_snowflake_counters")

local get_phase = ngx and ngx.get_phase


local methods = {}
local generator_mt = { __index = methods }


-- nginx's cached time is enough: before an id is refused, the library reads the clock itself.
local clock_ms = ngx and lib.clock_ms or function()
    return (C.txid_clock_coarse_ms())
end


-- Returns the next id in decimal, or nil and why there is none now.
function generator_mt.__call(self)
    local len = C.txid_snowflake_fill(self.handle, clock_ms(), buf, message)
    if len < 0 then
        return nil, ffi_str(message)
    end
    return (ffi_str(buf, len))
end


-- Returns the next id as an int64_t, or nil and why there is none now.
function methods.next(self)
    local id = C.txid_snowflake_next(handle_of(self, "generator", "next", ""), clock_ms(), message)
    if id < 0 then
        return nil, ffi_str(message)
    end
    return id
end


-- A number if that is exact, otherwise the int64_t.
local function exact(value)
    return value <= MAX_NUMBER and value >= -MAX_NUMBER and tonumber(value) or value
end


-- Returns the id as a number for C; or nil and why it is not an id.
local function number_of(id)
    if type(id) == "string" then
        local number = C.txid_snowflake_parse(id, #id)
        if number < 0 then
            return nil, "'" .. printable(id) .. "' is not a 64-bit id in decimal"
        end
        return number
    end

    if not is_int64(id) then
        -- A Lua number cannot hold the last bits of most ids.
        bad_argument(1, "decode", "string, int64_t or uint64_t", id)
    end
    return id
end


-- Returns the fields of an id: `ms`, the same as an RFC 3339 `time`, `node` and `sequence`; or nil and what is wrong
-- with it.
function methods.decode(self, id)
    local handle = handle_of(self, "generator", "decode", "")
    local number, err = number_of(id)
    if not number then
        return nil, err
    end

    if C.txid_snowflake_decode(handle, number, parts, PARTS_SIZE) < 0 then
        return nil, format("'%s' has more bits than the layout", tostring(id):gsub("U?LL$", ""))
    end

    local ms, node = exact(parts.ms), exact(parts.node)
    return {
        ms = ms,
        time = rfc3339(tonumber(ms)),
        node = node,
        sequence = exact(parts.sequence),
        datacenter = self.has_datacenters and floor(node / 32) or nil,
        worker = self.has_datacenters and node % 32 or nil,
    }
end


-- What this generator has done in this process, how far all users of its state are ahead of the clock, and the last
-- millisecond of the layout. If the node is leased, also what is left of the lease, how often it was taken or renewed,
-- and how often the agent's store failed.
function methods.stats(self)
    C.txid_snowflake_stats(handle_of(self, "generator", "stats", ""), counters, COUNTERS_SIZE)
    local is_leased = counters.lease_left_ms >= 0
    return {
        issued = tonumber(counters.issued),
        borrowed_ms = tonumber(counters.borrowed_ms),
        clock_steps = tonumber(counters.clock_steps),
        refused = tonumber(counters.refused),
        layout_ends_ms = exact(counters.layout_ends_ms),
        node = counters.node >= 0 and exact(counters.node) or nil,
        lease_left_ms = is_leased and tonumber(counters.lease_left_ms) or nil,
        renewals = is_leased and tonumber(counters.renewals) or nil,
        failures = is_leased and tonumber(counters.failures) or nil,
    }
end


-- Raises an error at the caller of new(), which called the function that calls this.
local function wrong(option, what)
    error("bad option '" .. option .. "' to 'new' (" .. what .. ")", 4)
end


local function check_keys(given, known, prefix)
    for key in pairs(given) do
        if not known[key] then
            local names = {}
            for name in pairs(known) do
                names[#names + 1] = name
            end
            sort(names)
            wrong(prefix .. tostring(key), "unknown option; the options are " .. concat(names, ", "))
        end
    end
end


-- C would read only the part before a NUL.
local function check_text(option, value)
    if value:find("\0", 1, true) then
        wrong(option, "text without a NUL expected")
    end
end


local function number_text(value)
    return (format("%.17g", value))
end


-- The layout as text for txid_snowflake_open, which checks the values.
local function layout_text(layout)
    if type(layout) == "string" then
        return layout
    end
    if type(layout) ~= "table" then
        wrong("layout", "string or table expected, got " .. type(layout))
    end

    local order = ORDERS[layout.order == nil and "time,node,sequence" or layout.order]
    if not order then
        wrong("layout.order", "'time,node,sequence' or 'time,sequence,node' expected, got "
                              .. tostring(layout.order))
    end

    local given = {}
    for _, part in ipairs { "time_bits", order[1], order[2], "unit_ms", "epoch", "random_start" } do
        local value = layout[part]
        if type(value) == "number" then
            given[#given + 1] = part .. "=" .. number_text(value)

        elseif type(value) == "string" and part == "epoch" then
            given[#given + 1] = part .. "=" .. value

        elseif value ~= nil then
            wrong("layout." .. part, "number expected, got " .. type(value))
        end
    end
    return concat(given, ",")
end


local function node_text(node, layout)
    -- As Sonyflake itself does.
    if node == nil and layout == "sonyflake" then
        node = "ip"
    end
    if type(node) == "function" then
        node = node()
    end
    if type(node) == "number" then
        return number_text(node)
    end
    if type(node) ~= "string" then
        wrong("node", "number, string or function that returns one expected, got " .. type(node))
    end
    return node
end


local function check_state(state)
    if state == nil then
        if not get_phase or get_phase() ~= "init" then
            wrong("state", "without it, workers share a generator only if it is made in init_by_lua when nginx starts; "
                           .. "make it there, or give a file: state = \"/var/lib/txid/orders\"")
        end
        -- The sockets that an nginx passes on to the binary that it starts.
        if getenv("NGINX") then
            wrong("state", "without it, the workers before and after a binary upgrade would repeat each other's ids; "
                           .. "give a file, or restart nginx instead")
        end

    elseif type(state) ~= "string" then
        wrong("state", "string expected, got " .. type(state))

    elseif state:sub(1, 1) ~= "/" then
        -- A relative path could be another file for another process, and ids would repeat.
        wrong("state", "absolute path expected, got '" .. state .. "'")
    end
    return state
end


local function max_drift_ms(max_drift)
    if max_drift == nil then
        max_drift = DEFAULT_MAX_DRIFT
    end
    if type(max_drift) ~= "number" then
        wrong("max_drift", "number of seconds expected, got " .. type(max_drift))
    end
    if not (max_drift >= 0 and max_drift * 1000 <= MAX_NUMBER) then
        wrong("max_drift", "seconds from 0 on expected, got " .. number_text(max_drift))
    end
    return floor(max_drift * 1000 + 0.5)
end


local _M = {}


-- Returns a generator; raises an error if an option is wrong or the state cannot be opened.
--   layout     "snowflake", "sonyflake", "uid", "leaf", "snowflake53", "discord", "instagram", or one of these with
--              ",random_start=N"; or a table: time_bits, node_bits, sequence_bits; optionally unit_ms (1), epoch (1970;
--              milliseconds or a date), random_start, and order ("time,node,sequence")
--   node       a number, "env:NAME", "ip" (sonyflake's default), "hostname", "lease" (from txid-agent), or a function
--              that returns one of them
--   state      the file that all processes with this node share
--   max_drift  how many seconds ids may run ahead of the clock; default 10
function _M.new(options)
    check_table(options, "new")
    check_keys(options, OPTIONS, "")
    if type(options.layout) == "table" then
        check_keys(options.layout, PARTS_OF_A_LAYOUT, "layout.")
    end

    local layout = layout_text(options.layout)
    local node = node_text(options.node, layout)
    local state, drift_ms = check_state(options.state), max_drift_ms(options.max_drift)
    check_text("layout", layout)
    check_text("node", node)
    check_text("state", state or "")

    local opened = ffi_new("txid_snowflake *[1]")
    local number = node == "lease" and lib.NODE_LEASED
                   or C.txid_snowflake_node(layout, #layout, node, #node, message)
    local code = number < 0 and node ~= "lease" and number
                 or C.txid_snowflake_open(layout, #layout, number, state, #(state or ""), drift_ms, opened, message)
    if code < 0 then
        error("cannot make a generator: " .. ffi_str(message), 2)
    end

    return setmetatable({
        handle = ffi.gc(opened[0], C.txid_snowflake_close),
        -- Twitter's nodes are 5 bits of datacenter and 5 of worker.
        has_datacenters = find(layout, "^snowflake%f[,%z]") ~= nil,
    }, generator_mt)
end


return _M
