use std::{collections::BTreeMap, time::Duration};

use cloud::Consumer;
use common::{ErrorCode, Message};
use domain::Profile;
use serde_json::json;
use tests::{NewPerson, Person, World};

use super::{created_course, draft, id_of, payload, published, titles, walk};

async fn found(person: &Person, q: &str) -> Vec<String> {
    let q: String = form_urlencoded::byte_serialize(q.as_bytes()).collect();
    titles(&person.get(&format!("/courses/search-all?q={q}")).await.expect_ok())
}

/// Creates and publishes a course, and has it indexed; returns its identifier.
async fn indexed(world: &World, person: &Person, title: &str, city: &str) -> String {
    let mut payload = payload(title);
    payload["city"] = json!(city);
    let id = id_of(&created_course(person, payload).await);
    let answer = person.post(&format!("/courses/{id}/publish"), json!({})).await;
    answer.expect_success(Message::CoursePublished);
    world.deliver().await;
    id
}

#[tokio::test]
async fn newest_published_first_without_description_and_contact() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    draft(&trainer, "hidden").await;
    let mut expected = Vec::new();
    for number in 0..5 {
        world.clock().advance(Duration::from_millis(5));
        published(&trainer, &format!("Cours {number}")).await;
        expected.insert(0, format!("Cours {number}"));
    }
    let unverified = world.person(NewPerson::with(Profile::Member).unverified()).await;
    let page =
        unverified.get("/courses/search-all?courseTitle=x&region=y&price=z").await.expect_ok();
    assert_eq!(titles(&page), expected);
    let fields: Vec<&String> = page["courses"][0].as_object().unwrap().keys().collect();
    assert_eq!(fields.len(), 23);
    assert!(
        ["description", "contactPerson", "contactPhone", "contactEmail"]
            .iter()
            .all(|field| !fields.iter().any(|known| known == field))
    );
    for limit in [1, 2, 5] {
        assert_eq!(walk(&unverified, "/courses/search-all", limit).await.len(), 5, "{limit}");
    }
    world.anonymous().get("/courses/search-all").await.expect_unauthorized();
}

#[tokio::test]
async fn search_finds_plurals_cities_and_letters_that_differ() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let mut course = payload("Emplois et photos de Łódź");
    course["courseSubTitle"] = json!("un ".repeat(60) + "dernier");
    course["city"] = json!("ڨفصة");
    course["sectionOfMatter"] = json!("Nationalité");
    let id = id_of(&created_course(&trainer, course).await);
    trainer.post(&format!("/courses/{id}/publish"), json!({})).await.expect_ok();
    world.deliver().await;
    for q in ["emploi", "PHOTO", "lodz", "قفصة", "NATIONALITE"] {
        assert_eq!(found(&trainer, q).await.len(), 1, "{q}");
    }
}

#[tokio::test]
async fn search_ignores_case_accents_and_arabic_variants() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    indexed(&world, &trainer, "L’électricité à l’école : niveau 2", "Béja").await;
    indexed(&world, &trainer, "السلامة المهنيّة في المؤسسة", "صفاقس").await;
    for (q, expected) in [
        ("electricite", Some("L’électricité à l’école : niveau 2")),
        ("ÉLECTRICITÉ École", Some("L’électricité à l’école : niveau 2")),
        ("e\u{301}cole", Some("L’électricité à l’école : niveau 2")),
        ("beja niveau", Some("L’électricité à l’école : niveau 2")),
        ("niveau l a 2", Some("L’électricité à l’école : niveau 2")),
        ("السلامه", Some("السلامة المهنيّة في المؤسسة")),
        ("السّلامةُ المهنية", Some("السلامة المهنيّة في المؤسسة")),
        ("صـفـاقـس", Some("السلامة المهنيّة في المؤسسة")),
        ("\u{202b}المؤسسة\u{202c}", Some("السلامة المهنيّة في المؤسسة")),
        ("electric", None),
        ("electricite soudure", None),
        ("السلامة beja", None),
        ("عجيب", None),
    ] {
        assert_eq!(found(&trainer, q).await, expected.as_slice(), "{q}");
    }
    assert_eq!(found(&trainer, "énergie").await.len(), 2, "a word of the section");
    assert_eq!(found(&trainer, "").await.len(), 2, "an empty query");
    assert_eq!(found(&trainer, "à ! 👷").await, [""; 0], "a query without words");
}

