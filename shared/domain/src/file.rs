//! Files that people keep.

use std::{str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{FileId, Instant, Line, UserId, ValueError, choice::choice};

choice! {
    /// Who may have a file.
    Visibility {
        /// Its owner.
        Private "private"
        /// Everybody who knows its address.
        Public "public"
    }
}

choice! {
    /// How far a file has come.
    Status {
        /// It was announced; nobody knows yet whether it came.
        Pending "PENDING"
        /// It is there.
        Ready "READY"
        /// Its owner does not want it any more; shown to nobody, and gone soon.
        Deleted "DELETED"
    }
}

choice! {
    /// What a file may be: nothing that a browser would run.
    ContentType {
        /// PDF.
        Pdf "application/pdf"
        /// PNG.
        Png "image/png"
        /// JPEG.
        Jpeg "image/jpeg"
        /// WebP.
        Webp "image/webp"
        /// GIF.
        Gif "image/gif"
        /// Plain text.
        Text "text/plain"
        /// A table as text.
        Csv "text/csv"
        /// An archive.
        Zip "application/zip"
        /// Word, as it was.
        Doc "application/msword"
        /// Excel, as it was.
        Xls "application/vnd.ms-excel"
        /// PowerPoint, as it was.
        Ppt "application/vnd.ms-powerpoint"
        /// Word.
        Docx "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
        /// Excel.
        Xlsx "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        /// PowerPoint.
        Pptx "application/vnd.openxmlformats-officedocument.presentationml.presentation"
        /// A text of LibreOffice.
        Odt "application/vnd.oasis.opendocument.text"
        /// A table of LibreOffice.
        Ods "application/vnd.oasis.opendocument.spreadsheet"
        /// Slides of LibreOffice.
        Odp "application/vnd.oasis.opendocument.presentation"
        /// MP3.
        Mp3 "audio/mpeg"
        /// Sound in an MP4.
        M4a "audio/mp4"
        /// Ogg.
        Ogg "audio/ogg"
        /// MP4.
        Mp4 "video/mp4"
        /// WebM.
        Webm "video/webm"
    }
}

/// How long the form takes a file that was announced. By then its sending must have begun.
pub const FORM_LIFE: Duration = Duration::from_secs(15 * 60);

/// The name of a file, as people see it: one line of 1 to 255 code points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileName(Line<255>);

impl FromStr for FileName {
    type Err = ValueError;

    /// As [`Line`], and `Format` for slashes, which make a path of it, and for direction overrides, which
    /// make `gpj.exe` look like a picture.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let is_deceptive = |letter: char| matches!(letter, '/' | '\\' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        let line: Line<255> = text.parse()?;
        if line.as_str().contains(is_deceptive) {
            Err(ValueError::Format)
        } else {
            Ok(Self(line))
        }
    }
}

impl FileName {
    /// The name.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// A file, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    /// Which one.
    #[serde(rename = "fileID")]
    pub file_id: FileId,
    /// Whose.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// What it is called.
    pub name: FileName,
    /// What it is.
    pub content_type: ContentType,
    /// How long it is, in bytes.
    pub size: u64,
    /// Who may have it.
    pub visibility: Visibility,
    /// How far it has come.
    pub status: Status,
    /// When it was announced.
    pub created_at: Instant,
}

/// A file, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShownFile {
    #[serde(rename = "fileID")]
    file_id: FileId,
    name: FileName,
    content_type: ContentType,
    size: u64,
    visibility: Visibility,
    status: Status,
    url: Option<String>,
    created_at: Instant,
}

impl File {
    /// Whether everybody may have it now.
    pub fn is_public(&self) -> bool {
        self.visibility == Visibility::Public && self.status == Status::Ready
    }

    /// The file as lists show it: with its path below the prefix when everybody may have it.
    pub fn listed(self) -> ShownFile {
        let url = self
            .is_public()
            .then(|| format!("/files/public/{}", self.file_id));
        self.shown(url)
    }

    /// The file with `url`, where it may be had.
    pub fn shown(self, url: Option<String>) -> ShownFile {
        let Self {
            file_id,
            name,
            content_type,
            size,
            visibility,
            status,
            created_at,
            ..
        } = self;
        ShownFile {
            file_id,
            name,
            content_type,
            size,
            visibility,
            status,
            url,
            created_at,
        }
    }
}

/// What a person keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// How many files, those that have not come yet too.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_path_and_does_not_deceive() {
        for (text, expected) in [
            ("Programme d’été (v2).pdf", None),
            ("برنامج الدورة.pdf", None),
            ("../etc/passwd", Some(ValueError::Format)),
            ("a\\b", Some(ValueError::Format)),
            ("photo\u{202e}gpj.exe", Some(ValueError::Format)),
            ("a\r\nb", Some(ValueError::Format)),
            (" ", Some(ValueError::Required)),
        ] {
            assert_eq!(text.parse::<FileName>().err(), expected, "{text:?}");
        }
    }

    #[test]
    fn nothing_that_a_browser_runs_is_taken() {
        for text in [
            "text/html",
            "image/svg+xml",
            "text/javascript",
            "application/xml",
            "application/xhtml+xml",
            "IMAGE/PNG",
            "text/plain; charset=utf-8",
        ] {
            assert_eq!(
                text.parse::<ContentType>(),
                Err(ValueError::Value),
                "{text}"
            );
        }
    }
}
