//! Values of which there are a few, each with its code.

/// An enum whose values are read and written as their codes. Reading anything else is `ValueError::Value`.
macro_rules! choice {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident $code:literal)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_doc])* #[serde(rename = $code)] $variant,)*
        }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            /// As clients write it.
            pub const fn code(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::ValueError;

            /// `Required` for nothing, `Value` for a code that there is not.
            fn from_str(text: &str) -> Result<Self, $crate::ValueError> {
                let missing = if text.is_empty() { $crate::ValueError::Required } else { $crate::ValueError::Value };
                Self::ALL.iter().copied().find(|one| one.code() == text).ok_or(missing)
            }
        }
    };
}

pub(crate) use choice;
