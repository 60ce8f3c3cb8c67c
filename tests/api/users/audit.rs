use std::{collections::BTreeSet, time::Duration};

use domain::{Profile, user::User};
use serde_json::{Value, json};
use tests::{NewPerson, Person, World};

/// An action of `admin` on `user`, later than the one before it.
async fn change_role(world: &World, admin: &Person, user: &User, role: &str) {
    world.clock().advance(Duration::from_millis(2));
    admin.change_member(user.user_id, json!({ "role": role })).await;
}

#[tokio::test]
async fn actions_are_listed_newest_first_without_personal_data() {
    let (world, admin) = World::with_admin().await;
    let member = world.account(Profile::Member).await;
    admin.change_member(member.user_id, json!({ "profile": "TR", "name": "Leïla" })).await;
    admin.set_active(member.user_id, false).await;
    let audit = admin.get("/audit").await.expect_ok()["audit"].clone();
    assert_eq!(audit.as_array().unwrap().len(), 2);
    assert_eq!(
        (&audit[0]["action"], &audit[1]["action"]),
        (&json!("USER_STATUS_CHANGED"), &json!("TEAM_MEMBER_UPDATED"))
    );
    assert_eq!(
        (&audit[0]["before"], &audit[0]["after"]),
        (&json!({ "isActive": true }), &json!({ "isActive": false }))
    );
    assert_eq!(audit[1]["after"], json!({ "name": "***", "profile": "TR" }));
    assert_eq!(audit[1]["actorID"], json!(admin.user().user_id));
    for who in [member.user_id, admin.user().user_id] {
        assert_eq!(admin.pages(&format!("/audit?userID={who}"), "audit").await.len(), 2);
    }
    assert_eq!(admin.get("/audit?userID=x").await.expect_ok()["audit"], json!([]));
    let page = admin.get("/audit?limit=1").await.expect_ok();
    let url = format!("/audit?limit=1&cursor={}", page["nextCursor"].as_str().unwrap());
    let next = admin.get(&url).await.expect_ok();
    assert_eq!((&next["audit"][0], &next["nextCursor"]), (&audit[1], &json!(null)));
}

#[tokio::test]
async fn administrator_sees_the_audit_of_the_own_committee() {
    let world = World::new().await;
    let sfax = world.another_committee("Sfax", true).await;
    let admin = world.admin().await;
    let near = world.account(Profile::Member).await;
    let far = world.account(&NewPerson::with(Profile::Member).of(sfax)).await;
    for user in [&near, &far] {
        admin.change_member(user.user_id, json!({ "role": "x" })).await;
    }
    let own = world.person(Profile::CommitteeAdmin).await;
    for query in ["", &format!("?userID={}", admin.user().user_id)] {
        let audit = own.get(&format!("/audit{query}")).await.expect_ok()["audit"].clone();
        assert_eq!(audit.as_array().unwrap().len(), 1);
        assert_eq!(audit[0]["targetID"], json!(near.user_id));
    }
    assert_eq!(
        own.get(&format!("/audit?userID={}", far.user_id)).await.expect_ok()["audit"],
        json!([])
    );
}

#[tokio::test]
async fn committee_administrator_learns_nothing_of_other_committees() {
    let world = World::new().await;
    let sfax = world.another_committee("Sfax", true).await;
    let admin = world.admin().await;
    let near = world.account(Profile::Member).await;
    let far = world.account(&NewPerson::with(Profile::Member).of(sfax)).await;
    change_role(&world, &admin, &near, "un").await;
    for _ in 0..3 {
        change_role(&world, &admin, &far, "x").await;
        change_role(&world, &admin, &far, "y").await;
    }
    change_role(&world, &admin, &near, "deux").await;
    let own = world.person(Profile::CommitteeAdmin).await;
    // Of the eight entries of this actor, two are about the committee: two full pages.
    let path = format!("/audit?limit=1&userID={}", admin.user().user_id);
    let first = own.get(&path).await.expect_ok();
    let cursor = first["nextCursor"].as_str().unwrap();
    let second = own.get(&format!("{path}&cursor={cursor}")).await.expect_ok();
    assert_eq!(
        (
            &first["audit"][0]["after"]["role"],
            &second["audit"][0]["after"]["role"],
            &second["nextCursor"]
        ),
        (&json!("deux"), &json!("un"), &json!(null))
    );
    // A person of another committee cannot be told from an unknown one.
    let unknown = own.get(&format!("/audit?limit=1&userID={sfax}")).await.expect_ok();
    let other = own.get(&format!("/audit?limit=1&userID={}", far.user_id)).await.expect_ok();
    assert_eq!(other, unknown);
    assert_eq!((&other["audit"], &other["nextCursor"]), (&json!([]), &json!(null)));
}

