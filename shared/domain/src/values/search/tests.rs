use proptest::{prop_assert, prop_assert_eq, proptest};

use super::*;

fn folded_words(text: &str) -> Vec<String> {
    words(text).map(|word| word.folded()).collect()
}

fn stems(word: &str) -> Vec<String> {
    words(word).flat_map(|word| word.stems()).collect()
}

fn matches(one: &str, other: &str) -> bool {
    let others = stems(other);
    stems(one).iter().any(|stem| others.contains(stem))
}

/// The pairs of words in `file`.
fn pairs(file: &str) -> Vec<(&str, &str)> {
    let lines = file.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once(' ').unwrap()).collect()
}

#[test]
fn words_are_runs_of_letters_and_digits_truncated_to_64() {
    for apostrophe in ["'", "’", "\u{2bc}"] {
        assert_eq!(
            folded_words(&format!("L{apostrophe}électricité, niveau 2 (Été) — A/B C++ 3D")),
            ["electricite", "niveau", "ete", "3d"]
        );
    }
    assert_eq!(folded_words("الـسلامة \u{200f}المِهْنيّة"), ["السلامه", "المهنيه"]);
    assert_eq!(folded_words("🎓 a — 1"), [""; 0]);
    assert_eq!(folded_words(&"é".repeat(200)), ["e".repeat(64)]);
}

#[test]
fn stems_are_those_with_and_without_accents_article_and_prefixes() {
    assert_eq!(stems("projets"), ["projet"]);
    assert_eq!(stems("Électricité"), ["electr", "electricit"]);
    assert_eq!(stems("electricite"), ["electricit"]);
    assert_eq!(stems("niveau9"), ["niveau9"]);
    assert_eq!(stems("Ωμέγα"), ["ωμεγα"]);
    assert!(matches("اسعافات", "الإسعافات"));
    assert!(matches("اسعافات", "والإسعافات"));
}

#[test]
fn plurals_in_s_and_x_match_their_singular() {
    for singular in [
        "emploi",
        "photo",
        "jeu",
        "menu",
        "réseau",
        "tableau",
        "essai",
        "tournoi",
        "vidéo",
        "média",
        "lieu",
        "matériau",
        "noyau",
        "cheveu",
        "bijou",
        "fonds",
        "cours",
        "nationalité",
    ] {
        for plural in [format!("{singular}s"), format!("{singular}x")] {
            assert!(matches(singular, &plural), "{singular} {plural}");
            let capitals = folded(&plural).to_uppercase();
            assert!(matches(singular, &capitals), "{singular} {capitals}");
        }
    }
    assert!(matches("قفصة", "ڨفصة"));
}

#[test]
fn inflected_words_match_but_two() {
    let pairs = pairs(include_str!("inflections.txt"));
    assert_eq!(pairs.len(), 40);
    let missed: Vec<_> = pairs.iter().filter(|(a, b)| !matches(a, b)).collect();
    assert_eq!(missed, [&("actif", "actives"), &("conduire", "conduite")]);
}

#[test]
fn unrelated_words_do_not_match() {
    let pairs = pairs(include_str!("unrelated.txt"));
    assert_eq!(pairs.len(), 200);
    let matched: Vec<_> = pairs.iter().filter(|(a, b)| matches(a, b)).collect();
    assert!(matched.is_empty(), "{matched:?}");
}

proptest! {
    #[test]
    fn words_of_a_word_are_that_word(text in "\\PC{0,60}") {
        for word in folded_words(&text) {
            prop_assert!((2..=64).contains(&word.chars().count()));
            prop_assert_eq!(folded_words(&word), [word.clone()]);
            prop_assert_eq!(folded_words(&word.to_uppercase()), [word]);
        }
    }

    #[test]
    fn words_have_one_to_eight_stems_and_match_themselves(
        text in "[a-zà-ÿœ]{2,12}|[ء-ي]{2,10}|لل[ء-ي]{1,8}|[وفبكل]ال[ء-ي]{1,8}|\\PC{0,20}"
    ) {
        for word in words(&text) {
            prop_assert!((1..=8).contains(&word.stems().len()));
            prop_assert!(matches(&word.0, &word.folded().to_uppercase()));
        }
    }
}
