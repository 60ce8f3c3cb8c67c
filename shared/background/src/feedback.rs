//! Feedback of Amazon SES on a mail: it bounced, or its recipient complained.

use std::collections::HashMap;

use domain::{Instant, UserId, mail_stop::StopCause};
use serde::Deserialize;

/// Feedback on one mail. Other fields and other kinds of feedback are ignored
/// (<https://docs.aws.amazon.com/ses/latest/dg/event-publishing-retrieving-sns-contents.html>).
#[derive(Debug, Clone, Deserialize)]
pub struct MailFeedback {
    mail: Sent,
    #[serde(default)]
    bounce: Option<Bounce>,
    #[serde(default)]
    complaint: Option<Complaint>,
}

#[derive(Debug, Clone, Deserialize)]
struct Sent {
    timestamp: Instant,
    destination: Vec<String>,
    #[serde(default)]
    tags: HashMap<String, Vec<String>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Bounce {
    bounce_type: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Complaint {
    #[serde(default)]
    complaint_feedback_type: Option<String>,
}

impl MailFeedback {
    /// Why mails to the recipients are to be stopped: a hard bounce, or a complaint. `None` for temporary bounces and for
    /// recipients who say that a mail was not spam.
    pub fn stop_cause(&self) -> Option<StopCause> {
        match (&self.bounce, &self.complaint) {
            (Some(bounce), _) if bounce.bounce_type == "Permanent" => Some(StopCause::Bounce),
            (_, Some(Complaint { complaint_feedback_type: Some(kind) })) if kind == "not-spam" => {
                None
            }
            (_, complaint) => complaint.as_ref().map(|_| StopCause::Complaint),
        }
    }

    /// The addresses to which the mail was sent: one in mails of this service. Those in the report may be others, to
    /// which it was forwarded.
    pub fn recipients(&self) -> &[String] {
        &self.mail.destination
    }

    /// When the mail was sent.
    pub const fn sent_at(&self) -> Instant {
        self.mail.timestamp
    }

    /// The account that the mail was about.
    pub fn account(&self) -> Option<UserId> {
        self.mail.tags.get("account")?.first()?.parse().ok()
    }
}
