// Ids from libtxid by JNA, for programs with txid-agent on their host: java -cp jna.jar Ids.java [DIRECTORY [COUNT]]

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import com.sun.jna.ptr.PointerByReference;
import java.nio.charset.StandardCharsets;
import java.util.function.LongSupplier;
import java.util.function.ToLongFunction;

public final class Ids {
    static final int LEN = 20;
    static final int MESSAGE_LEN = 1024;
    static final long NODE_LEASED = -1;

    static {
        Native.register(Ids.class, "libtxid.so.2");
    }

    static native long txid_clock_ms();
    static native long txid_clock_coarse_ms();
    static native void txid_fill_now(byte[] buf, long clockMs);
    static native int txid_snowflake_open(
        byte[] layout, long layoutLen, long node, byte[] path, long pathLen, long maxDriftMs, PointerByReference generator,
        byte[] message);
    static native long txid_snowflake_next(Pointer generator, long clockMs, byte[] message);
    static native int txid_segment_open(byte[] path, long pathLen, PointerByReference segment, byte[] message);
    static native long txid_segment_next(Pointer segment, byte[] message);

    /** Gives the call a buffer for its message. A negative result is an error. */
    static long checked(ToLongFunction<byte[]> call) {
        byte[] message = new byte[MESSAGE_LEN];
        long result = call.applyAsLong(message);
        if (result < 0) {
            throw new IllegalStateException(Native.toString(message, StandardCharsets.UTF_8));
        }
        return result;
    }

    static String txid() {
        byte[] text = new byte[LEN];
        txid_fill_now(text, txid_clock_ms());
        return new String(text, StandardCharsets.ISO_8859_1);
    }

    /** The ids of the node that txid-agent leases. */
    static LongSupplier snowflakes(String layout, String path) {
        PointerByReference opened = new PointerByReference();
        byte[] name = layout.getBytes(StandardCharsets.UTF_8), file = path.getBytes(StandardCharsets.UTF_8);
        checked(message -> txid_snowflake_open(
            name, name.length, NODE_LEASED, file, file.length, 10_000, opened, message));
        Pointer handle = opened.getValue();
        return () -> checked(message -> txid_snowflake_next(handle, txid_clock_coarse_ms(), message));
    }

    /** The numbers that txid-agent has taken. */
    static LongSupplier segment(String path) {
        PointerByReference opened = new PointerByReference();
        byte[] file = path.getBytes(StandardCharsets.UTF_8);
        checked(message -> txid_segment_open(file, file.length, opened, message));
        Pointer handle = opened.getValue();
        return () -> checked(message -> txid_segment_next(handle, message));
    }

    public static void main(String[] args) {
        String directory = args.length > 0 ? args[0] : "/run/txid";
        int count = args.length > 1 ? Integer.parseInt(args[1]) : 1;
        try {
            LongSupplier orders = snowflakes("snowflake", directory + "/orders");
            LongSupplier invoices = segment(directory + "/invoices.segment");
            for (int i = 0; i < count; i++) {
                System.out.println(txid() + " " + orders.getAsLong() + " " + invoices.getAsLong());
            }
        } catch (IllegalStateException error) {
            System.err.println("Ids.java: " + error.getMessage());
            System.exit(1);
        }
    }
}
