use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::json;
use tests::{NewPerson, World};

#[tokio::test]
async fn actions_are_listed_newest_first_without_personal_data() {
    let world = World::new().await;
    let admin = world.admin().await;
    let member = world.account(&NewPerson::with(Profile::Member)).await;
    let path = format!("/team/{}", member.user_id);
    admin
        .put(&path, json!({ "profile": "TR", "name": "Leïla" }))
        .await
        .expect_success(Message::TeamMemberUpdated);
    admin
        .put(
            &format!("/users/user-status/{}", member.user_id),
            json!({ "isActive": false }),
        )
        .await
        .expect_success(Message::UserStatusUpdated);
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
        assert_eq!(
            admin.get(&format!("/audit?userID={who}")).await.expect_ok()["audit"]
                .as_array()
                .unwrap()
                .len(),
            2
        );
    }
    assert_eq!(
        admin.get("/audit?userID=x").await.expect_ok()["audit"],
        json!([])
    );
    let page = admin.get("/audit?limit=1").await.expect_ok();
    let next = admin
        .get(&format!(
            "/audit?limit=1&cursor={}",
            page["nextCursor"].as_str().unwrap()
        ))
        .await
        .expect_ok();
    assert_eq!(
        (&next["audit"][0], &next["nextCursor"]),
        (&audit[1], &json!(null))
    );
}

#[tokio::test]
async fn administrator_sees_own_committee_and_members_get_403() {
    let world = World::new().await;
    let sfax = world.another_committee("Sfax", true).await;
    let admin = world.admin().await;
    let (near, far) = (
        world.account(&NewPerson::with(Profile::Member)).await,
        world
            .account(&NewPerson::with(Profile::Member).of(sfax))
            .await,
    );
    for user in [&near, &far] {
        admin
            .put(&format!("/team/{}", user.user_id), json!({ "role": "x" }))
            .await
            .expect_success(Message::TeamMemberUpdated);
    }
    let own = world.person(NewPerson::with(Profile::CommitteeAdmin)).await;
    for query in ["", &format!("?userID={}", admin.user().user_id)] {
        let audit = own.get(&format!("/audit{query}")).await.expect_ok()["audit"].clone();
        assert_eq!(audit.as_array().unwrap().len(), 1);
        assert_eq!(audit[0]["targetID"], json!(near.user_id));
    }
    assert_eq!(
        own.get(&format!("/audit?userID={}", far.user_id))
            .await
            .expect_ok()["audit"],
        json!([])
    );
    for someone in [
        NewPerson::with(Profile::Member),
        NewPerson::with(Profile::Trainer),
    ] {
        world
            .person(someone)
            .await
            .get("/audit")
            .await
            .expect_error(ErrorCode::Forbidden);
    }
}
