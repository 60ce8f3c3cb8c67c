//! Text messages of users, and the mails and texts of the service.

pub mod batch;
pub mod mail_stop;
pub mod outbox;
pub mod segments;
pub mod sms;
pub mod template;
pub mod times;
