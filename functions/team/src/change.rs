//! `PUT /team/{userId}`: changes another person's account as an administrator.

use accounts::{Administrator, attempts};
use axum::extract::State;
use common::{
    ApiError, ApiResult, Client, ErrorCode, Input, InvalidValue, Message, Now, Path, committee_id,
    etag_of, flag, if_match_holds, input, integer, phone, success, text,
};
use domain::{
    CommitteeId, Email, Grant, Instant, Line, Name, Patch, Permissions, Phone, Profile, UserId,
    ValueError,
    audit::{Action, AuditedAction},
    committee::Committee,
    user::{EditableAccount, User},
};
use http::HeaderMap;
use identity::random;
use serde_json::Value;
use store::Transaction;

use crate::Team;

input! {
    pub(crate) struct UpdateMemberRequest {
        name: Option<Name> = optional("name", text),
        last_name: Option<Name> = optional("lastName", text),
        email: Option<Email> = optional("email", text),
        phone: Option<Phone> = group(phone),
        profile: Option<Profile> = optional("profile", text),
        role: Patch<Line<64>> = patch("role", text),
        permissions: Option<Permissions> = optional("permissions", permissions),
        is_verified: Option<bool> = optional("isVerified", flag),
        /// Parsed in `new_committee_id`, because only super admins may set it.
        committee_id: Option<Value> = raw("committeeID"),
        version: Option<u64> = optional("version", integer(0..=u64::from(u32::MAX))),
    }
}

/// Reads a list of grants, or a text that contains such a list as JSON.
fn permissions(value: Value) -> Result<Permissions, InvalidValue> {
    read_permissions(value).map_err(InvalidValue::of::<Grant>)
}

fn read_permissions(value: Value) -> Result<Permissions, ValueError> {
    let grants = match value {
        Value::Array(grants) => grants,
        Value::String(text) => serde_json::from_str(&text).map_err(|_| ValueError::Format)?,
        _ => return Err(ValueError::Type),
    };
    let grant = |grant: Value| {
        let code = grant.as_str().ok_or(ValueError::Type)?;
        code.parse().map_err(|_| ValueError::Value)
    };
    grants.into_iter().map(grant).collect()
}

/// Concurrent requests that change different fields all take effect. With `version` or `If-Match` a request only
/// changes the account if it has not changed since the client read it.
pub(crate) async fn change(
    State(team): State<Team>,
    Now(now): Now,
    admin: Administrator,
    client: Client,
    Path(id): Path<UserId>,
    headers: HeaderMap,
    Input(request): Input<UpdateMemberRequest>,
) -> ApiResult<EditableAccount> {
    let committee_id = request.new_committee_id(&admin)?;
    let (before, committee) =
        tokio::join!(admin.account_to_edit(&team.store, id), team.require_active(committee_id));
    // Errors of the fields take precedence over those of the account. An address that is taken comes later, because
    // requests for an address are counted for the account.
    committee?;
    let before = before?;
    let committee = admin.committee_of(&team.store, &before).await?;
    let require_allowed = |before: &User| {
        require_may_set(&admin, before, &request)?;
        require_unchanged(before, &committee, request.version, &headers)
    };
    // A refused request is not counted for the account.
    require_allowed(&before)?;
    let mail = match &request.email {
        Some(email) => team.codes.reserve_email_change(&before, email, &client, now).await?,
        None => None,
    };
    // The address as it stands ends a stop of mails to it.
    let stop = match &request.email {
        Some(email) if *email == before.email => team.store.mail_stop(email, now).await?,
        _ => None,
    };
    let changes_number = request.phone.as_ref().is_some_and(|phone| *phone != before.phone);
    let update = |before: &User, tx: &mut Transaction| {
        require_allowed(before)?;
        if stop.is_some() {
            let resumed = AuditedAction::of_mail_stop(before, stop, None);
            tx.resume_mails(&before.email, now);
            tx.record_audit(&resumed.by(&admin.0.user, random::id(now), now));
        }
        team.changed(tx, before, &request, committee_id, mail.is_some(), now)
    };
    let edit = admin.edit(&team.store, before, Action::TeamMemberUpdated, now, update);
    let edited = if changes_number {
        let counters = attempts::of_change("phoneChanged", id);
        attempts::counted(&team.store, &counters, now, edit).await
    } else {
        edit.await
    };
    if edited.is_err() {
        team.codes.release(mail).await;
    }
    let user = edited?;
    let committee = if user.committee_id == committee.committee_id {
        committee
    } else {
        admin.committee_of(&team.store, &user).await?
    };
    success(Message::TeamMemberUpdated, EditableAccount::of(user, committee))
}

