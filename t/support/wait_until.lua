-- Waits until the condition is true, for a minute at most, as a slow machine may need, and returns whether it is.
return function(condition)
    for _ = 1, 6000 do
        if condition() then
            return true
        end
        ngx.sleep(0.01)
    end
    return false
end
