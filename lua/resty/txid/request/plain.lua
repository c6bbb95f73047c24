-- As resty.txid.request.decide, without the library. It has no spans, because their ids come from the library.

local peer_address = require("resty.txid.request.peer").address
local judge = require("resty.txid.request.rules").judge


local clear_header = ngx.req.clear_header
local get_headers = ngx.req.get_headers
local rawget = rawget
local set_header = ngx.req.set_header


-- What came in this request and goes on, by place; the first id of it; and the place of the first invalid one.
local values, id, about
local is_ready = false
local _M = {}


function _M.forget()
    is_ready = false
end


-- Returns whether it may have waited.
local function prepare(settings)
    if is_ready then
        return false
    end
    local sent, found, has_ids = get_headers(0), {}, false
    for i = 1, settings.ids do
        found[i] = rawget(sent, settings.policy.names[i])
        has_ids = has_ids or found[i]
    end
    local first, invalid
    if has_ids and (settings.trusts or settings.policy.trusts)(peer_address()) then
        first, invalid = judge(found, settings.ids, settings.valid)
    else
        found = {}
    end
    values, id, about, is_ready = found, first, invalid, true
    return has_ids and settings.asks
end
_M.prepare = prepare


function _M.decide()
    return id, about
end


function _M.send(settings, _, new)
    set_header(settings.header, new)
    if settings.ids > 1 then
        prepare(settings)
        for i = 2, settings.ids do
            if not values[i] then
                clear_header(settings.headers[i])
            end
        end
    end
end


return _M