#[tokio::test]
async fn pages_of_all_committees_have_every_entry_once_in_order() {
    let world = World::with(&[("RATE_LIMIT", "1000")]).await;
    let admin = world.admin().await;
    let member = world.account(Profile::Member).await;
    let roles: Vec<String> = (0..24).map(|number| format!("rôle {number:02}")).collect();
    for role in &roles {
        change_role(&world, &admin, &member, role).await;
    }
    let shards: BTreeSet<String> = world
        .items("records")
        .iter()
        .filter_map(|item| item["listPk"]["S"].as_str())
        .filter(|list| list.starts_with("AUDIT#"))
        .map(str::to_owned)
        .collect();
    assert!(shards.len() > 1, "{shards:?}");
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = admin.get(&format!("/audit?limit=5{cursor}")).await.expect_ok();
        let entries = page["audit"].as_array().unwrap();
        let role = |entry: &Value| entry["after"]["role"].as_str().unwrap().to_owned();
        found.extend(entries.iter().map(role));
        let Some(next) = page["nextCursor"].as_str() else {
            break;
        };
        assert_eq!(entries.len(), 5, "only the last page is short");
        cursor = format!("&cursor={next}");
    }
    found.reverse();
    assert_eq!(found, roles);
}

#[tokio::test]
async fn entries_older_than_five_years_are_not_listed() {
    const DAY: Duration = Duration::from_secs(86_400);
    let world = World::new().await;
    let committee_admin = world.account(Profile::CommitteeAdmin).await;
    let member = world.account(Profile::Member).await;
    change_role(&world, &world.admin().await, &member, "ancien").await;
    world.clock().advance(DAY * (5 * 365 - 1));
    change_role(&world, &world.admin().await, &member, "nouveau").await;
    world.clock().advance(DAY);
    for person in [world.admin().await, world.signed_in(committee_admin.clone()).await] {
        for query in ["", &format!("?userID={}", member.user_id)] {
            let page = person.get(&format!("/audit{query}")).await.expect_ok();
            assert_eq!(page["audit"].as_array().unwrap().len(), 1);
            assert_eq!(
                (&page["audit"][0]["after"]["role"], &page["nextCursor"]),
                (&json!("nouveau"), &json!(null))
            );
        }
    }
}

#[tokio::test]
async fn page_of_a_hundred_large_entries_is_listed() {
    let (world, admin) = World::with_admin().await;
    let world = world.another_process_with(&[("RATE_LIMIT", "1000")]);
    let admin = admin.via(&world);
    let course = json!({ "courseTitle": "Secourisme" });
    let id = admin.post("/courses", course).await.expect_created()["course"]["courseID"].clone();
    let path = format!("/registrations/{}/settings", id.as_str().unwrap());
    for number in 0..100 {
        let consent = format!("{number}{}", "م".repeat(1_900));
        admin.put(&path, json!({ "mode": "MANUAL", "consentText": consent })).await.expect_ok();
    }
    let page = admin.get("/audit?limit=100").await.expect_ok();
    let audit = page["audit"].as_array().unwrap();
    assert_eq!(audit.len(), 100);
    assert!(audit.iter().all(|entry| entry.to_string().len() <= 4096));
    let consent = audit[0]["after"]["consentText"].as_str().unwrap();
    assert!(consent.starts_with("99م") && consent.ends_with("bytes)"), "{consent}");
}
