-- Returns the address of the peer of a request's connection. realip replaces it in $remote_addr by one that the client
-- may have made up.

local var = ngx.var


return function()
    return var.realip_remote_addr or var.remote_addr
end
