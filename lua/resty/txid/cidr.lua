-- Says whether an address is in one of some networks: cidr.matcher { "10.0.0.0/8", "2001:db8::/32", "unix:" }.

local bit = require "bit"
local ffi = require "ffi"


local C = ffi.C
local assert = assert
local band = bit.band
local bxor = bit.bxor
local ffi_fill = ffi.fill
local ffi_new = ffi.new
local find = string.find
local lshift = bit.lshift
local match = string.match
local rshift = bit.rshift
local tonumber = tonumber
local tostring = tostring
local type = type


ffi.cdef[[
int inet_pton(int af, const char *src, void *dst);
]]


local AF_INET = 2
local AF_INET6 = assert(({ Linux = 10, OSX = 30, BSD = 28 })[jit.os], "resty.txid.cidr: unknown system")
local UNIX = "unix:"

local _M = {}


-- Writes the 16 bytes of an address; an IPv4 address becomes the IPv6 one that stands for it (::ffff:a.b.c.d), so that
-- a peer of a socket that takes both is found under either spelling. Returns how many bits come before its own.
local function parse_address(text, bytes)
    if C.inet_pton(AF_INET, text, bytes + 12) == 1 then
        ffi_fill(bytes, 10)
        ffi_fill(bytes + 10, 2, 0xff)
        return 96
    end
    if C.inet_pton(AF_INET6, text, bytes) == 1 then
        return 0
    end
    return nil
end


local function parse_network(text)
    -- A C string would end at a NUL.
    if type(text) ~= "string" or find(text, "%z") then
        return nil
    end
    local address, length = match(text, "^([^/]+)/(%d+)$")

    local bytes = ffi_new("uint8_t[16]")
    local before = parse_address(address or text, bytes)
    if not before then
        return nil
    end

    local bits = before + (tonumber(length) or 128 - before)
    if bits > 128 then
        return nil
    end
    return { bytes = bytes, whole = rshift(bits, 3), mask = band(lshift(0xff, 8 - band(bits, 7)), 0xff) }
end


local function is_in(bytes, network)
    local theirs, whole = network.bytes, network.whole
    for i = 0, whole - 1 do
        if bytes[i] ~= theirs[i] then
            return false
        end
    end
    return whole == 16 or band(bxor(bytes[whole], theirs[whole]), network.mask) == 0
end


-- Returns a function(address) -> boolean, or nil and what is wrong with the list.
function _M.matcher(list)
    local networks, takes_unix = {}, false
    for i = 1, #list do
        local text = list[i]
        if text == UNIX then
            takes_unix = true
        else
            local network = parse_network(text)
            if not network then
                return nil, "entry " .. i .. " is '" .. tostring(text)
                            .. "', not an address, a network such as 10.0.0.0/8 or fd00::/8, or unix:"
            end
            networks[#networks + 1] = network
        end
    end

    local bytes = ffi_new("uint8_t[16]")
    return function(address)
        if address == UNIX then
            return takes_unix
        end
        if not parse_address(address, bytes) then
            return false
        end
        for i = 1, #networks do
            if is_in(bytes, networks[i]) then
                return true
            end
        end
        return false
    end
end


return _M
