mod check;
mod current_user;
mod login;
mod logout;
mod passwordless;
mod sessions;