#[tokio::test]
async fn search_finds_inflections_of_the_words() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    indexed(&world, &trainer, "Projet de formation", "Béja").await;
    indexed(&world, &trainer, "الإسعافات الأولية للمدرسة", "صفاقس").await;
    for (q, expected) in [
        ("projets", Some("Projet de formation")),
        ("PROJETS formations beja", Some("Projet de formation")),
        ("projets projet", Some("Projet de formation")),
        ("projets soudures", None),
        ("اسعافات", Some("الإسعافات الأولية للمدرسة")),
        ("والإسعافات", Some("الإسعافات الأولية للمدرسة")),
        ("مدارس", None),
        ("مدرسه بالإسعافات", Some("الإسعافات الأولية للمدرسة")),
        ("projets اسعافات", None),
    ] {
        assert_eq!(found(&trainer, q).await, expected.as_slice(), "{q}");
    }
}

/// The words of the course have 185 stems, of which one transaction writes 99.
#[tokio::test]
async fn course_with_many_stems_is_indexed_in_several_transactions() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let words = |letters: &str| {
        let pairs = letters.chars().flat_map(|first| {
            let second = "جدرزسشصط".chars();
            second.map(move |second| format!("وال{first}{second}ات"))
        });
        pairs.take(37).collect::<Vec<_>>().join(" ")
    };
    let mut payload = payload("Soudure");
    payload["courseSubTitle"] = json!(words("حخعغق"));
    let id = id_of(&created_course(&trainer, payload.clone()).await);
    let answer = trainer.post(&format!("/courses/{id}/publish"), json!({})).await;
    answer.expect_success(Message::CoursePublished);
    world.deliver().await;
    let before = stems(&world);
    assert!(before.len() > 99, "{}", before.len());
    assert_eq!(found(&trainer, "soudures حجات").await, ["Soudure"]);
    payload["courseSubTitle"] = json!(words("منهيت"));
    trainer.put(&format!("/courses/{id}"), payload).await.expect_success(Message::CourseUpdated);
    world.deliver().await;
    assert_eq!(found(&trainer, "soudures مجات").await, ["Soudure"]);
    assert_eq!(found(&trainer, "حجات").await, [""; 0]);
    let entries = |stems: &BTreeMap<String, (usize, i64)>| {
        stems.values().map(|(entries, _)| entries).sum::<usize>()
    };
    assert_eq!(entries(&stems(&world)), stems(&world).len());
}

#[tokio::test]
async fn every_word_of_the_longest_title_and_subtitle_is_found() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let title = (10..76).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
    let mut payload = payload(&title);
    let subtitle = (100..175).map(|number| number.to_string()).collect::<Vec<_>>().join(" ");
    payload["courseSubTitle"] = json!(subtitle);
    let id = id_of(&created_course(&trainer, payload).await);
    trainer.post(&format!("/courses/{id}/publish"), json!({})).await.expect_ok();
    world.deliver().await;
    for word in ["10", "50", "75", "100", "174", "energie"] {
        assert_eq!(found(&trainer, word).await, [title.as_str()], "{word}");
    }
}

#[tokio::test]
async fn search_takes_at_most_five_different_words() {
    let (_, member) = World::with_member().await;
    let answer = member.get("/courses/search-all?q=un+deux+trois+quatre+cinq+six").await;
    answer.expect_field_error("q", ErrorCode::FieldLength);
    member.get("/courses/search-all?q=un+deux+trois+quatre+cinq+cinq+a").await.expect_ok();
}

#[tokio::test]
async fn changed_course_is_found_by_its_new_words_only() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let id = indexed(&world, &trainer, "Soudure avancée", "Sfax").await;
    trainer.put(&format!("/courses/{id}"), payload("Brasage avancé")).await.expect_ok();
    // The index is not updated yet, and outdated entries are not results.
    assert_eq!(found(&trainer, "soudure").await, [""; 0]);
    assert_eq!(found(&trainer, "avancee soudure").await, [""; 0]);
    world.deliver().await;
    assert_eq!(found(&trainer, "brasage avance").await, ["Brasage avancé"]);
    assert_eq!(found(&trainer, "sfax").await, [""; 0]);
    let stems: Vec<String> = stems(&world).into_keys().collect();
    assert_eq!(stems, ["avanc", "brasag", "energ"]);
}

