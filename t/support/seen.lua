-- Every id that any process made, in a shared dictionary that they all see and that survives a reload.

local dict = ngx.shared.seen


local _M = {}


-- Keeps the id; one that is there already is an error in the log.
function _M.add(id)
    local ok, err = dict:safe_add(id, true)
    if not ok then
        ngx.log(ngx.ERR, id, " could not be kept: ", err)
    end
end


return _M
