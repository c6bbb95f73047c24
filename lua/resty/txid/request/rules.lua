-- What the library decides about ids of requests, for those who do without it, and for functions of configure(). There
-- are no traces, because their ids come from the library.

local bit = require "bit"
local cidr = require "resty.txid.cidr"
local ffi = require "ffi"
local lib = require "resty.txid.lib"
local of_headers = require "resty.txid.request.table"


local band = bit.band
local bor = bit.bor
local ffi_str = ffi.string
local find = string.find
local format = string.format
local gmatch = string.gmatch
local gsub = string.gsub
local lower = string.lower
local lshift = bit.lshift
local match = string.match
local pcall = pcall
local select = select
local sub = string.sub
local type = type


local INVALID = "[^A-Za-z0-9._~:/+=@-]"
local LONGEST = 128
local MOST_HEADERS = of_headers.most_headers
local RESERVED = {}
for name in gmatch(of_headers.reserved, "%S+") do
    RESERVED[name] = true
end

local _M = {}


local function is_reserved(header)
    if RESERVED[header] then
        return true
    end
    for beginning in gmatch(of_headers.reserved_beginnings, "%S+") do
        if sub(header, 1, #beginning) == beginning then
            return true
        end
    end
    return false
end


local function need_library()
    return lib.C.txid_span_start
end


-- Returns why this cannot be the name of a header with an id, or nil.
local function wrong_name(name)
    if not find(name, "^[%w!#%%&'*+.^_`|~-]+$") then
        return format("%q is not the name of a header", name)
    end
    if find(name, "_", 1, true) then
        return format("%q has an underscore, and nginx drops or renames such headers; write %q", name,
                      (gsub(name, "_", "-")))
    end
    if is_reserved(lower(name)) then
        return format("%q has a meaning of its own; name another header, such as X-Request-Id", name)
    end
    return nil
end


-- Returns the names in lower case, or nil and why one is wrong.
local function names_of(list)
    if #list > MOST_HEADERS then
        return nil, #list .. " headers are too many: at most " .. MOST_HEADERS .. " are allowed"
    end
    local names, is_there = {}, {}
    for i = 1, #list > 0 and #list or 1 do
        local name = list[i] or ""
        local known = lower(name)
        if is_there[known] then
            return nil, format("%q is duplicate", name)
        end
        local err = wrong_name(name)
        if err then
            return nil, err
        end
        names[i], is_there[known] = known, true
    end
    return names
end


-- Returns a policy for the options of configure(). Each value is a list of strings. Returns nil, what is wrong, and the
-- name of the option that is alone to blame otherwise.
function _M.open(options, is_id_of_trace)
    local action = options.on_invalid[1]
    local names, err = names_of(options.header)
    if not names then
        return nil, err, "header"
    end
    if action ~= "replace" and action ~= "reject" then
        return nil, format("%q is neither replace nor reject", action), "on_invalid"
    end
    if options.trace[1] ~= "off" then
        return nil, select(2, pcall(need_library)), "trace"
    end
    local trusts
    trusts, err = cidr.matcher(options.accept)
    if not trusts then
        return nil, err, "accept"
    end
    if action == "reject" and (options.accept[1] == "off" or #options.accept == 0) then
        return nil, "on_invalid has no effect, because accept is off: leave it out, or set accept"
    end
    if options.sample[1] ~= "off" then
        return nil, "sample has no effect, because trace is off: leave it out, or set trace"
    end
    if options.trace_id_header[1] ~= "off" then
        return nil, format("trace_id_header is %q, but trace is off", options.trace_id_header[1])
    end
    if is_id_of_trace then
        return nil, 'format is "same_as_trace", but trace is off'
    end
    return { names = names, trusts = trusts }
end


-- Whether the library would accept this id.
local function is_valid(id)
    return #id > 0 and #id <= LONGEST and not find(id, INVALID)
end


-- An address as nginx writes it, from one that may be Envoy's: with a port, or the path or the abstract name of a Unix
-- socket. Another one, such as that of an internal listener, stays as it is, and only "all" contains it.
local function without_port(address)
    return match(address, "^([%d.]+):%d+$") or match(address, "^%[(.-)%]:%d+$") or find(address, "^[/@]") and "unix:"
           or address
end
_M.without_port = without_port


-- Returns the id in the value of a header, or nil if it is invalid.
local function valid_id(value, valid)
    -- A repeated header is a table.
    if type(value) ~= "string" then
        return nil
    end
    -- nginx has removed only the spaces around it.
    local id = match(value, "^[ \t]*(.-)[ \t]*$")
    return (valid or is_valid)(id) and id or nil
end
_M.valid_id = valid_id


-- Returns the first valid id of the values in `count` headers, each of which may be missing; or nil, and the place of
-- the first invalid one, counted from 0. Removes what is invalid.
local function judge(values, count, valid)
    local id, about
    for i = 1, count do
        if values[i] then
            local known = valid_id(values[i], valid)
            id = id or known
            about = about or not known and i - 1 or nil
            values[i] = known and values[i]
        end
    end
    return id, not id and about or nil
end
_M.judge = judge


-- The places, as bits, of ids that came in a txid_request and that this function refuses. It may wait, and the request
-- may be another one then.
function _M.refused(valid, request, count)
    local values, refused = {}, 0
    for i = 1, count do
        local place = lshift(1, i - 1)
        local value = request.values[i - 1]
        values[i] = band(request.came, place) ~= 0 and band(request.repeated, place) == 0
                    and ffi_str(value.data, value.len)
    end
    for i = 1, count do
        if values[i] and not valid_id(values[i], valid) then
            refused = bor(refused, lshift(1, i - 1))
        end
    end
    return refused
end


-- As resty.txid.request.by_name.
function _M.new(settings)
    local names = settings.policy.names
    local values, came = {}, nil
    return {
        names = names,
        trusts = settings.policy.trusts,
        decide = function(sent, is_trusted)
            came = sent
            for i = 1, settings.ids do
                values[i] = is_trusted and sent[i]
            end
            return judge(values, settings.ids, settings.valid)
        end,
        change = function(headers)
            for i = 2, came and settings.ids or 0 do
                if came[i] and not values[i] then
                    headers:remove(names[i])
                end
            end
        end,
        span = function() end,
    }
end


return _M
