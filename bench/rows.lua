-- The rows of the first table: the length of the string, which determines the row's floor; the name; and the call, in
-- which `m` is the module, `ms` a time in milliseconds that changes with each call, and `i` the number of the call. A
-- row with `reads` returns a number and not a string.
--
-- `module` is one of our modules. `peer` is another library: a file below PEERS, named by its path because some have
-- the name of one of our modules. `first` runs once, before the first call.
return {
    { 20, "txid()", "m()", module = "resty.txid" },
    { 20, "txid(ms)", "m(ms)", module = "resty.txid" },
    { 20, "txid() in plain LuaJIT", "m()", module = "resty.txid.pure" },
    { 20, "txid(ms) in plain LuaJIT", "m(ms)", module = "resty.txid.pure" },

    { 20, "codec.ms(id), which reads one", "m.ms(m.ids[band(i, 255) + 1])", module = "resty.txid.codec", reads = true,
      first = "m.ids = {} for i = 1, 256 do m.ids[i] = require 'resty.txid'(i) end" },

    { 20, "strong()", "m()", module = "resty.txid.strong" },
    { 36, "uuid.v4()", "m.v4()", module = "resty.txid.uuid" },
    { 36, "uuid.v7()", "m.v7()", module = "resty.txid.uuid" },
    { 36, "uuid.v1()", "m.v1()", module = "resty.txid.uuid" },
    { 22, "flake()", "m.flake()", module = "resty.txid.flake" },
    { 27, "unique_id.long()", "m.long()", module = "resty.txid.unique_id" },
    { 24, "unique_id.short()", "m.short(nil, '10.0.0.7')", module = "resty.txid.unique_id" },
    { 32, "trace.id()", "m.id()", module = "resty.txid.trace" },
    { 32, "trace.host_id()", "m.host_id(nil, '10.0.0.7')", module = "resty.txid.trace" },
    { 32, "trace.otel_trace_id()", "m.otel_trace_id()", module = "resty.txid.trace" },
    { 16, "trace.span_id()", "m.span_id()", module = "resty.txid.trace" },
    { 25 + #tostring(ngx.worker.pid()), "trace.sofa()", "m.sofa('10.0.0.7')", module = "resty.txid.trace" },
    { 52, "trace.skywalking()", "m.skywalking()", module = "resty.txid.trace" },
    { 19, "order_id() of snowflake", "m.order_id()", module = "resty.txid.snowflake",
      first = "m.order_id = m.new { layout = 'snowflake', node = 1, state = ngx.config.prefix() .. 'orders' }" },
    { 19, "order_id() of snowflake, on a leased node", "m.leased()", module = "resty.txid.snowflake",
      first = "m.leased = m.new { layout = 'snowflake', node = 'lease', " ..
              "state = ngx.config.prefix() .. 'agent/orders' }" },
    { 7, "invoice_no() of a segment", "m.invoice_no()", module = "resty.txid.segment",
      first = "m.invoice_no = m.new { state = ngx.config.prefix() .. 'agent/invoices.segment' } " ..
              "repeat local number = m.invoice_no() until number and #number == 7" },

    { 26, "ulid() of a maker", "m.ulid()", module = "resty.txid.maker", first = "m.ulid = m.new 'ulid'" },
    { 27, "ksuid() of a maker", "m.ksuid()", module = "resty.txid.maker", first = "m.ksuid = m.new 'ksuid'" },
    { 20, "xid() of a maker", "m.xid()", module = "resty.txid.maker", first = "m.xid = m.new 'xid'" },
    { 21, "nanoid() of a maker", "m.nanoid()", module = "resty.txid.maker", first = "m.nanoid = m.new 'nanoid'" },

    { 10, "orders:hide(number) of hidden", "m.orders:hide(1763712000 + i)", module = "resty.txid.hidden",
      first = "local key = ngx.config.prefix() .. 'orders.key' " ..
              "local file = io.open(key, 'w') file:write(('2b7e151628aed2a6'):rep(2)) file:close() " ..
              "os.execute('chmod 600 ' .. key) " ..
              "m.orders = m.new { key_file = key, name = 'orders', digits = 10 }" },
    { 10, "orders:reveal(image) of hidden", "m.orders:reveal(m.images[band(i, 255)])", module = "resty.txid.hidden",
      reads = true, first = "m.images = {} for i = 0, 255 do m.images[i] = m.orders:hide(i) end" },

    { 20, "lua-resty-txid", "m()", peer = "lua-resty-txid/lib/resty/txid.lua" },
    { 36, "lua-resty-jit-uuid v4", "m.generate_v4()", peer = "lua-resty-jit-uuid/lib/resty/jit-uuid.lua",
      first = "m.seed()" },
    { 36, "lua-resty-uuid v4", "m.generate_random()", peer = "lua-resty-uuid/lib/resty/uuid.lua" },
    { 10, "hashids.lua, no encryption", "m.orders:encode(1763712000 + i)", peer = "hashids.lua/src/init.lua",
      first = "m.orders = m.new('orders', 10)" },
}
