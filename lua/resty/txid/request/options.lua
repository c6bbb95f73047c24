-- Checks the options of resty.txid.request.configure() and resty.txid.envoy.new(). Errors are found when the gateway
-- starts, and name the option. Here values get their types; what the options of the policy say is read in the same way
-- as nginx's directives.

local engine = require("resty.txid.lib").engine
local known = require("resty.txid.request.table").options


local concat = table.concat
local error = error
local format = string.format
local match = string.match
local pairs = pairs
local pcall = pcall
local re_find = ngx and ngx.re.find
local require = require
local sort = table.sort
local tostring = tostring
local type = type


-- Envoy has no ngx.
local MODULE = ngx and "resty.txid.request: " or "resty.txid.envoy: "
local CALL = ngx and "configure" or "new"
local native = ngx and require "resty.txid.request.native" or { is_loaded = false }
local open = require(engine == "native" and "resty.txid.request.open" or "resty.txid.request.rules").open
local _M = {}

local by_name = {}
for i = 1, #known do
    by_name[known[i].name] = known[i]
end


local function show(value)
    if type(value) == "string" then
        return format("%q", value)
    end
    return type(value) == "table" and "this table" or tostring(value)
end


-- Returns why a table is not a list of strings, or nil.
local function unlike_a_list(value)
    for key in pairs(value) do
        if type(key) ~= "number" or key < 1 or key > #value then
            return "it has the key " .. show(key)
        end
    end
    for i = 1, #value do
        if type(value[i]) ~= "string" then
            return "entry " .. i .. " is " .. show(value[i])
        end
    end
    return nil
end


-- What each kind of option of the policy takes: a function returns a list of words; or nil, and why not.
local words = {}


function words.word(value)
    return type(value) == "string" and { value } or nil
end


function words.words(value)
    if type(value) ~= "table" then
        return words.word(value)
    end
    local err = unlike_a_list(value)
    return not err and value or nil, err
end


function words.networks(value)
    if type(value) == "boolean" or type(value) == "function" then
        return { value and "all" or "off" }
    end
    return words.words(value)
end


function words.name_or_off(value)
    return value == false and { "off" } or words.word(value)
end


function words.switch(value)
    return type(value) == "boolean" and { value and "on" or "off" } or nil
end


-- The other options that are no switches: each function returns the value for request.lua; or nil, why not, and what it
-- expects if that is not all that the table says.
local checks = {}


-- A regular expression must match the whole id.
function checks.valid(value)
    if type(value) == "function" then
        return value
    end
    if not re_find and value then
        return nil, nil, "a function"
    end
    if type(value) ~= "string" then
        if value == false then
            return value
        end
        return nil
    end

    local pattern = "\\A(?:" .. value .. ")\\z"
    local _, _, err = re_find("", pattern, "jo")
    if err then
        return nil, err, "a regular expression"
    end
    return function(id)
        return re_find(id, pattern, "jo") ~= nil
    end
end


-- Returns a function that makes ids of a format, or nil and why there is none.
local function generator(name)
    if name == "txid" then
        return require "resty.txid"
    end

    local ok, maker = pcall(require, "resty.txid.maker")
    if not ok then
        -- So that the next one hears the reason, too, and not of a previous error.
        package.loaded["resty.txid.maker"] = nil
        return nil, maker
    end
    local made
    ok, made = pcall(maker.new, name)
    return ok and made or nil, made
end


function checks.format(value)
    if type(value) == "function" then
        return value
    end
    if value == "same_as_trace" then
        return value
    end
    if type(value) ~= "string" then
        return nil
    end

    local generate, err = generator(value)
    if type(generate) == "function" then
        local ok, id = pcall(generate)
        if ok and type(id) == "string" then
            return generate
        end
        err = ok and "it makes a " .. type(id) .. ", not a string" or id
    end
    return nil, err, "the name of a format such as txid or uuid_v7"
end


