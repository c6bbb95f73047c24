-- Compares Lua with tests/vectors/, and prints differences: luajit t/lua/vectors.lua FILE, which t/support/Vectors.pm
-- has made. Without libtxid, only what Lua does by itself.

local cidr = require "resty.txid.cidr"
local lib = require "resty.txid.lib"
local txid = require "resty.txid"
local without_port = require("resty.txid.request.rules").without_port


local vectors = dofile(arg[1])
local has_library = lib.engine == "native"


local function each(cases, differs)
    assert(#cases > 0)
    for _, case in ipairs(cases) do
        local difference = differs(case)
        if difference then
            print((case.format or "") .. " " .. (case.name or "") .. ": " .. difference)
        end
    end
end


-- A value of Lua in the words of the vectors.
local function plain(value)
    if type(value) == "number" then
        return ("%.0f"):format(value)
    end
    return type(value) == "cdata" and tostring(value):gsub("U?LL$", "") or value
end


local function unless_equal(found, expected)
    local keys = {}
    for key in pairs(found) do
        keys[key] = true
    end
    for key in pairs(expected) do
        keys[key] = true
    end
    for key in pairs(keys) do
        if found[key] ~= expected[key] then
            return key .. " is " .. tostring(found[key]) .. ", not " .. tostring(expected[key])
        end
    end
    return nil
end


-- All later times are read as this one.
local LAST_MS = 2^63


-- A Lua number holds only 53 bits.
local function int64(digits)
    return loadstring("return " .. digits .. "LL")()
end


each(vectors.times.bounds, function(case)
    if case.format == "txid" then
        local made = txid(int64(case.ms))
        return made:sub(1, 8) ~= case.first:sub(1, 8) and made or nil
    end
end)


each(vectors.trust.networks, function(case)
    local contains = assert(cidr.matcher(case.networks))
    for _, peer in ipairs(case.inside) do
        if not contains(without_port(peer)) then
            return "does not contain " .. peer
        end
    end
    for _, peer in ipairs(case.outside) do
        if contains(without_port(peer)) then
            return "contains " .. peer
        end
    end
    return nil
end)


each(vectors.trust.invalid, function(case)
    local contains, err = cidr.matcher(case.networks)
    if contains then
        return "was taken"
    end
    local is_named = err:find('"' .. case.entry .. '"', 1, true)
    local says_mapped = err:find("write it as an IPv4 network", 1, true) ~= nil
    return (not is_named or says_mapped ~= (case.reason == "mapped")) and err or nil
end)


if not has_library then
    return
end


local codec = require "resty.txid.codec"
local hidden = require "resty.txid.hidden"
local inspect = require "resty.txid.inspect"
local snowflake = require "resty.txid.snowflake"
local text = require "resty.txid.text"
local trace = require "resty.txid.trace"


local function hex(bytes)
    return (bytes:gsub(".", function(byte) return ("%02x"):format(byte:byte()) end))
end


local readers = {}


function readers.txid(s)
    local decoded, err = codec.decode(s)
    if not decoded or not codec.is_valid(s) or codec.ms(s) ~= decoded.ms then
        return nil, err
    end
    local bytes = codec.to_bytes(s)
    decoded.bits, decoded.written = hex(bytes), codec.from_bytes(bytes)
    return decoded
end


function readers.traceparent(s)
    local parsed, err = trace.traceparent.parse(s)
    if not parsed then
        return nil, err
    end
    parsed.written = trace.traceparent.tostring(parsed)
    return parsed
end


function readers.b3(s)
    local parsed, err = trace.b3.parse(s)
    if not parsed then
        return nil, err
    end
    parsed.written = trace.b3.tostring(parsed)
    if parsed.sampled ~= nil then
        parsed.sampled = parsed.debug and "d" or parsed.sampled and "1" or "0"
    end
    parsed.debug = nil
    return parsed
end


function readers.snowflake(s, case)
    local state = os.tmpname()
    os.remove(state)
    local generator = snowflake.new { layout = case.layout, node = 0, state = state }
    local decoded, err = generator:decode(s)
    os.remove(state)
    if decoded then
        decoded.datacenter, decoded.worker = nil, nil
    end
    return decoded, err
end


-- As its format, and by a module of its own if it has one. Both must agree.
local function read(s, case)
    local read_by_module = readers[case.format]
    local found, err = inspect(s, case.format, case.epoch and tonumber(case.epoch))
    if not read_by_module then
        return found, err
    end
    local decoded, why = read_by_module(s, case)
    if case.format ~= "snowflake" then
        assert((found == nil) == (decoded == nil) and err == why, s)
        for key, value in pairs(found or {}) do
            assert(plain(decoded[key]) == plain(value), key)
        end
    end
    return decoded, why
end


each(vectors.formats.valid, function(case)
    local decoded, err = read(case.text, case)
    if not decoded then
        return "refused: " .. tostring(err)
    end

    local found, expected = {}, { ms = case.ms and plain(math.min(tonumber(case.ms), LAST_MS)) }
    for key, value in pairs(decoded) do
        found[key] = plain(value)
    end
    found.time = nil
    for key, value in pairs(case.fields) do
        expected[key] = value
    end
    if found.written then
        expected.written = case.written or case.text
        expected.bits = case.bits
    end
    return unless_equal(found, expected)
end)


each(vectors.formats.invalid, function(case)
    local decoded, err = read(case.text, case)
    if decoded then
        return "was read"
    end
    return case.message and err ~= case.message and err or nil
end)


each(vectors.times.bounds, function(case)
    if case.format == "txid" then
        local ms = int64(case.ms)
        return unless_equal({ codec.first(ms), codec.last(ms) }, { case.first, case.last })
    end
    local first, last = read(case.first, case), read(case.last, case)
    local ms = case.begin or case.ms
    return unless_equal({ plain(first.ms), plain(last.ms) }, { ms, ms })
end)


each(vectors.times.calendar, function(case)
    local written = text.rfc3339(tonumber(case.ms))
    return written ~= case.time and tostring(written) or nil
end)


-- A series, its key, and whether it is of UUIDs.
local function series_of(case)
    local path = os.tmpname()
    os.execute("chmod 600 " .. path)
    local file = assert(io.open(path, "w"))
    file:write(table.concat(case.keys, "\n"), "\n")
    file:close()
    local options = { key_file = path }
    for _, option in ipairs(case.options) do
        local name, value = option:match("^(%w+)=?(.*)$")
        options[name] = name == "name" and value or tonumber(value) or true
    end
    local series = hidden.new(options)
    os.remove(path)
    return series, options.uuid
end


each(vectors.hidden.valid, function(case)
    local series, is_of_uuids = series_of(case)
    local inside = is_of_uuids and case.inside or loadstring("return " .. case.inside .. "ULL")()
    local shown, revealed = series:hide(inside), series:reveal(case.shown)
    return unless_equal({ shown, plain(revealed) }, { case.shown, case.inside })
end)


each(vectors.hidden.invalid, function(case)
    local series = series_of(case)
    local revealed = series:reveal(case.shown)
    return revealed and "was revealed" or nil
end)
