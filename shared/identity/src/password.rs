//! Password hashes: Argon2id (RFC 9106) with m = 19456 KiB, t = 2, p = 1, as OWASP's Password Storage Cheat Sheet
//! recommends, stored as PHC strings.

use std::{
    fmt,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use argon2::{Algorithm, Argon2, Block, Params, PasswordHash, Version};
use data_encoding::BASE64_NOPAD;
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;
use tokio::{sync::Semaphore, task};

use crate::random;

/// Parameters of new hashes: memory in KiB, passes, lanes.
const PARAMS: (u32, u32, u32) = (19_456, 2, 1);
const OUTPUT_BYTES: usize = 32;

/// Hashes passwords on blocking threads, as many at a time as there are cores.
///
/// The 19 MiB buffer of each run is reused: with a new one per run, glibc lets the process grow to hundreds of
/// megabytes.
#[derive(Clone)]
pub struct Hasher(Arc<Buffers>);

struct Buffers {
    permits: Semaphore,
    idle: Mutex<Vec<Vec<Block>>>,
}

impl Default for Hasher {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self(Arc::new(Buffers { permits: Semaphore::new(cores), idle: Mutex::default() }))
    }
}

impl Hasher {
    /// Hashes `password` with a new salt and returns a PHC string.
    pub async fn hash(&self, password: &SecretString) -> Result<String, HashError> {
        let salt = random::bytes::<16>();
        let params =
            Params::new(PARAMS.0, PARAMS.1, PARAMS.2, Some(OUTPUT_BYTES)).map_err(|_| HashError)?;
        let output = self.run(password, salt.to_vec(), params).await?;
        Ok(phc(&salt, &output))
    }

    /// Whether `password` is that of the PHC string `stored`, which may have other parameters. If `stored` is `None` or
    /// malformed, a dummy hash is computed, so that the response time does not reveal whether an account exists.
    pub async fn matches(
        &self,
        password: &SecretString,
        stored: Option<&str>,
    ) -> Result<bool, HashError> {
        // Its output of zeros is that of no password that anyone could find.
        static DUMMY: LazyLock<String> = LazyLock::new(|| phc(&[0; 16], &[0; OUTPUT_BYTES]));
        let stored = stored.and_then(parts).or_else(|| parts(&DUMMY));
        let (params, salt, expected) = stored.ok_or(HashError)?;
        let output = self.run(password, salt, params).await?;
        Ok(output.ct_eq(&expected).into())
    }

    async fn run(
        &self,
        password: &SecretString,
        salt: Vec<u8>,
        params: Params,
    ) -> Result<Vec<u8>, HashError> {
        let password = domain::password::normalized(password.expose_secret());
        let _permit = self.0.permits.acquire().await.map_err(|_| HashError)?;
        let buffers = Arc::clone(&self.0);
        let compute = move || {
            let take = || buffers.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut blocks = take().unwrap_or_default();
            blocks.resize(params.block_count(), Block::default());
            let mut output = vec![0; params.output_len().unwrap_or(OUTPUT_BYTES)];
            let result = Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
                .hash_password_into_with_memory(
                    password.as_bytes(),
                    &salt,
                    &mut output,
                    &mut blocks,
                );
            buffers.idle.lock().unwrap_or_else(PoisonError::into_inner).push(blocks);
            result.map(|()| output).map_err(|_| HashError)
        };
        task::spawn_blocking(compute).await.map_err(|_| HashError)?
    }
}

fn phc(salt: &[u8], output: &[u8]) -> String {
    let (memory, passes, lanes) = PARAMS;
    let (salt, output) = (BASE64_NOPAD.encode(salt), BASE64_NOPAD.encode(output));
    format!("$argon2id$v=19$m={memory},t={passes},p={lanes}${salt}${output}")
}

/// Parameters, salt and output of a PHC string of Argon2id.
fn parts(phc: &str) -> Option<(Params, Vec<u8>, Vec<u8>)> {
    let hash =
        PasswordHash::new(phc).ok().filter(|hash| hash.algorithm == argon2::ARGON2ID_IDENT)?;
    let params = Params::try_from(&hash).ok()?;
    Some((params, hash.salt?.as_ref().to_vec(), hash.hash?.as_bytes().to_vec()))
}

/// The hash could not be computed, which does not happen with the constant parameters. The error contains no part of
/// the password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashError;

impl fmt::Display for HashError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the password hash could not be computed")
    }
}

impl std::error::Error for HashError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn password_matches_its_hash_in_nfc_and_nfd() {
        let hasher = Hasher::default();
        let stored = hasher.hash(&"clé de sol".into()).await.unwrap();
        assert!(stored.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{stored}");
        for (password, stored, expected) in [
            ("cle\u{301} de sol", Some(stored.as_str()), true),
            ("clé de fa", Some(&stored), false),
            ("clé de sol", None, false),
            ("clé de sol", Some("$2b$12$no-argon"), false),
        ] {
            assert_eq!(hasher.matches(&password.into(), stored).await, Ok(expected), "{stored:?}");
        }
        assert_ne!(hasher.hash(&"clé de sol".into()).await.unwrap(), stored, "salted");
    }

    #[tokio::test]
    async fn password_hashed_with_other_parameters_matches() {
        let params = Params::new(64, 1, 1, Some(32)).unwrap();
        let mut output = [0; 32];
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(b"password", b"somesalt", &mut output)
            .unwrap();
        let (salt, output) = (BASE64_NOPAD.encode(b"somesalt"), BASE64_NOPAD.encode(&output));
        let stored = format!("$argon2id$v=19$m=64,t=1,p=1${salt}${output}");
        let matches = Hasher::default().matches(&"password".into(), Some(&stored)).await;
        assert_eq!(matches, Ok(true));
    }
}
