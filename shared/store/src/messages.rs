//! Messages: those of the service and those of its users, from the request to the receipt.

pub(crate) mod opt_outs;
pub(crate) mod outbox;
pub(crate) mod quotas;
pub(crate) mod rate;
pub(crate) mod receipts;
pub(crate) mod sms;
pub(crate) mod sms_lists;
pub(crate) mod turns;
