-- Returns the address of the peer of a request's connection. realip replaces it in $remote_addr by one that the client
-- may have made up.

local var = ngx.var


local lacks_realip


return function()
    local address = not lacks_realip and var.realip_remote_addr
    if address then
        return address
    end

    -- nginx knows all its variables from the start, and this one always has a value.
    lacks_realip = true
    return var.remote_addr
end
