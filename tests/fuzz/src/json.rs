//! A second JSON reader (RFC 8259) to compare the service's with: accepts one object in UTF-8 without duplicate keys or
//! lone surrogates, at most 127 levels deep.

use std::collections::HashSet;

/// Whether `body` is such an object, with or without a byte order mark, or empty. `None` if it contains a number so
/// large that it depends on rounding whether it is finite.
pub(crate) fn is_strict_object(body: &[u8]) -> Option<bool> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    if body.is_empty() {
        return Some(true);
    }
    let Ok(text) = std::str::from_utf8(body) else {
        return Some(false);
    };
    let mut reader = Reader { rest: text, is_unsure: false };
    reader.space();
    let is_object = reader.rest.starts_with('{') && reader.value(1).is_some();
    reader.space();
    let is_valid = is_object && reader.rest.is_empty();
    if is_valid && reader.is_unsure { None } else { Some(is_valid) }
}

struct Reader<'a> {
    rest: &'a str,
    is_unsure: bool,
}

impl Reader<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn take(&mut self, word: &str) -> Option<()> {
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    fn value(&mut self, depth: usize) -> Option<()> {
        match self.rest.chars().next()? {
            '{' | '[' if depth > 127 => None,
            '{' => self.object(depth),
            '[' => self.list(depth),
            '"' => self.text().map(|_| ()),
            't' => self.take("true"),
            'f' => self.take("false"),
            'n' => self.take("null"),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: usize) -> Option<()> {
        self.take("{")?;
        let mut keys = HashSet::new();
        self.space();
        if self.take("}").is_some() {
            return Some(());
        }
        loop {
            self.space();
            if !keys.insert(self.text()?) {
                return None;
            }
            self.space();
            self.take(":")?;
            self.space();
            self.value(depth + 1)?;
            self.space();
            match self.take(",") {
                Some(()) => {}
                None => return self.take("}"),
            }
        }
    }

    fn list(&mut self, depth: usize) -> Option<()> {
        self.take("[")?;
        self.space();
        if self.take("]").is_some() {
            return Some(());
        }
        loop {
            self.space();
            self.value(depth + 1)?;
            self.space();
            match self.take(",") {
                Some(()) => {}
                None => return self.take("]"),
            }
        }
    }

    fn text(&mut self) -> Option<String> {
        self.take("\"")?;
        let mut units = Vec::new();
        loop {
            let letter = self.rest.chars().next()?;
            self.rest = &self.rest[letter.len_utf8()..];
            match letter {
                '"' => return String::from_utf16(&units).ok(),
                '\\' => units.push(self.escaped()?),
                letter if letter < ' ' => return None,
                letter => units.extend_from_slice(letter.encode_utf16(&mut [0; 2])),
            }
        }
    }

    fn escaped(&mut self) -> Option<u16> {
        let letter = self.rest.chars().next()?;
        self.rest = &self.rest[letter.len_utf8()..];
        Some(match letter {
            '"' | '\\' | '/' => letter as u16,
            'b' => 8,
            'f' => 12,
            'n' => 10,
            'r' => 13,
            't' => 9,
            'u' => {
                let digits = self.rest.get(..4)?;
                self.rest = &self.rest[4..];
                digits
                    .bytes()
                    .all(|byte| byte.is_ascii_hexdigit())
                    .then(|| u16::from_str_radix(digits, 16).ok())??
            }
            _ => return None,
        })
    }

    fn number(&mut self) -> Option<()> {
        let start = self.rest;
        let _ = self.take("-");
        let whole = self.digits()?;
        if whole.len() > 1 && whole.starts_with('0') {
            return None;
        }
        if self.take(".").is_some() {
            self.digits()?;
        }
        if self.take("e").or_else(|| self.take("E")).is_some() {
            let _ = self.take("+").or_else(|| self.take("-"));
            self.digits()?;
        }
        let literal = &start[..start.len() - self.rest.len()];
        let size = literal.parse::<f64>().ok()?.abs();
        self.is_unsure |= size > 1e308 && literal.len() > 5;
        size.is_finite().then_some(())
    }

    fn digits(&mut self) -> Option<String> {
        let end =
            self.rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!digits.is_empty()).then(|| digits.to_owned())
    }
}
