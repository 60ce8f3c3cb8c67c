//! The limits that counters hold: wrong attempts, messages, and requests that cost much. The fixed limit of requests per
//! minute, quotas and the tries of one code are not among them.

use std::time::Duration;

const QUARTER_HOUR: Duration = Duration::from_mins(15);
const HOUR: Duration = Duration::from_hours(1);
const DAY: Duration = Duration::from_hours(24);

/// A limit: so many in a window, for each key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// What is counted; a name in PascalCase is also the metric of what was refused.
    pub name: &'static str,
    /// The most in one window.
    pub max: u64,
    /// The length of the window.
    pub window: Duration,
}

const fn limit(name: &'static str, max: u64, window: Duration) -> Limit {
    Limit { name, max, window }
}

/// Wrong passwords, at sign-in and wherever the current password is required, per account and network.
pub const PASSWORD_ACCOUNT_NETWORK: Limit = limit("password-account-network", 10, QUARTER_HOUR);
/// The same, in a day. The next two refuse no account that signed in from the network within 180 days; these two do.
pub const PASSWORD_ACCOUNT_NETWORK_DAY: Limit = limit("password-account-network-day", 100, DAY);
/// Wrong passwords per account.
pub const PASSWORD: Limit = limit("password-account", 100, QUARTER_HOUR);
/// The same, per network.
pub const PASSWORD_NETWORK: Limit = limit("password-network", 50, QUARTER_HOUR);
/// Wrong digits of codes, by mail or text message, per account, over all kinds of codes. The tries of one code are
/// stored with it. The code of a link cannot be guessed and is not counted.
pub const DIGITS: Limit = limit("digits-account", 20, DAY);
/// The same, per network.
pub const DIGITS_NETWORK: Limit = limit("digits-network", 30, HOUR);
/// Wrong answers of passkeys, per network. Nothing is counted per account: a signature cannot be guessed.
pub const PASSKEY_NETWORK: Limit = limit("passkey-network", 50, QUARTER_HOUR);
/// Wrong one-time passwords, per session or pending sign-in.
pub const OTP_CHALLENGE: Limit = limit("otp-challenge", 5, HOUR);
/// The same, per account.
pub const OTP: Limit = limit("otp-account", 10, HOUR);
/// The same, in a day: three of a million codes are right at any moment.
pub const OTP_DAY: Limit = limit("otp-account-day", 30, DAY);
/// Wrong recovery codes, per session or pending sign-in. They have counters of their own, so that an attacker who
/// exhausts the others does not lock out the owner.
pub const RECOVERY_CHALLENGE: Limit = limit("recovery-challenge", 5, HOUR);
/// The same, per account and network: a recovery code is too long to be guessed from many networks.
pub const RECOVERY_ACCOUNT_NETWORK: Limit = limit("recovery-account-network", 10, HOUR);
/// Valid registrations, successful or not, per network; the setting `REGISTER_PER_HOUR` changes it. A whole class
/// may register from one network.
pub const REGISTRATION: Limit = limit("register", 60, HOUR);
/// Pictures of an account, accepted or not, because each of them is decoded.
pub const AVATAR: Limit = limit("avatar", 10, HOUR);
/// Changes of an account that end all sent codes: passwords and enrolments of one-time passwords. Otherwise an
/// attacker who knows the password could always prevent its reset.
pub const ENDING_CODES: Limit = limit("password-change", 10, HOUR);
/// Exports of an account, because each of them may read and store many megabytes.
pub const EXPORT: Limit = limit("export", 10, HOUR);
/// Exports of the registrations for a course, per account, because each of them may store many megabytes.
pub const REGISTRATIONS_EXPORT: Limit = limit("registrations-export", 30, HOUR);
/// Unknown codes of certificates, per network.
pub const CERTIFICATES: Limit = limit("certificate-network", 30, HOUR);
/// Codes of one kind per account, besides one per interval.
pub const CODES_QUARTER_HOUR: Limit = limit("MessagesPerQuarterHour", 3, QUARTER_HOUR);
/// The same, in a day.
pub const CODES: Limit = limit("MessagesPerDay", 10, DAY);
/// Codes of all kinds per account that were requested from networks from which it signed in: otherwise somebody who signs
/// in from many could cause any number of mails. Their keys differ from those of the former limit, whose metric is theirs, too.
pub const CODES_KNOWN: Limit = limit("MessagesPerDay", 30, DAY);
/// Codes of one kind per account; the interval is a setting.
pub const CODES_INTERVAL: Limit = limit("MessagesPerInterval", 1, QUARTER_HOUR);
/// Requests of an account for a new address; the interval is a setting.
pub const EMAIL_CHANGE_INTERVAL: Limit = limit("email-change-interval", 1, QUARTER_HOUR);
/// The same, in a quarter of an hour.
pub const EMAIL_CHANGE_QUARTER_HOUR: Limit = limit("email-change-quarter", 3, QUARTER_HOUR);
/// The same, in a day.
pub const EMAIL_CHANGE: Limit = limit("email-change-day", 10, DAY);
/// The same, per network.
pub const EMAIL_CHANGE_NETWORK: Limit = limit("email-change-network", 20, HOUR);
/// Mails with codes to an address that accounts want but do not have, of all accounts together.
pub const CODES_TO_ADDRESS: Limit = limit("MessagesPerAddress", 20, DAY);
/// Text messages with codes per account and number.
pub const TEXTS: Limit = limit("TextsPerAccount", 5, DAY);
/// Text messages with codes to a number that is not verified. This and the next two limit the cost of messages to
/// people who did not ask for them.
pub const TEXTS_TO_NUMBER: Limit = limit("TextsPerNumber", 10, DAY);
/// The same, per network.
pub const TEXTS_NETWORK: Limit = limit("TextsPerNetwork", 20, HOUR);
/// The same, in all; the setting `SMS_CODES_PER_DAY` changes it.
pub const TEXTS_IN_ALL: Limit = limit("TextsInAll", 2000, DAY);
/// Text messages of one sender to one number, when they are sent.
pub const TEXTS_TO_RECIPIENT: Limit = limit("TextsPerRecipient", 20, DAY);
/// Mails with the code and the links of a new account, per address. Otherwise registering and erasing an account again and
/// again would send any number of them.
pub const WELCOMES: Limit = limit("WelcomesPerAddress", 3, DAY);
/// Notifications of new devices per mailbox and device series of the account. A person who knows the password can
/// sign in as any number of devices; no other notification is held back for them.
pub const NEW_DEVICES: Limit = limit("NewDevicesPerDay", 10, DAY);
/// Changes of one kind that an account's owner is notified of, per account. So notifications need no limit, with which
/// an attacker could hide the last change behind others.
pub const CHANGES: Limit = limit("account-changes", 10, HOUR);
/// Notifications of one kind to a mailbox that nobody has verified, and that may belong to someone else. Its first
/// verification removes what was set before.
pub const NOTIFICATIONS_UNVERIFIED: Limit = limit("NotificationsToUnverified", 10, DAY);
/// Mails about what a person did with their registrations for courses, per account. The state of a registration counts,
/// not the mail. What others do is never held back: the next limit bounds it.
pub const REGISTRATION_MAILS: Limit = limit("RegistrationMails", 60, DAY);
/// Approvals, rejections and cancellations of one registration by those who may write the course: each is mailed.
pub const DECISIONS: Limit = limit("registration-decisions", 10, HOUR);
/// All mails about registrations to a mailbox that may belong to someone else.
pub const REGISTRATION_MAILS_UNVERIFIED: Limit = limit("RegistrationMailsToUnverified", 10, DAY);
/// Codes that were requested without a session, to a mailbox whose owner complained of a mail.
pub const CODES_TO_STOPPED: Limit = limit("CodesToStopped", 1, DAY);
