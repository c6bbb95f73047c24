-- Reads and changes the headers of a request: with the functions of lua-nginx-module that resty.core uses, if it is a
-- version in which they are known; otherwise with ngx.req, which does the same and takes longer.

local base = require "resty.core.base"
local ffi = require "ffi"
local lib = require "resty.txid.lib"
require "resty.core.request"


local C = ffi.C
local clear_header = ngx.req.clear_header
local error = error
local ffi_cast = ffi.cast
local ffi_new = ffi.new
local ffi_str = ffi.string
local floor = math.floor
local format = string.format
local get_headers = ngx.req.get_headers
local get_request = base.get_request
local pairs = pairs
local req_set_header = ngx.req.set_header
local tonumber = tonumber
local type = type


-- resty.core declares these functions in the same way in all of its releases for these versions.
local FIRST, LAST = 10020, 10032
local VERSION = ngx.config.ngx_lua_version
local IS_KNOWN = VERSION >= FIRST and VERSION <= LAST

local elements_ptr = ffi.typeof("ngx_http_lua_ffi_table_elt_t *")
local set_header = IS_KNOWN and ffi_cast("txid_set_header", C.ngx_http_lua_ffi_req_set_header)
local truncated = ffi_new("int[1]")
local capacity = 0
local fields, elements
local _M = {
    is_known = IS_KNOWN,
}


local function name_of(version)
    return format("%d.%d.%d", floor(version / 1000000), floor(version / 1000) % 1000, version % 1000)
end


local function reserve(count)
    if count > capacity then
        capacity = count + 32
        fields = ffi_new("txid_field[?]", capacity)
        elements = ffi_cast(elements_ptr, fields)
    end
end


-- Returns an array of txid_field with the request's headers, and their number. It is valid until the caller waits.
function _M.all()
    local request = get_request()
    local count = C.ngx_http_lua_ffi_req_get_headers_count(request, 0, truncated)
    reserve(count)
    if count < 0 or count > 0 and C.ngx_http_lua_ffi_req_get_headers(request, elements, count, 1) ~= 0 then
        error("resty.txid.request: the request's headers cannot be read here", 0)
    end
    return fields, count
end


-- Sets and removes headers: those of a txid_changed_headers.
function _M.change(headers)
    if not lib.C.txid_change_headers(headers, get_request(), set_header) then
        error("resty.txid.request: the request's headers cannot be set here", 0)
    end
end


if not IS_KNOWN then
    -- The fields point to these strings.
    local sent

    local function add(at, name, value)
        reserve(at + 1)
        local field = fields[at]
        field.name, field.name_len = name, #name
        field.value, field.value_len = value, #value
        return at + 1
    end


    function _M.all()
        sent = get_headers(0, true)
        local values = 0
        for _, value in pairs(sent) do
            values = values + (type(value) == "table" and #value or 1)
        end
        reserve(values)
        local count = 0
        for name, value in pairs(sent) do
            if type(value) == "table" then
                for i = 1, #value do
                    count = add(count, name, value[i])
                end
            else
                count = add(count, name, value)
            end
        end
        return fields, count
    end


    function _M.change(headers)
        for i = 0, tonumber(headers.count) - 1 do
            local name, value = headers.list[i].name, headers.list[i].value
            name = ffi_str(name.data, name.len)
            if value.data == nil then
                clear_header(name)
            else
                req_set_header(name, ffi_str(value.data, value.len))
            end
        end
    end


    lib.log("NOTICE", "resty.txid.request: this release knows lua-nginx-module " .. name_of(FIRST) .. " to "
                      .. name_of(LAST) .. ", and this is " .. name_of(VERSION) .. "; with ngx.req in place of its C "
                      .. "functions, requests take longer")
end


return _M
