//! Structures and numbers of the io_uring interface, as Linux 6.1 has them.

/// Flags of the setup call.
pub(crate) mod setup {
    pub(crate) const CQSIZE: u32 = 1 << 3;
    pub(crate) const CLAMP: u32 = 1 << 4;
    pub(crate) const SUBMIT_ALL: u32 = 1 << 7;
    pub(crate) const COOP_TASKRUN: u32 = 1 << 8;
    pub(crate) const TASKRUN_FLAG: u32 = 1 << 9;
    pub(crate) const SINGLE_ISSUER: u32 = 1 << 12;
    pub(crate) const DEFER_TASKRUN: u32 = 1 << 13;

    /// What a ring must be able to do: both queues in one mapping, no completion dropped, memory
    /// read at submission only, internal poll, wait with a time-out.
    pub(crate) const FEATURES: u32 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 5 | 1 << 8;
}

pub(super) const OFF_SQES: i64 = 0x1000_0000;
pub(super) const ENTER_GETEVENTS: u32 = 1 << 0;
pub(super) const ENTER_EXT_ARG: u32 = 1 << 3;
pub(super) const REGISTER_PROBE: u32 = 8;
pub(super) const REGISTER_PBUF_RING: u32 = 22;
pub(super) const UNREGISTER_PBUF_RING: u32 = 23;
pub(super) const PROBE_OPS: usize = 256;

#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Params {
    pub(super) sq_entries: u32,
    pub(super) cq_entries: u32,
    pub(super) flags: u32,
    pub(super) sq_thread_cpu: u32,
    pub(super) sq_thread_idle: u32,
    pub(super) features: u32,
    pub(super) wq_fd: u32,
    pub(super) reserved: [u32; 3],
    pub(super) sq_off: SqOffsets,
    pub(super) cq_off: CqOffsets,
}

#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct SqOffsets {
    pub(super) head: u32,
    pub(super) tail: u32,
    pub(super) ring_mask: u32,
    pub(super) ring_entries: u32,
    pub(super) flags: u32,
    pub(super) dropped: u32,
    pub(super) array: u32,
    pub(super) reserved: u32,
    pub(super) user_addr: u64,
}

#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct CqOffsets {
    pub(super) head: u32,
    pub(super) tail: u32,
    pub(super) ring_mask: u32,
    pub(super) ring_entries: u32,
    pub(super) overflow: u32,
    pub(super) cqes: u32,
    pub(super) flags: u32,
    pub(super) reserved: u32,
    pub(super) user_addr: u64,
}

#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Cqe {
    pub(super) user_data: u64,
    pub(super) result: i32,
    pub(super) flags: u32,
}

#[derive(Debug)]
#[repr(C)]
pub(super) struct GetEvents {
    pub(super) sigmask: u64,
    pub(super) sigmask_size: u32,
    pub(super) min_wait_usec: u32,
    pub(super) time: u64,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct ProbeOp {
    code: u8,
    reserved: u8,
    flags: u16,
    reserved2: u32,
}

#[derive(Debug)]
#[repr(C)]
pub(super) struct Probe {
    last: u8,
    count: u8,
    reserved: u16,
    reserved2: [u32; 3],
    ops: [ProbeOp; PROBE_OPS],
}

impl Default for Probe {
    fn default() -> Probe {
        let ops = [ProbeOp::default(); PROBE_OPS];
        Probe { last: 0, count: 0, reserved: 0, reserved2: [0; 3], ops }
    }
}

impl Probe {
    pub(super) fn supports(&self, code: u8) -> bool {
        const SUPPORTED: u16 = 1 << 0;
        code <= self.last && self.ops[usize::from(code)].flags & SUPPORTED != 0
    }
}

#[derive(Debug)]
#[repr(C)]
pub(super) struct BufferReg {
    pub(super) ring_addr: u64,
    pub(super) ring_entries: u32,
    pub(super) group: u16,
    pub(super) flags: u16,
    pub(super) reserved: [u64; 3],
}

/// One provided buffer. The last field of the first entry is the ring's tail.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct BufferEntry {
    pub(crate) addr: u64,
    pub(crate) len: u32,
    pub(crate) id: u16,
    pub(crate) reserved: u16,
}

const _: () = assert!(size_of::<Params>() == 120 && size_of::<BufferReg>() == 40);
const _: () = assert!(size_of::<BufferEntry>() == 16 && size_of::<GetEvents>() == 24);
