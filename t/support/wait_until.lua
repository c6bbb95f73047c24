-- Waits until the condition is true, for at most a minute because machines may be slow. Returns whether it is.
return function(condition)
    for _ = 1, 6000 do
        if condition() then
            return true
        end
        ngx.sleep(0.01)
    end
    return false
end