/// Checks that the new profile is below the administrator's own, and that the administrator's profile alone has the
/// rights of the new grants. Super admins may set any profile.
fn require_may_set(
    admin: &Administrator,
    before: &User,
    request: &UpdateMemberRequest,
) -> Result<(), ErrorCode> {
    let caller = admin.0.user.rights();
    let is_super = caller.profile == Profile::SuperAdmin;
    let may_set_profile =
        request.profile.is_none_or(|profile| is_super || profile < caller.profile);
    let mut new_grants = request
        .permissions
        .iter()
        .flat_map(Permissions::iter)
        .filter(|grant| !before.permissions.has(*grant));
    if may_set_profile && new_grants.all(|grant| caller.may_grant(grant)) {
        Ok(())
    } else {
        Err(ErrorCode::Forbidden)
    }
}

/// # Errors
/// `VERSION_CONFLICT_MESSAGE` when `version` or `If-Match` does not match the account.
fn require_unchanged(
    user: &User,
    committee: &Committee,
    version: Option<u64>,
    headers: &HeaderMap,
) -> Result<(), ApiError> {
    let is_same_version = version.is_none_or(|version| version == user.version);
    let is_same_etag = || {
        let etag = etag_of(EditableAccount::of(user.clone(), committee.clone()))?;
        Ok::<_, ApiError>(if_match_holds(headers, &etag))
    };
    if is_same_version && (!headers.contains_key(http::header::IF_MATCH) || is_same_etag()?) {
        Ok(())
    } else {
        Err(ErrorCode::VersionConflict.into())
    }
}

impl Team {
    /// `before` with the fields of `request`, and the further writes of the change in `tx`.
    fn changed(
        &self,
        tx: &mut Transaction,
        before: &User,
        request: &UpdateMemberRequest,
        committee_id: Option<CommitteeId>,
        may_send: bool,
        now: Instant,
    ) -> Result<User, ApiError> {
        let mut with_email = before.clone();
        if let Some(email) = &request.email {
            self.codes.request_email_change(tx, &mut with_email, email, may_send, now)?;
        }
        let after = before.changed(|user| {
            request.apply(user, committee_id);
            // A change of rights cancels a pending address: an address that was requested while the account had fewer
            // rights must not take effect once it has more.
            let may_keep = request.email.is_some() || user.rights() == before.rights();
            user.pending_email = with_email.pending_email.filter(|_| may_keep);
        });
        // A sign-in reads the committee beside the account, in as many requests as for an unknown address.
        if after.committee_id != before.committee_id {
            tx.update_email_committee(&after);
        }
        self.codes.notify_phone_change(tx, before, &after.phone, now)?;
        Ok(after)
    }

    /// # Errors
    /// `COMMITTEE_INVALID_MESSAGE` when `committee` does not exist or is not active.
    async fn require_active(&self, committee: Option<CommitteeId>) -> Result<(), ApiError> {
        let Some(id) = committee else { return Ok(()) };
        let committee = self.store.committee(id).await?;
        if committee.is_some_and(|committee| committee.is_active) {
            Ok(())
        } else {
            Err(ApiError::field("committeeID", ErrorCode::CommitteeInvalid))
        }
    }
}

impl UpdateMemberRequest {
    /// The id of the new committee. The field is ignored unless the caller is a super admin.
    fn new_committee_id(&self, admin: &Administrator) -> Result<Option<CommitteeId>, ApiError> {
        let is_super = admin.0.user.profile == Profile::SuperAdmin;
        let Some(value) = self.committee_id.clone().filter(|_| is_super) else {
            return Ok(None);
        };
        committee_id(value).map(Some).map_err(|invalid| ApiError::field("committeeID", invalid))
    }

    fn apply(&self, user: &mut User, committee_id: Option<CommitteeId>) {
        fn set<T: Clone>(field: &mut T, request: &Option<T>) {
            if let Some(value) = request {
                field.clone_from(value);
            }
        }
        set(&mut user.name, &self.name);
        set(&mut user.last_name, &self.last_name);
        set(&mut user.profile, &self.profile);
        self.role.clone().apply(&mut user.role);
        set(&mut user.permissions, &self.permissions);
        if let Some(is_verified) = self.is_verified {
            user.set_verified(is_verified);
        }
        set(&mut user.committee_id, &committee_id);
        if let Some(phone) = &self.phone {
            user.set_phone(phone.clone());
        }
    }
}
