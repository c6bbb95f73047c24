-- Checks the options of resty.txid.request.configure(). Errors are found when nginx starts, and name the option.

local cidr = require "resty.txid.cidr"


local concat = table.concat
local error = error
local find = string.find
local format = string.format
local lower = string.lower
local match = string.match
local pairs = pairs
local pcall = pcall
local re_find = ngx.re.find
local require = require
local sort = table.sort
local tostring = tostring
local type = type


local _M = {}

local DEFAULTS = {
    header = "X-Request-Id",
    accept = false,
    valid = "[A-Za-z0-9._~:/+=@-]{1,128}",
    format = "txid",
    on_invalid = "replace",
    response = true,
    upstream = true,
    trace = "off",
    trace_id_header = false,
}

local checks = {}


local function show(value)
    if type(value) == "string" then
        return format("%q", value)
    end
    return type(value) == "table" and "this table" or tostring(value)
end


local function boolean(value)
    if type(value) == "boolean" then
        return value
    end
    return nil, "true or false"
end


checks.response = boolean
checks.upstream = boolean


-- Returns why a table is not a list, or nil.
local function unlike_a_list(value)
    for key in pairs(value) do
        if type(key) ~= "number" or key < 1 or key > #value then
            return "it has the key " .. show(key)
        end
    end
    return nil
end


local function is_header_name(value)
    return type(value) == "string" and find(value, "^[%w!#$%%&'*+.^_`|~-]+$") ~= nil
end


function checks.header(value)
    if is_header_name(value) then
        return value
    end
    return nil, "the name of a header"
end


function checks.trace_id_header(value)
    if value == false or is_header_name(value) then
        return value
    end
    return nil, "the name of a header or false"
end


function checks.accept(value)
    if type(value) == "boolean" or type(value) == "function" then
        return value
    end
    if type(value) ~= "table" then
        return nil, "true, false, a list of networks or a function"
    end
    local matcher
    local err = unlike_a_list(value)
    if not err then
        matcher, err = cidr.matcher(value)
    end
    return matcher, "a list of networks", err
end


-- A regular expression must match the whole id.
function checks.valid(value)
    if type(value) == "function" then
        return value
    end
    if type(value) ~= "string" then
        return nil, "a regular expression or a function"
    end

    local pattern = "\\A(?:" .. value .. ")\\z"
    local _, _, err = re_find("", pattern, "jo")
    if err then
        return nil, "a regular expression", err
    end
    return function(id)
        return re_find(id, pattern, "jo") ~= nil
    end
end


-- "uuid.v4" is the field v4 of resty.txid.uuid; "flake" is what resty.txid.flake returns, or its field of that name.
local function generator(name)
    if name == "txid" then
        return require "resty.txid"
    end

    local file, field = match(name, "^([%w_]+)%.?([%w_]*)$")
    if not file then
        return nil
    end
    local ok, module = pcall(require, "resty.txid." .. file)
    if not ok then
        return nil, module
    end
    if type(module) == "table" then
        return module[field ~= "" and field or file]
    end
    return field == "" and module or nil
end


function checks.format(value)
    if type(value) == "function" then
        return value
    end
    if type(value) ~= "string" then
        return nil, "the name of a generator or a function"
    end

    local generate, err = generator(value)
    local ok, id
    if type(generate) == "function" then
        ok, id = pcall(generate)
        if ok and type(id) == "string" then
            return generate
        end
        err = ok and "it makes a " .. type(id) .. ", not a string" or id
    end
    return nil, "the name of a generator such as txid or uuid.v7", err
end


function checks.on_invalid(value)
    if value == "replace" or value == "reject" then
        return value
    end
    return nil, '"replace" or "reject"'
end


local TRACE = '"off", "traceparent", "b3", "b3-single" or a list of these'


function checks.trace(value)
    if value == "off" then
        return false
    end

    local kinds = type(value) == "table" and value or { value }
    local err = unlike_a_list(kinds)
    if err then
        return nil, TRACE, err
    end
    local trace = require "resty.txid.request.trace"
    for i = 1, #kinds do
        if not trace.kinds[kinds[i]] then
            return nil, TRACE, kinds == value and "entry " .. i .. " is " .. show(kinds[i]) or nil
        end
    end
    if #kinds == 0 then
        return nil, TRACE
    end

    -- This needs the library. Without it, each request would fail.
    local ok
    ok, err = pcall(trace.span, kinds)
    return ok and kinds or nil, TRACE, err
end


local function key_names()
    local names = {}
    for name in pairs(checks) do
        names[#names + 1] = name
    end
    sort(names)
    return concat(names, ", ")
end


-- Returns the options for request.lua, with defaults for those that are not given.
function _M.check(given)
    for key in pairs(given) do
        if not checks[key] then
            error("resty.txid.request: configure has no option " .. show(key) .. "; it has " .. key_names(), 3)
        end
    end

    local options = {}
    for key, check in pairs(checks) do
        local value = given[key]
        if value == nil then
            value = DEFAULTS[key]
        end
        local checked, expected, err = check(value)
        if checked == nil then
            error("resty.txid.request: " .. key .. " must be " .. expected .. ", not " .. show(value)
                  .. (err and " (" .. tostring(err) .. ")" or ""), 3)
        end
        options[key] = checked
    end

    if options.trace_id_header and not options.trace then
        error("resty.txid.request: trace_id_header is " .. show(options.trace_id_header) .. ", but trace is off", 3)
    end
    options.header_variable = "http_" .. lower(options.header):gsub("-", "_")
    return options
end


return _M
