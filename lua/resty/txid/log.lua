-- Says something to whoever runs this: in nginx's error log, or on stderr where there is no nginx.

local ngx = ngx


return function(level, message)
    if ngx and ngx.log then
        ngx.log(ngx[level], message)
    else
        io.stderr:write(message, "\n")
    end
end
