use super::*;
use Reach::{Committee as C, Everywhere as E, Nowhere as N, Own as O};

#[test]
fn rights_by_profile_and_grants_match_the_table() {
    // right; reach by default for MB, TR, CA, SA; reach for a member with every grant
    let table = [
        (Right::ReadCards, [C, C, C, E], C),
        (Right::ReadAccounts, [O, C, C, E], C),
        (Right::ManageUsers, [N, N, C, E], N),
        (Right::ReadPublished, [E, E, E, E], E),
        (Right::ReadDrafts, [N, O, C, E], C),
        (Right::WriteCourses, [N, O, C, E], C),
        (Right::PublishCourses, [N, O, C, E], C),
        (Right::SendSms, [N, N, C, E], C),
        (Right::SendBulkSms, [N, N, N, E], C),
        (Right::ManageSms, [N, N, C, E], N),
        (Right::ReadPanel, [N, N, N, E], E),
        (Right::WritePanel, [N, N, N, E], E),
        (Right::WriteCommittees, [N, N, N, E], N),
        (Right::ReadAudit, [N, N, C, E], N),
    ];
    for (right, by_profile, granted) in table {
        for (profile, reach) in Profile::ALL.into_iter().zip(by_profile) {
            assert_eq!(rights(1, 1, profile, &[]).reach(right), reach, "{right:?} {profile}");
        }
        let holder = rights(1, 1, Profile::Member, &Grant::ALL);
        assert_eq!(holder.reach(right), granted, "{right:?} granted");
    }
}

fn rights(user: u128, committee: u128, profile: Profile, grants: &[Grant]) -> Rights {
    Rights {
        user_id: UserId::new(uuid::Uuid::from_u128(user)),
        profile,
        committee_id: CommitteeId::new(uuid::Uuid::from_u128(committee)),
        permissions: grants.iter().copied().collect(),
    }
}

#[test]
fn admin_may_edit_lower_profiles_of_own_committee() {
    use Profile::{CommitteeAdmin, Member, SuperAdmin, Trainer};
    let admin = rights(1, 1, CommitteeAdmin, &[]);
    let super_admin = rights(2, 1, SuperAdmin, &[]);
    for (other, by_admin, by_super) in [
        (rights(3, 1, Member, &[]), true, true),
        (rights(3, 1, Trainer, &[Grant::SmsSend]), true, true),
        (rights(3, 1, Member, &[Grant::CpanelRead]), false, true),
        (rights(3, 1, Member, &[Grant::SmsBulk]), false, true),
        (rights(3, 1, CommitteeAdmin, &[]), false, true),
        (rights(3, 2, Member, &[]), false, true),
        (rights(3, 2, SuperAdmin, &[]), false, true),
        (super_admin.clone(), false, false),
        (admin.clone(), false, true),
    ] {
        assert_eq!(admin.may_edit(&other), by_admin, "{other:?}");
        assert_eq!(super_admin.may_edit(&other), by_super, "{other:?}");
    }
    assert!(admin.may_grant(Grant::SmsSend) && !admin.may_grant(Grant::SmsBulk));
    let holder = rights(1, 1, CommitteeAdmin, &Grant::ALL);
    assert!(!holder.may_grant(Grant::CpanelRead), "grants cannot be passed on");
}

proptest::proptest! {
    /// An account that may edit another has at least its rights, so editing cannot escalate privileges. Grants never
    /// remove a right.
    #[test]
    fn editor_has_at_least_the_rights_of_the_edited_account(
        a in (0u128..3, 0u128..2, 0usize..4, 0u8..128), b in (0u128..3, 0u128..2, 0usize..4, 0u8..128),
    ) {
        let person = |(user, committee, profile, bits): (u128, u128, usize, u8)| {
            let grants: Vec<Grant> = Grant::ALL.into_iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1).map(|(_, grant)| grant).collect();
            rights(user, committee, Profile::ALL[profile], &grants)
        };
        let (editor, edited) = (person(a), person(b));
        if editor.may_edit(&edited) {
            proptest::prop_assert!(editor.user_id != edited.user_id);
            for right in [Right::ManageUsers, Right::WriteCourses, Right::PublishCourses, Right::SendSms, Right::SendBulkSms, Right::ReadPanel, Right::WritePanel, Right::WriteCommittees] {
                proptest::prop_assert!(editor.reach(right) >= edited.reach(right), "{right:?}");
            }
        }
        for right in [Right::ReadCards, Right::ReadAccounts, Right::SendSms] {
            let bare = Rights { permissions: Permissions::default(), ..editor.clone() };
            proptest::prop_assert!(editor.reach(right) >= bare.reach(right));
        }
    }
}
