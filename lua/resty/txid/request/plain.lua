-- As resty.txid.request.policy, without the library. It has no spans, because their ids come from the library.

local peer_address = require("resty.txid.request.peer").address
local rules = require "resty.txid.request.rules"


local rawget = rawget
local req_get_headers = ngx.req.get_headers
local req_set_header = ngx.req.set_header
local valid_id = rules.valid_id


local _M = { open = rules.open }


-- Returns the id that an accepted peer sent; or nil, and whether it sent an invalid one. `trusts` is a function of the
-- peer's address, `valid` one of the id; either may be nil. The first valid one of several headers counts.
local function sent_id(policy, trusts, valid)
    local sent, is_trusted = req_get_headers(0), false
    for i = 1, #policy.headers do
        local id = rawget(sent, policy.headers[i])
        if id then
            if not is_trusted and not (trusts or policy.trusts)(peer_address()) then
                return nil, false
            end
            is_trusted = true
            id = valid_id(id, valid)
            if id then
                return id
            end
        end
    end
    return nil, is_trusted
end


-- The policy knows the headers.
function _M.reader()
    return sent_id
end


-- Nothing has been found that could change.
function _M.forget()
end


function _M.send(policy, id)
    req_set_header(policy.name, id)
end


return _M
