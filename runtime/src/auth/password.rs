//! Passwords for the panel: kept as Argon2id hashes, compared at a cost that does not tell whether there is one.

use std::sync::{Arc, LazyLock, OnceLock};

use argon2::password_hash::phc::PasswordHash;
use argon2::{Argon2, PasswordHasher, PasswordVerifier};
use sea_orm::EntityTrait;
use tokio::sync::Semaphore;

use super::{invitation, session, user};
use crate::context::State;
use crate::db::{Connection, Sql};
use crate::error::{Error, Result};
use crate::tasks::spawn_blocking_limited;

/// The fewest and the most characters. Length alone makes a password hard to guess (NIST SP 800-63B, 3.1.1.2); nothing
/// else is asked of it.
pub const CHARACTERS: std::ops::RangeInclusive<usize> = 12..=200;

/// A hash takes 19 MiB and some 20 ms of a core: no more than this at once.
static TURNS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(2)));

/// A user's password, as its hash. To compare one takes a while, in which another may be set: what follows from one that
/// fitted holds while its hash is the user's. It has no `Debug`, so that no log prints it.
pub struct Password {
    pub user_id: i64,
    pub(super) hash: String,
}

/// Sets the password of a user, and ends every session of theirs.
///
/// # Errors
/// Those of [`make`].
pub async fn set(state: &Arc<State>, user_id: i64, password: &str) -> Result<()> {
    let made = make(state, user_id, password).await?;
    let transaction = state.db.begin().await?;
    store(state, &transaction, &made, None).await?;
    session::commit(state, transaction).await
}

/// Changes a password that fitted, ends every session of the user, and begins one: its secret. Nothing when the password is
/// not theirs any more.
///
/// # Errors
/// Those of [`make`].
pub async fn change(state: &Arc<State>, old: &Password, password: &str) -> Result<Option<String>> {
    let made = make(state, old.user_id, password).await?;
    let transaction = state.db.begin().await?;
    if !store(state, &transaction, &made, Some(old)).await? {
        return Ok(None);
    }
    let Some(secret) = session::insert(state, &transaction, &made).await? else { return Ok(None) };
    session::commit(state, transaction).await?;
    Ok(Some(secret))
}

/// What is to be the password of a user.
///
/// # Errors
/// 422 under `password` when it is too short or too long, or is the user's own name or address; [`Error::NotFound`]
/// when there is no such user.
pub async fn make(state: &State, user_id: i64, password: &str) -> Result<Password> {
    let user = user::Entity::find_by_id(user_id).one(state.db.reader()).await?.ok_or(Error::NotFound)?;
    check(password, &user)?;
    Ok(Password { user_id, hash: hash(password.to_string()).await? })
}

/// Keeps the password, if need be only in place of that one, and ends every session and every link of the user, in a
/// transaction that [`session::commit`] is to commit. Answers whether it was kept.
pub(super) async fn store(
    state: &State,
    transaction: &Connection,
    made: &Password,
    old: Option<&Password>,
) -> Result<bool> {
    let mut sql =
        Sql::new(state.db.dialect(), "INSERT INTO \"user_passwords\" (\"user_id\", \"hash\", \"changed_at\") VALUES (");
    sql.bind(made.user_id).push(", ").bind(made.hash.as_str()).push(", ").bind(state.clock.now());
    sql.push(
        ") ON CONFLICT (\"user_id\") DO UPDATE SET \"hash\" = excluded.\"hash\", \"changed_at\" = excluded.\"changed_at\"",
    );
    if let Some(old) = old {
        sql.push(" WHERE \"user_passwords\".\"hash\" = ").bind(old.hash.as_str());
    }
    if sql.run(transaction).await? == 0 {
        return Ok(false);
    }
    invitation::end(state.db.dialect(), transaction, made.user_id).await?;
    session::end_all(state, transaction, made.user_id).await?;
    Ok(true)
}

/// The password of the active user with this address, when it fits. Costs the same whether or not there is one.
///
/// # Errors
/// When the database fails, or a stored hash cannot be read.
pub async fn find(state: &State, email: &str, password: &str) -> Result<Option<Password>> {
    let mut sql = Sql::new(
        state.db.dialect(),
        "SELECT u.\"id\" AS \"id\", p.\"hash\" AS \"hash\" FROM \"users\" u JOIN \"user_passwords\" p \
         ON p.\"user_id\" = u.\"id\" WHERE u.\"email\" = ",
    );
    sql.bind(email.trim().to_lowercase()).push(" AND u.\"is_active\" = ").bind(true);
    let row = sql.one(state.db.reader()).await?;
    let known = match &row {
        Some(row) => Some(Password { user_id: row.try_get("", "id")?, hash: row.try_get("", "hash")? }),
        None => None,
    };
    let hash = match &known {
        Some(known) => known.hash.clone(),
        None => nobodys().await?.to_string(),
    };
    if password.chars().count() > *CHARACTERS.end() {
        return Ok(None);
    }
    let fits = verify(password.to_string(), hash).await?;
    Ok(known.filter(|_| fits))
}

fn check(password: &str, user: &user::Model) -> Result<()> {
    let length = password.chars().count();
    let (least, most) = (CHARACTERS.start(), CHARACTERS.end());
    let problem = if length < *least {
        format!("must have at least {least} characters")
    } else if length > *most {
        format!("must have at most {most} characters")
    } else if [&user.email, &user.name].iter().any(|known| known.to_lowercase() == password.to_lowercase()) {
        "must not be the user's own name or address".into()
    } else {
        return Ok(());
    };
    Err(Error::invalid("password", problem))
}

/// The hash of a password that nobody has, to be compared with in place of one that is not there.
async fn nobodys() -> Result<&'static str> {
    static HASH: OnceLock<String> = OnceLock::new();
    match HASH.get() {
        Some(hash) => Ok(hash),
        None => {
            let made = hash(super::secret::random(32)?).await?;
            Ok(HASH.get_or_init(|| made))
        }
    }
}

async fn hash(password: String) -> Result<String> {
    let work = move || Argon2::default().hash_password(password.as_bytes()).map(|hash| hash.to_string());
    spawn_blocking_limited(&TURNS, work).await?.map_err(Error::internal)
}

async fn verify(password: String, hash: String) -> Result<bool> {
    let compare = move || {
        let hash = PasswordHash::new(&hash)?;
        Ok::<_, argon2::password_hash::Error>(Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
    };
    spawn_blocking_limited(&TURNS, compare).await?.map_err(Error::internal)
}
