-- Shows what LuaJIT's compiler logs about a function.

local traceinfo = require("jit.util").traceinfo
local traceerr = require("jit.vmdef").traceerr


-- These aborts are about where a recording began, and not about the code: a loop and a function share a hot counter by
-- chance. LuaJIT simply starts again.
local BEGUN_IN_THE_WRONG_PLACE = { ["leaving loop in root trace"] = true, ["inner loop in root trace"] = true }

-- So is this one, of a recording that begins in what the function calls and runs into the loop below. After four of
-- them, LuaJIT leaves that place to the interpreter. Code with a loop of its own has this abort when C calls it, too.
local RAN_INTO_THE_LOOP = "loop unroll limit reached"


-- Calls the function from its own loop, and then from C, as nginx does in each request: there LuaJIT does not compile a
-- function that ends in a tail call of C. Returns "compiled", or all reasons why it did not compile completely.
return function(hot)
    local trouble = {}
    local wanted, compiled, ran_into_the_loop

    local function log(event, trace, _, _, code, detail)
        if event == "stop" then
            local link = traceinfo(trace).linktype
            if link == wanted then
                compiled = true
            elseif link == "stitch" or (link == "interpreter" and not ran_into_the_loop) then
                trouble[#trouble + 1] = link
            end

        elseif event == "abort" then
            local reason = traceerr[code]
            if reason == RAN_INTO_THE_LOOP and wanted == "loop" then
                ran_into_the_loop = true
            elseif not BEGUN_IN_THE_WRONG_PLACE[reason] then
                trouble[#trouble + 1] = "abort: " .. reason:format(tostring(detail))
            end
        end
    end

    local function watch(link, call)
        -- Start clean: without compiled code, hot counters, or a pending finalizer, which would abort a recording.
        collectgarbage()
        jit.flush()
        jit.opt.start("hotloop=56")
        wanted, compiled, ran_into_the_loop = link, false, false
        jit.attach(log, "trace")
        call(hot)
        jit.attach(log)
        if not compiled then
            trouble[#trouble + 1] = "no " .. link .. " was compiled"
        end
    end

    -- A C function that accepts any arguments.
    local from_c = loadstring("local hot = ... for i = 1, 1000 do table.sort({ i, i + 1 }, hot) end")
    jit.off(from_c)
    watch("loop", loadstring("local hot = ... for i = 1, 1000 do hot(i) end"))
    watch("return", from_c)
    return #trouble == 0 and "compiled" or table.concat(trouble, ", ")
end
