//! Words of the course search, and their stems.
//!
//! Stems come from Snowball (<https://snowballstem.org/>), which is not enough alone: it makes one of `projet` and
//! `projets`, but `électricité` becomes `électr` and the unaccented `electricite` becomes `electricit`; an Arabic plural
//! is recognised after an article only. So a word has several stems, and two words match if they have one in common.

use snowball_stemmers_rs::{Algorithm, Stemmer};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::text::{folded, is_unwritten, unified};

/// Longer words are truncated.
const MAX_LETTERS: usize = 64;
const ARTICLE: &str = "ال";
/// The article after the preposition ل.
const PREPOSITION_AND_ARTICLE: &str = "لل";
const PREFIXES: [char; 5] = ['و', 'ف', 'ب', 'ك', 'ل'];

/// A word: at least two letters or digits, in lower case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word(String);

/// The words of `text`: runs of at least two letters or digits, truncated to 64.
pub fn words(text: &str) -> impl Iterator<Item = Word> {
    let letters: String = text
        .nfkc()
        .flat_map(char::to_lowercase)
        .filter(|letter| !is_combining_mark(*letter) && !is_unwritten(*letter))
        .collect();
    let words: Vec<Word> = letters
        .split(|letter: char| !unified(letter).is_alphanumeric())
        .map(|word| Word(truncated(word)))
        .filter(|word| is_long_enough(&word.folded()))
        .collect();
    words.into_iter()
}

impl Word {
    /// The word without case, accents and variants of Arabic letters, as [`folded`] says.
    pub fn folded(&self) -> String {
        truncated(&folded(&self.0))
    }

    /// The stems of the word, distinct and folded: at most three of a word in Latin letters, at most eight of one in
    /// Arabic letters. A word with other letters or digits is its own stem.
    ///
    /// Words that are equal, or become equal without Arabic prefixes, have a stem in common, so that the words
    /// themselves need not be compared.
    pub fn stems(&self) -> Vec<String> {
        let folded = self.folded();
        // With Arabic letters in place of their variants, but with the letters that Snowball recognises as endings.
        let unified = |letter| if matches!(letter, 'ة' | 'ى') { letter } else { unified(letter) };
        let arabic: String = self.0.chars().map(unified).collect();
        let mut stems = if folded.chars().all(|letter| letter.is_ascii_lowercase()) {
            latin_stems(&self.0, &folded)
        } else if arabic.chars().all(is_arabic) {
            arabic_stems(&arabic)
        } else {
            vec![folded]
        };
        stems.sort();
        stems.dedup();
        stems
    }
}

fn truncated(word: &str) -> String {
    word.chars().take(MAX_LETTERS).collect()
}

fn is_long_enough(word: &str) -> bool {
    word.chars().nth(1).is_some()
}

const fn is_latin(letter: char) -> bool {
    matches!(letter, 'a'..='z' | 'à'..='ÿ' | 'œ')
}

const fn is_arabic(letter: char) -> bool {
    matches!(letter, '\u{621}'..='\u{64a}')
}

/// With and without accents: Snowball recognises accented endings, and searches are often written without accents. And
/// without the ending of a plural, which Snowball keeps in `photos` and `jeux`.
fn latin_stems(written: &str, folded: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::French);
    let accented = written.chars().all(is_latin).then_some(written);
    let singular = folded.strip_suffix(['s', 'x']).filter(|word| is_long_enough(word));
    let words = [Some(folded), accented, singular].into_iter().flatten();
    words.map(|word| stem(&stemmer, word)).collect()
}

/// Of each form as it is, and as a noun: Snowball removes the endings of nouns after an article only.
fn arabic_stems(word: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::Arabic);
    let mut stems = Vec::new();
    for form in without_prefixes(word) {
        stems.push(stem(&stemmer, &folded(form)));
        if !form.starts_with(ARTICLE) {
            let noun = stem(&stemmer, &format!("{ARTICLE}{form}"));
            let bare = noun.strip_prefix(ARTICLE).filter(|stem| is_long_enough(stem));
            stems.push(bare.unwrap_or(&noun).to_owned());
        }
    }
    stems
}

/// The stem of `word`, folded; `word` itself if less than two letters would be left.
fn stem(stemmer: &Stemmer, word: &str) -> String {
    let stem = folded(&stemmer.stem(word));
    if is_long_enough(&stem) { stem } else { folded(word) }
}

/// `word`, and what is left of it without the article, without a one-letter prefix, and without both; at most four.
fn without_prefixes(word: &str) -> Vec<&str> {
    let unprefixed = word.strip_prefix(PREFIXES);
    let mut forms = vec![word];
    forms.extend(unprefixed);
    for form in [Some(word), unprefixed].into_iter().flatten() {
        forms.extend(
            form.strip_prefix(ARTICLE).or_else(|| form.strip_prefix(PREPOSITION_AND_ARTICLE)),
        );
    }
    forms.retain(|form| is_long_enough(form));
    forms
}

#[cfg(test)]
mod tests;