/// Each indexed stem with the number of its entries and the value of its counter.
fn stems(world: &World) -> BTreeMap<String, (usize, i64)> {
    let mut stems: BTreeMap<String, (usize, i64)> = BTreeMap::new();
    for item in world.items("records") {
        let Some(stem) = item["pk"]["S"].as_str().unwrap().strip_prefix("WORD#") else {
            continue;
        };
        let entry = stems.entry(stem.to_owned()).or_default();
        match item["n"]["N"].as_str() {
            Some(count) => entry.1 = count.parse().unwrap(),
            None => entry.0 += 1,
        }
    }
    stems.retain(|_, (entries, count)| *entries > 0 || *count != 0);
    stems
}

#[tokio::test]
async fn lost_stream_records_are_indexed_by_the_sweep() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let (stays, goes) =
        (published(&trainer, "Soudure").await, published(&trainer, "Brasage").await);
    trainer.put(&format!("/courses/{stays}"), payload("Soudure fine")).await.expect_ok();
    trainer.post(&format!("/courses/{goes}/to-draft"), json!({})).await.expect_ok();
    // The stream records are lost.
    world.cloud().stream_records(Consumer::Worker).unwrap();
    world.sweep().await;
    assert_eq!(
        titles(&trainer.get("/courses/search-all").await.expect_ok()),
        ["Soudure fine"],
        "lists do not depend on the stream"
    );
    assert_eq!(found(&trainer, "soudure").await, [""; 0]);
    world.clock().advance(Duration::from_secs(3600));
    world.sweep().await;
    assert_eq!(found(&trainer, "soudure").await, ["Soudure fine"]);
    assert_eq!(
        stems(&world),
        BTreeMap::from(
            [("energ", (1, 1)), ("fin", (1, 1)), ("soudur", (1, 1))]
                .map(|(stem, count)| (stem.to_owned(), count))
        )
    );
    assert!(
        !world
            .items("records")
            .iter()
            .any(|item| item["duePk"]["S"].as_str().is_some_and(|due| due.starts_with("COURSES"))),
        "no indexing is due"
    );
}

#[tokio::test]
async fn concurrent_dispatchers_write_the_same_words() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let trainer = world.person(Profile::Trainer).await;
    let other = world.another_process();
    let id = published(&trainer, "Soudure").await;
    for number in 0..10 {
        let path = format!("/courses/{id}");
        let change = trainer.put(&path, payload(&format!("Niveau{number} soudure")));
        let (changed, (), ()) = tokio::join!(change, world.deliver(), async {
            world.clock().advance(Duration::from_secs(61));
            other.sweep().await;
        });
        changed.expect_success(Message::CourseUpdated);
    }
    world.clock().advance(Duration::from_secs(61));
    world.sweep().await;
    let entries: Vec<String> = stems(&world)
        .into_iter()
        .filter(|(_, (entries, _))| *entries > 0)
        .map(|(stem, _)| stem)
        .collect();
    assert_eq!(entries, ["energ", "niveau9", "soudur"]);
}

#[tokio::test]
async fn multi_word_search_pages_contain_every_course_once() {
    let world = World::with(&[("RATE_LIMIT", "100000")]).await;
    let trainer = world.person(Profile::Trainer).await;
    for number in 0..30 {
        world.clock().advance(Duration::from_millis(2));
        let title = if number % 3 == 0 {
            format!("Soudure fine {number}")
        } else {
            format!("Soudure {number}")
        };
        published(&trainer, &title).await;
    }
    world.deliver().await;
    for limit in [1, 3, 20] {
        let both = walk(&trainer, "/courses/search-all?q=soudure+fine", limit).await;
        let numbers: Vec<u32> = both
            .iter()
            .map(|course| {
                course["courseTitle"].as_str().unwrap().rsplit(' ').next().unwrap().parse().unwrap()
            })
            .collect();
        assert_eq!(
            numbers,
            (0..10).rev().map(|number| number * 3).collect::<Vec<u32>>(),
            "{limit}"
        );
        assert_eq!(walk(&trainer, "/courses/search-all?q=soudure", limit).await.len(), 30);
    }
}