local function names()
    local sorted = {}
    for i = 1, #known do
        sorted[i] = known[i].name
    end
    sort(sorted)
    return concat(sorted, ", ")
end


-- Returns the words of an option of the policy, or the value of another one.
local function check_one(option, value)
    local result, err, expected
    if option.is_of_policy then
        result, err = words[option.takes](value)
    elseif option.takes == "switch" then
        result = words.switch(value) and value
    else
        result, err, expected = checks[option.name](value)
    end
    if result == nil then
        error(MODULE .. option.name .. " must be " .. (expected or option.expected) .. ", not "
              .. show(value) .. (err and " (" .. tostring(err) .. ")" or ""), 4)
    end
    return result
end


-- Whether these words accept nobody.
local function is_nobody(accept)
    return accept[1] == "off" or #accept == 0
end


local function same(list, other)
    return concat(list, " ") == concat(other, " ")
end


-- What to do instead, where there is no directive of the same name.
local INSTEAD_OF = {
    valid = "leave it out",
    server_timing = "use add_header Server-Timing 'traceparent;desc=\"$txid_traceparent\", "
                    .. "trace;desc=$txid_traceparent'",
}

-- An option that only seems to work would be worse than an error.
local function check_beside_native(given, policy)
    for name, value in pairs(given) do
        local option = by_name[name]
        local is_default = value == option.default
        if option.takes == "networks" then
            is_default = is_nobody(policy[name])
        elseif option.is_of_policy then
            is_default = same(policy[name], words[option.takes](option.default))
        end
        if not option.is_of_lua and not is_default then
            error(MODULE .. name .. " has no effect beside ngx_http_txid_module, which decides: "
                  .. (INSTEAD_OF[name] or "use its directive txid_" .. name), 4)
        end
    end
end


-- Returns the options for request.lua, with defaults for those that are not given.
function _M.check(given)
    for key in pairs(given) do
        if not by_name[key] then
            error(MODULE .. CALL .. " has no option " .. show(key) .. "; it has " .. names(), 3)
        end
    end

    local policy, options = {}, {}
    for i = 1, #known do
        local option = known[i]
        local value = given[option.name]
        if value == nil then
            value = option.default
        end
        (option.is_of_policy and policy or options)[option.name] = check_one(option, value)
    end
    options.is_of_trace = options.format == "same_as_trace"
    if native.is_loaded then
        check_beside_native(given, policy)
    end
    -- Read in each request, and not by the policy.
    options.sample = ngx and match(policy.sample[1], "^%$([%w_]+)$")
    if options.sample then
        policy.sample = { "off" }
    end
    local err, name
    options.policy, err, name = open(policy, options.is_of_trace)
    if not options.policy then
        error(MODULE .. (name and name .. ": " or "") .. err, 3)
    end
    if options.sample and policy.trace[1] == "off" then
        error(MODULE .. "sample has no effect, because trace is off: leave it out, or set trace", 3)
    end
    if options.server_timing and policy.trace[1] == "off" then
        error(MODULE .. "server_timing is true, but trace is off", 3)
    end
    if options.server_timing and policy.trace_span[1] == "pass" then
        error(MODULE .. "server_timing is true, but trace_span is pass", 3)
    end
    if options.sample and policy.trace_span[1] == "pass" then
        error(MODULE .. "sample has no effect, because trace_span is pass: leave one of them out", 3)
    end
    if options.valid and is_nobody(policy.accept) then
        error(MODULE .. "valid has no effect, because accept is off: leave it out, or set accept", 3)
    end

    options.headers, options.header, options.ids = policy.header, policy.header[1], #policy.header
    options.trusts_nobody = is_nobody(policy.accept)
    options.trusts = type(given.accept) == "function" and given.accept or nil
    options.asks = options.trusts or options.valid
    options.may_wait = type(given.format) == "function"
    options.rejects = policy.on_invalid[1] == "reject"
    options.has_trace = policy.trace[1] ~= "off"
    return options
end


return _M
