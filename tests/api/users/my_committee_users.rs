use common::{ErrorCode, Message};
use domain::{Grant, Profile};
use serde_json::{Value, json};
use tests::{NewPerson, Person, World};

/// The names on all pages.
async fn names(person: &Person, query: &str) -> Vec<String> {
    let (mut all, mut cursor) = (Vec::new(), String::new());
    for _ in 0..20 {
        let page = person
            .get(&format!("/users/my-committee-users?{query}{cursor}"))
            .await
            .expect_ok();
        all.extend(
            page["users"]
                .as_array()
                .unwrap()
                .iter()
                .map(|user| format!("{} {}", text(&user["lastName"]), text(&user["name"]))),
        );
        match page["nextCursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return all,
        }
    }
    panic!("the list has no end");
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

async fn named(world: &World, admin: &Person, someone: NewPerson, name: &str, last_name: &str) {
    let user = world.account(&someone).await;
    let payload = json!({ "name": name, "lastName": last_name });
    admin
        .put(&format!("/team/{}", user.user_id), payload)
        .await
        .expect_success(Message::TeamMemberUpdated);
}

#[tokio::test]
async fn list_is_sorted_by_folded_name_in_pages() {
    let world = World::new().await;
    let admin = world.admin().await;
    let elsewhere = world.another_committee("Sfax", true).await;
    for (name, last_name) in [
        ("Élodie", "Zouari"),
        ("amel", "élyès"),
        ("Zied", "Abidi"),
        ("Amel", "abidi"),
    ] {
        named(
            &world,
            &admin,
            NewPerson::with(Profile::Member),
            name,
            last_name,
        )
        .await;
    }
    named(
        &world,
        &admin,
        NewPerson::with(Profile::Member).of(elsewhere),
        "Autre",
        "Part",
    )
    .await;
    let expected = [
        "abidi Amel",
        "Abidi Zied",
        "Admin Super",
        "élyès amel",
        "Zouari Élodie",
    ];
    for limit in 1..=6 {
        assert_eq!(
            names(&admin, &format!("limit={limit}")).await,
            expected,
            "{limit}"
        );
    }
}

#[tokio::test]
async fn filters_are_exact_and_search_matches_word_prefixes() {
    let world = World::new().await;
    let admin = world.admin().await;
    named(
        &world,
        &admin,
        NewPerson::with(Profile::Trainer),
        "Élodie",
        "Ben Zouari",
    )
    .await;
    named(
        &world,
        &admin,
        NewPerson::with(Profile::Member).inactive(),
        "Amel",
        "Trabelsi",
    )
    .await;
    for (query, expected) in [
        ("isActive=false", vec!["Trabelsi Amel"]),
        ("profile=TR", vec!["Ben Zouari Élodie"]),
        ("profile=TR&isActive=false", vec![]),
        ("q=zou", vec!["Ben Zouari Élodie"]),
        ("q=%C3%89LO", vec!["Ben Zouari Élodie"]),
        ("q=elo+ben", vec!["Ben Zouari Élodie"]),
        ("q=ouari", vec![]),
        ("q=admin@ex", vec!["Admin Super"]),
        (
            "q=",
            vec!["Admin Super", "Ben Zouari Élodie", "Trabelsi Amel"],
        ),
    ] {
        assert_eq!(names(&admin, query).await, expected, "{query}");
    }
    for (query, field, error_code) in [
        ("isActive=maybe", "isActive", ErrorCode::FieldValue),
        ("isActive=", "isActive", ErrorCode::FieldValue),
        ("profile=XX", "profile", ErrorCode::FieldValue),
        ("limit=0", "limit", ErrorCode::LimitInvalid),
        ("limit=101", "limit", ErrorCode::LimitInvalid),
        ("cursor=x", "cursor", ErrorCode::InvalidCursor),
    ] {
        admin
            .get(&format!("/users/my-committee-users?{query}"))
            .await
            .expect_field_error(field, error_code);
    }
}

#[tokio::test]
async fn filtered_pages_leave_out_no_match() {
    let world = World::new().await;
    let admin = world.admin().await;
    let people = [
        ("a", Profile::Trainer),
        ("b", Profile::Trainer),
        ("c", Profile::Member),
        ("d", Profile::Trainer),
        ("e", Profile::Trainer),
    ];
    for (name, profile) in people {
        named(&world, &admin, NewPerson::with(profile), name, name).await;
    }
    for limit in 1..=7 {
        assert_eq!(
            names(&admin, &format!("profile=TR&limit={limit}")).await,
            ["a a", "b b", "d d", "e e"],
            "{limit}"
        );
    }
}

#[tokio::test]
async fn filter_with_few_matches_needs_at_most_four_round_trips() {
    let world = World::new().await;
    let admin = world.admin().await;
    for _ in 0..310 {
        world
            .unhashed_account(&NewPerson::with(Profile::Member))
            .await;
    }
    named(
        &world,
        &admin,
        NewPerson::with(Profile::Trainer),
        "Zied",
        "Zouari",
    )
    .await;
    let page = admin
        .get("/users/my-committee-users?profile=TR&limit=1")
        .await;
    assert!(page.cost.round_trips <= 4, "{:?}", page.cost);
    let page = page.expect_ok();
    assert_eq!(page["users"], json!([]));
    assert!(page["nextCursor"].is_string(), "the list continues");
    for query in ["profile=TR&limit=1", "q=zou&limit=1"] {
        assert_eq!(names(&admin, query).await, ["Zouari Zied"], "{query}");
    }
}

#[tokio::test]
async fn shorter_name_is_sorted_before_its_extensions() {
    let world = World::new().await;
    let admin = world.admin().await;
    for last_name in ["Ben!", "Ben Ali", "Ben", "Ben'x"] {
        named(
            &world,
            &admin,
            NewPerson::with(Profile::Member),
            "X",
            last_name,
        )
        .await;
    }
    assert_eq!(
        names(&admin, "q=ben").await,
        ["Ben X", "Ben Ali X", "Ben! X", "Ben'x X"]
    );
}

#[tokio::test]
async fn fields_depend_on_profile_and_unverified_get_403() {
    let world = World::new().await;
    for (someone, fields) in [
        (NewPerson::with(Profile::Member), 7),
        (
            NewPerson::with(Profile::Member).granted(&[Grant::UsersRead]),
            17,
        ),
        (NewPerson::with(Profile::Trainer), 17),
        (NewPerson::with(Profile::CommitteeAdmin), 17),
    ] {
        let person = world.person(someone).await;
        let users = person.get("/users/my-committee-users").await.expect_ok()["users"].clone();
        assert!(
            users
                .as_array()
                .unwrap()
                .iter()
                .all(|user| user.as_object().unwrap().len() == fields),
            "{users}"
        );
    }
    let member = world.member().await;
    assert_eq!(
        names(&member, "q=admin@").await,
        Vec::<String>::new(),
        "addresses are not shown to members"
    );
    world
        .person(NewPerson::with(Profile::Member).unverified())
        .await
        .get("/users/my-committee-users")
        .await
        .expect_error(ErrorCode::AccountNotVerified);
}

#[tokio::test]
async fn cursor_is_bound_to_its_filter_and_caller() {
    let world = World::new().await;
    let (admin, member) = (world.admin().await, world.member().await);
    let page = admin
        .get("/users/my-committee-users?limit=1")
        .await
        .expect_ok();
    let cursor = text(&page["nextCursor"]);
    admin
        .get(&format!(
            "/users/my-committee-users?profile=MB&cursor={cursor}"
        ))
        .await
        .expect_field_error("cursor", ErrorCode::InvalidCursor);
    member
        .get(&format!("/users/my-committee-users?cursor={cursor}"))
        .await
        .expect_field_error("cursor", ErrorCode::InvalidCursor);
}