/// Eight writers publish and withdraw courses while another caller reads all pages.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn walk_during_writes_returns_each_published_course_once() {
    let world = World::with(&[("RATE_LIMIT", "1000000")]).await;
    let trainer = world.person(Profile::Trainer).await;
    let mut steady = Vec::new();
    let mut moving = Vec::new();
    for number in 0..40 {
        world.clock().advance(Duration::from_millis(3));
        let id = published(&trainer, &format!("Cours {number}")).await;
        if number % 5 == 0 { moving.push(id) } else { steady.push(id) }
    }
    world.deliver().await;
    let writers = moving.into_iter().map(|id| {
        let (trainer, world) = (trainer.clone(), world.clone());
        tokio::spawn(async move {
            for _ in 0..6 {
                for word in ["to-draft", "publish"] {
                    assert_eq!(
                        trainer.post(&format!("/courses/{id}/{word}"), json!({})).await.status,
                        200
                    );
                }
                published(&trainer, "Nouveau cours").await;
                world.deliver().await;
            }
        })
    });
    let writers: Vec<_> = writers.collect();
    let mut walks = 0;
    while writers.iter().any(|writer| !writer.is_finished()) || walks == 0 {
        for path in ["/courses/search-all", "/courses/search-all?q=cours"] {
            let walked = walk(&trainer, path, 3).await;
            let mut times_met: BTreeMap<String, u32> = BTreeMap::new();
            for course in &walked {
                *times_met.entry(id_of(course)).or_default() += 1;
            }
            assert!(times_met.values().all(|times| *times == 1), "{path}");
            assert!(
                steady.iter().all(|id| times_met.contains_key(id)),
                "{path}: {} of {}",
                times_met.len(),
                walked.len()
            );
        }
        walks += 1;
    }
    for writer in writers {
        writer.await.unwrap();
    }
}

/// The worker has read the old title, and is about to record that the course is found by it.
#[tokio::test]
async fn title_changed_while_it_is_indexed_is_found() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let id = published(&trainer, "Soudure").await;
    let rename = async {
        let path = format!("/courses/{id}");
        let mut course = trainer.get(&path).await.expect_ok()["course"].clone();
        course["courseTitle"] = json!("Forge");
        trainer.put(&path, course).await.expect_ok();
    };
    world.overtaken(("TransactWriteItems", "foundBy"), world.deliver(), rename).await;
    world.deliver().await;
    world.cloud().settle();
    for (word, count) in [("forge", 1), ("soudure", 0)] {
        let found = trainer.get(&format!("/courses/search-all?q={word}")).await.expect_ok();
        assert_eq!(found["courses"].as_array().unwrap().len(), count, "{word}");
    }
}

#[tokio::test]
async fn course_in_a_list_names_its_committee() {
    let (world, trainer) = World::with_person(Profile::Trainer).await;
    let elsewhere = world.another_committee("Sfax", true).await;
    let outsider = world.person(NewPerson::with(Profile::Trainer).of(elsewhere)).await;
    published(&trainer, "Soudure").await;
    published(&outsider, "Brasage").await;
    for path in ["/courses/search-all", "/courses/committee"] {
        for course in trainer.get(path).await.expect_ok()["courses"].as_array().unwrap() {
            let id = course["committeeID"].as_str().unwrap().parse().unwrap();
            let stored = world.setup().store.committee(id).await.unwrap().unwrap();
            let names = json!({
                "committeeID": id, "nameArabe": stored.name_arabe, "nameLatin": stored.name_latin,
            });
            assert_eq!(course["committee"], names);
            assert!(course.get("availability").is_none(), "not asked for");
        }
    }
}

#[tokio::test]
async fn include_of_anything_but_availability_returns_400() {
    let (_, trainer) = World::with_person(Profile::Trainer).await;
    for list in ["search-all", "committee"] {
        for include in ["answers", "availability,answers", "AVAILABILITY"] {
            let answer = trainer.get(&format!("/courses/{list}?include={include}")).await;
            answer.expect_field_error("include", ErrorCode::FieldValue);
        }
        trainer.get(&format!("/courses/{list}?include=")).await.expect_ok();
    }
}
