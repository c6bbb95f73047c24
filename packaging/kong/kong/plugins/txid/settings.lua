-- What the plugin's configuration in Kong says, as the options of resty.txid.request.configure().

-- Kong also loads schemas for streams, where configure() cannot be.
local options = ngx.config.subsystem == "http" and require "resty.txid.request.options"
local known = require("resty.txid.request.table").options


local gsub = string.gsub
local null = ngx.null
local pcall = pcall
local tostring = tostring


local _M = {}


function _M.of(config)
    local given = {}
    for i = 1, #known do
        local name = known[i].name
        -- The Admin API has null for what is not set.
        if config[name] ~= null then
            given[name] = config[name]
        end
    end
    -- Kong knows no array that may also be a word.
    if given.trace and not given.trace[1] then
        given.trace = "off"
    end
    if given.header and not given.header[2] then
        given.header = given.header[1]
    end
    return given
end


-- Whether configure() takes it; otherwise nil and why not, for the Admin API to report.
function _M.check(config)
    if not options then
        return true
    end
    local ok, err = pcall(options.check, _M.of(config))
    if ok then
        return true
    end
    return nil, (gsub(tostring(err), "^.-resty%.txid%.request: ", ""))
end


return _M
