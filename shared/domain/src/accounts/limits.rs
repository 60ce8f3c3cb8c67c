//! The limits that counters hold: wrong attempts, messages, and requests that cost much. The fixed limit of requests per
//! minute, quotas and the tries of one code are not among them.

use std::time::Duration;

const QUARTER_HOUR: Duration = Duration::from_secs(15 * 60);
const HOUR: Duration = Duration::from_secs(3600);
const DAY: Duration = Duration::from_secs(86_400);

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

/// Declares the limits, in a form that reads as a table.
macro_rules! limits {
    ($($(#[$meta:meta])* $limit:ident $name:literal $max:literal $window:ident;)+) => {
        $($(#[$meta])* pub const $limit: Limit = Limit { name: $name, max: $max, window: $window };)+
    };
}

limits! {
    /// Wrong passwords, at sign-in and wherever the current password is required, per account and network.
    PASSWORD_ACCOUNT_NETWORK "password-account-network" 10 QUARTER_HOUR;
    /// The same, in a day: the only ceiling of networks that know the account, for which the next two do not count.
    PASSWORD_ACCOUNT_NETWORK_DAY "password-account-network-day" 100 DAY;
    /// Wrong passwords per account.
    PASSWORD "password-account" 100 QUARTER_HOUR;
    /// The same, per network.
    PASSWORD_NETWORK "password-network" 50 QUARTER_HOUR;
    /// Wrong digits of codes, by mail or text message, per account, over all kinds of codes. The tries of one code are
    /// stored with it. The code of a link cannot be guessed and is not counted.
    DIGITS "digits-account" 20 DAY;
    /// The same, per network.
    DIGITS_NETWORK "digits-network" 30 HOUR;
    /// Wrong answers of passkeys, per network. Nothing is counted per account: a signature cannot be guessed.
    PASSKEY_NETWORK "passkey-network" 50 QUARTER_HOUR;
    /// Wrong one-time passwords, per session or pending sign-in.
    OTP_CHALLENGE "otp-challenge" 5 HOUR;
    /// The same, per account.
    OTP "otp-account" 10 HOUR;
    /// The same, in a day: three of a million codes are right at any moment.
    OTP_DAY "otp-account-day" 30 DAY;
    /// Wrong recovery codes, per session or pending sign-in. They have counters of their own, so that an attacker who
    /// exhausts the others does not lock out the owner.
    RECOVERY_CHALLENGE "recovery-challenge" 5 HOUR;
    /// The same, per account and network: a recovery code is too long to be guessed from many networks.
    RECOVERY_ACCOUNT_NETWORK "recovery-account-network" 10 HOUR;
    /// Valid registrations, successful or not, per network; the setting `REGISTER_PER_HOUR` changes it. A whole class
    /// may register from one network.
    REGISTRATION "register" 60 HOUR;
    /// Pictures of an account, accepted or not, because each of them is decoded.
    AVATAR "avatar" 10 HOUR;
    /// Changes of an account that end all sent codes: passwords and enrolments of one-time passwords. Otherwise an
    /// attacker who knows the password could always prevent its reset.
    ENDING_CODES "password-change" 10 HOUR;
    /// Exports of an account, because each of them may read and store many megabytes.
    EXPORT "export" 10 HOUR;
    /// Exports of the registrations for a course, per account, because each of them may store many megabytes.
    REGISTRATIONS_EXPORT "registrations-export" 30 HOUR;
    /// Unknown codes of certificates, per network.
    CERTIFICATES "certificate-network" 30 HOUR;
    /// Codes of one kind per account, besides one per interval.
    CODES_QUARTER_HOUR "MessagesPerQuarterHour" 3 QUARTER_HOUR;
    /// The same, in a day.
    CODES "MessagesPerDay" 10 DAY;
    /// Codes of all kinds per account that were requested in networks that know it: otherwise somebody who signs in from
    /// many could flood the mailbox. Their keys differ from those of the former limit, whose metric is theirs, too.
    CODES_KNOWN "MessagesPerDay" 30 DAY;
    /// Codes of one kind per account; the interval is a setting.
    CODES_INTERVAL "MessagesPerInterval" 1 QUARTER_HOUR;
    /// Requests of an account for a new address; the interval is a setting.
    EMAIL_CHANGE_INTERVAL "email-change-interval" 1 QUARTER_HOUR;
    /// The same, in a quarter of an hour.
    EMAIL_CHANGE_QUARTER_HOUR "email-change-quarter" 3 QUARTER_HOUR;
    /// The same, in a day.
    EMAIL_CHANGE "email-change-day" 10 DAY;
    /// The same, per network.
    EMAIL_CHANGE_NETWORK "email-change-network" 20 HOUR;
    /// Mails with codes to an address that accounts want but do not have, of all accounts together.
    CODES_TO_ADDRESS "MessagesPerAddress" 20 DAY;
    /// Text messages with codes per account and number.
    TEXTS "TextsPerAccount" 5 DAY;
    /// Text messages with codes to a number that is not verified. This and the next two limit the cost of messages to
    /// people who did not ask for them.
    TEXTS_TO_NUMBER "TextsPerNumber" 10 DAY;
    /// The same, per network.
    TEXTS_NETWORK "TextsPerNetwork" 20 HOUR;
    /// The same, in all; the setting `SMS_CODES_PER_DAY` changes it.
    TEXTS_IN_ALL "TextsInAll" 2000 DAY;
    /// Text messages of one sender to one number, when they are sent.
    TEXTS_TO_RECIPIENT "TextsPerRecipient" 20 DAY;
    /// Mails with the code and the links of a new account, per address. Otherwise somebody could flood it by registering
    /// and erasing accounts.
    WELCOMES "WelcomesPerAddress" 3 DAY;
    /// Notifications of new devices per mailbox and device series of the account. Whoever knows the password can invent
    /// devices; no other notification is held back for them.
    NEW_DEVICES "NewDevicesPerDay" 10 DAY;
    /// Changes of one kind that an account's owner is notified of, per account. So notifications need no limit, with which
    /// an attacker could hide the last change behind others.
    CHANGES "account-changes" 10 HOUR;
    /// Notifications of one kind to a mailbox that nobody has verified, and that may belong to someone else. What was set
    /// before its first verification does not outlive it.
    NOTIFICATIONS_UNVERIFIED "NotificationsToUnverified" 10 DAY;
    /// Mails about what a person did with their registrations for courses, per account. The state of a registration counts,
    /// not the mail. What others do is never held back: the next limit bounds it.
    REGISTRATION_MAILS "RegistrationMails" 60 DAY;
    /// Approvals, rejections and cancellations of one registration by those who may write the course: each is mailed.
    DECISIONS "registration-decisions" 10 HOUR;
    /// All mails about registrations to a mailbox that may belong to someone else.
    REGISTRATION_MAILS_UNVERIFIED "RegistrationMailsToUnverified" 10 DAY;
    /// Codes that were requested without a session, to a mailbox whose owner complained of a mail.
    CODES_TO_STOPPED "CodesToStopped" 1 DAY;
}
