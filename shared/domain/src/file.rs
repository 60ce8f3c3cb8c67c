//! Uploaded files: allowed types and names, states, and what clients see of them.

use std::{str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    Constrained, Constraint, FileId, Instant, Line, UserId, ValueError,
    choice::{choice, codes},
};

choice! {
    /// Who may download a file.
    Visibility {
        /// Only its owner.
        Private "private"
        /// Anyone who has its URL.
        Public "public"
    }
}

choice! {
    /// State of a file.
    Status {
        /// Created; the upload is not confirmed yet.
        Pending "PENDING"
        /// Uploaded.
        Ready "READY"
        /// Deleted by its owner: no longer visible, and about to be removed from the bucket.
        Deleted "DELETED"
    }
}

codes! {
    /// Allowed media types. None of them can run script in a browser.
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
        /// HEIC, what phones take.
        Heic "image/heic"
        /// HEIF.
        Heif "image/heif"
        /// AVIF.
        Avif "image/avif"
        /// Plain text.
        Text "text/plain"
        /// CSV.
        Csv "text/csv"
        /// Markdown.
        Markdown "text/markdown"
        /// Rich text.
        Rtf "application/rtf"
        /// E-book.
        Epub "application/epub+zip"
        /// ZIP archive.
        Zip "application/zip"
        /// 7-Zip archive.
        SevenZip "application/x-7z-compressed"
        /// RAR archive.
        Rar "application/vnd.rar"
        /// Word 97–2003.
        Doc "application/msword"
        /// Excel 97–2003.
        Xls "application/vnd.ms-excel"
        /// PowerPoint 97–2003.
        Ppt "application/vnd.ms-powerpoint"
        /// Word.
        Docx "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
        /// Excel.
        Xlsx "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
        /// PowerPoint.
        Pptx "application/vnd.openxmlformats-officedocument.presentationml.presentation"
        /// OpenDocument text.
        Odt "application/vnd.oasis.opendocument.text"
        /// OpenDocument spreadsheet.
        Ods "application/vnd.oasis.opendocument.spreadsheet"
        /// OpenDocument presentation.
        Odp "application/vnd.oasis.opendocument.presentation"
        /// MP3.
        Mp3 "audio/mpeg"
        /// MPEG-4 audio.
        M4a "audio/mp4"
        /// Ogg audio.
        Ogg "audio/ogg"
        /// AAC.
        Aac "audio/aac"
        /// WAVE.
        Wav "audio/wav"
        /// MPEG-4 video.
        Mp4 "video/mp4"
        /// WebM.
        Webm "video/webm"
        /// QuickTime, what phones record.
        Mov "video/quicktime"
        /// 3GPP, what older phones record.
        ThreeGpp "video/3gpp"
    }
}

/// Names that systems and browsers give to an allowed type.
const OTHER_NAMES: [(&str, ContentType); 10] = [
    ("application/x-pdf", ContentType::Pdf),
    ("application/x-rar-compressed", ContentType::Rar),
    ("application/x-zip-compressed", ContentType::Zip),
    ("audio/mp3", ContentType::Mp3),
    ("audio/vnd.wave", ContentType::Wav),
    ("audio/wave", ContentType::Wav),
    ("audio/x-m4a", ContentType::M4a),
    ("audio/x-wav", ContentType::Wav),
    ("image/jpg", ContentType::Jpeg),
    ("text/rtf", ContentType::Rtf),
];

impl FromStr for ContentType {
    type Err = ValueError;

    /// Reads a media type in any case, without its parameters, also by another name. `Required` for an empty text,
    /// `Value` for a type that is not allowed.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let essence = text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        let error = if text.is_empty() { ValueError::Required } else { ValueError::Value };
        let codes = Self::ALL.map(|kind| (kind.code(), kind)).into_iter();
        let found = codes.chain(OTHER_NAMES).find(|(name, _)| *name == essence);
        found.map(|(_, kind)| kind).ok_or(error)
    }
}

impl Constrained for ContentType {
    fn constraint() -> Constraint {
        Constraint::allowed(Self::ALL.map(Self::code))
    }
}

/// How long the presigned upload form is valid. The upload must begin within this time.
pub const FORM_LIFE: Duration = Duration::from_secs(15 * 60);

/// How long after its deletion a file may still be moved by a call that began before: no function runs for longer than
/// two minutes, and S3 may finish a copy after that.
const MOVE_LIFE: Duration = Duration::from_secs(5 * 60);

/// A file name for display: one line of 1 to 255 code points.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FileName(Line<255>);

impl FromStr for FileName {
    type Err = ValueError;

    /// As [`Line`], and `Format` for slashes and for `.` and `..`, which would make a path. Direction overrides, which can
    /// make an executable look like a picture (`gpj.exe`), are none of a line.
    fn from_str(text: &str) -> Result<Self, ValueError> {
        let line: Line<255> = text.parse()?;
        let is_path = line.as_str().contains(['/', '\\']) || matches!(line.as_str(), "." | "..");
        if is_path { Err(ValueError::Format) } else { Ok(Self(line)) }
    }
}

impl FileName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// A file as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct File {
    /// The file's identifier.
    #[serde(rename = "fileID")]
    pub file_id: FileId,
    /// The owner.
    #[serde(rename = "userID")]
    pub user_id: UserId,
    /// File name.
    pub name: FileName,
    /// Media type.
    pub content_type: ContentType,
    /// Size in bytes.
    pub size: u64,
    /// Who may download it.
    pub visibility: Visibility,
    /// State of the upload.
    pub status: Status,
    /// When the upload form was issued.
    pub created_at: Instant,
    /// When it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Instant>,
}

/// A file in API responses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileView {
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
    /// Whether the file can be downloaded without signing in.
    pub fn is_public(&self) -> bool {
        self.visibility == Visibility::Public && self.status == Status::Ready
    }

    /// From when on nothing writes the objects of a deleted file: its form has expired, and calls that began before the
    /// deletion have ended.
    pub fn writes_end(&self) -> Instant {
        let deleted_at = self.deleted_at.unwrap_or(self.created_at);
        let form_ends = self.created_at.after(FORM_LIFE);
        form_ends.max(deleted_at.after(MOVE_LIFE))
    }

    /// The file as it appears in lists: with the path of its public URL if it is public.
    pub fn listed(self) -> FileView {
        let url = self.is_public().then(|| format!("/files/public/{}", self.file_id));
        self.view(url)
    }

    /// The file with its download `url`.
    pub fn view(self, url: Option<String>) -> FileView {
        let Self { file_id, name, content_type, size, visibility, status, created_at, .. } = self;
        FileView { file_id, name, content_type, size, visibility, status, url, created_at }
    }
}

/// An account's use of storage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Number of files, including pending uploads.
    pub files: u64,
    /// Total size in bytes.
    pub bytes: u64,
}

#[cfg(test)]
mod tests;
