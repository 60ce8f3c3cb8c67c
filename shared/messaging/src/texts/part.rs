//! Renders the parts of a mail as plain text and as HTML.

use super::language::Texts;

/// A paragraph, code, list of facts or link.
pub(super) enum Part {
    Paragraph(String),
    Digits(String),
    Facts(Vec<(&'static str, String)>),
    /// A link as a button.
    Button {
        intro: &'static str,
        button: &'static str,
        url: String,
    },
    /// A link that is not the one to follow, as its address.
    Address {
        intro: &'static str,
        url: String,
    },
}

impl Part {
    pub(super) fn text(&self, texts: &Texts) -> String {
        match self {
            Self::Paragraph(text) => text.clone(),
            Self::Digits(digits) => format!("    {digits}"),
            Self::Facts(facts) => facts
                .iter()
                .map(|(name, value)| format!("- {name}{}{}", texts.colon, texts.quoted(value)))
                .collect::<Vec<_>>()
                .join("\n"),
            Self::Button { intro, url, .. } | Self::Address { intro, url } => {
                format!("{intro}\n{url}")
            }
        }
    }

    /// Only the button and the border of the code set colours; all others are the mail program's, light or
    /// dark. The code is spaced by CSS, so that it is copied without spaces.
    pub(super) fn html(&self, texts: &Texts) -> String {
        match self {
            Self::Paragraph(text) => format!("<p>{}</p>\n", lines(text)),
            Self::Digits(digits) => format!(
                "<p style=\"margin:24px 0;padding:16px;border:2px solid #0f6b5c;border-radius:8px;text-align:center;\
                 font-family:ui-monospace,Menlo,Consolas,monospace;font-size:32px;font-weight:bold;letter-spacing:8px;\
                 -webkit-user-select:all;user-select:all\">{}</p>\n",
                escaped(digits)
            ),
            Self::Facts(facts) => {
                let line = |name, value| {
                    format!(
                        "<li>{name}{}<strong dir=\"auto\">{}</strong></li>\n",
                        texts.colon,
                        lines(value)
                    )
                };
                format!(
                    "<ul>\n{}</ul>\n",
                    facts.iter().map(|(name, value)| line(name, value)).collect::<String>()
                )
            }
            Self::Button { intro, button, url } => {
                let url = escaped(url);
                format!(
                    "<p>{intro}</p>\n<p style=\"margin:24px 0;text-align:center\"><a href=\"{url}\" style=\"display:inline-block;\
                     padding:12px 24px;border-radius:8px;background-color:#0f6b5c;color:#ffffff;font-weight:bold;\
                     text-decoration:none\">{button}</a></p>\n<p style=\"font-size:14px;word-break:break-all\">{}<br>{url}</p>\n",
                    texts.button_fails
                )
            }
            Self::Address { intro, url } => {
                let url = escaped(url);
                format!(
                    "<p style=\"font-size:14px\">{intro}<br><a href=\"{url}\" style=\"word-break:break-all\">{url}</a></p>\n"
                )
            }
        }
    }
}

pub(super) fn document(title: &str, body: &str, texts: &Texts) -> String {
    let Texts { code, direction, .. } = texts;
    format!(
        "<!DOCTYPE html>\n<html lang=\"{code}\" dir=\"{direction}\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"format-detection\" content=\"telephone=no\">\n\
         <title>{}</title>\n</head>\n<body style=\"margin:0\">\n\
         <div dir=\"{direction}\" style=\"max-width:560px;margin:0 auto;padding:24px;\
         font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif;font-size:16px;line-height:1.5\">\n{body}</div>\n\
         </body>\n</html>\n",
        escaped(title)
    )
}

/// `text` escaped, with its line breaks.
fn lines(text: &str) -> String {
    escaped(text).replace('\n', "<br>")
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
