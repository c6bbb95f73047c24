-- Collects the ids of all processes in a shared dictionary, which survives a reload.

local dict = ngx.shared.seen


local _M = {}


-- Adds the id. Logs an error if it is there already.
function _M.add(id)
    local ok, err = dict:safe_add(id, true)
    if not ok then
        ngx.log(ngx.ERR, id, " could not be kept: ", err)
    end
end


return _M
