//! Stores the layout in the header of a page.

use super::layout::{Layout, LayoutError, Order};
use crate::shared::page_bytes::PageBytes;

const BITS_AT: usize = 16;
const UNIT_AT: usize = 24;
const EPOCH_AT: usize = 32;

/// A layout as the fields of a header.
pub(super) struct LayoutFields {
    bits: [u8; 4],
    unit: [u8; 8],
    epoch: [u8; 8],
}

impl LayoutFields {
    pub(super) fn new(layout: &Layout) -> Self {
        let [time, node, sequence] = [layout.time_bits, layout.node_bits, layout.sequence_bits].map(|bits| bits as u8);
        let order = u8::from(layout.order == Order::SequenceThenNode);
        Self {
            bits: [time, node, sequence, order],
            unit: layout.unit_ms.to_ne_bytes(),
            epoch: layout.epoch_ms.to_ne_bytes(),
        }
    }

    /// Each field with its offset.
    pub(super) fn placed(&self) -> [(usize, &[u8]); 3] {
        [(BITS_AT, &self.bits), (UNIT_AT, &self.unit), (EPOCH_AT, &self.epoch)]
    }
}

/// The layout of an existing page.
pub(super) fn layout_of(found: &PageBytes) -> Result<Layout, LayoutError> {
    let order = if found.byte(BITS_AT + 3) == 0 { Order::NodeThenSequence } else { Order::SequenceThenNode };
    let bits = [0, 1, 2].map(|part| u32::from(found.byte(BITS_AT + part)));
    Layout::new(bits, found.number(UNIT_AT), found.number(EPOCH_AT) as i64, order)
}
