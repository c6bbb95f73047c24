//! What a call leaves in registers and on the stack, as a signal finds it: the kernel writes all registers into the signal's
//! frame. That is on a stack of its own, so that nothing writes over what is to be seen.

use crate::attack;
use std::ffi::c_void;
use std::hint::black_box;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

/// How far below the caller's frame a call is looked for.
const DEPTH: usize = 64 << 10;
const ROOM: usize = 256 << 10;

/// What a call has left.
pub struct Remains {
    /// The signal's frame: all registers, and a little more.
    pub registers: Vec<u8>,
    /// The stack below the frame that the call was made in.
    pub stack: Vec<u8>,
}

static STACK: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
static REGISTERS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn copy(_: i32, _: *mut libc::siginfo_t, context: *mut c_void) {
    let into = STACK.load(Ordering::Relaxed);
    // SAFETY: the kernel has passed the context, and `of` has touched the stack as far down as it is copied.
    unsafe {
        let context = &mut *context.cast::<libc::ucontext_t>();
        #[cfg(target_arch = "x86_64")]
        let top = context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize;
        #[cfg(target_arch = "aarch64")]
        let top = {
            context.uc_mcontext.pc += 4;
            context.uc_mcontext.sp as usize
        };
        ptr::copy_nonoverlapping((top - DEPTH) as *const u8, into, DEPTH);
        REGISTERS.store(ptr::from_ref(context) as usize, Ordering::Relaxed);
    }
}

#[inline(never)]
fn touch_the_stack() {
    black_box(&mut [0_u8; DEPTH + (16 << 10)]);
}

/// What `call` leaves. It should do nothing but call a function.
#[inline(never)]
pub fn of(call: impl FnOnce()) -> Remains {
    let (mut frames, mut stack) = (vec![0_u8; ROOM], vec![0_u8; DEPTH]);
    let other = libc::stack_t { ss_sp: frames.as_mut_ptr().cast(), ss_flags: 0, ss_size: ROOM };
    STACK.store(stack.as_mut_ptr(), Ordering::Relaxed);
    attack::handle_on_another_stack(libc::SIGTRAP, copy);
    // SAFETY: the stack is there until it is not used any more.
    unsafe { assert_eq!(libc::sigaltstack(&other, ptr::null_mut()), 0) };
    touch_the_stack();
    call();
    // SAFETY: the handler lets the thread go on behind this instruction.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        std::arch::asm!("int3");
        #[cfg(target_arch = "aarch64")]
        std::arch::asm!("brk #0");
        let none = libc::stack_t { ss_sp: ptr::null_mut(), ss_flags: libc::SS_DISABLE, ss_size: 0 };
        assert_eq!(libc::sigaltstack(&none, ptr::null_mut()), 0);
    }
    let begin = REGISTERS.load(Ordering::Relaxed) - frames.as_ptr() as usize;
    Remains { registers: frames.split_off(begin), stack }
}
