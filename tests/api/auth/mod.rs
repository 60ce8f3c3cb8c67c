mod check;
mod current_user;
mod guessing;
mod login;
mod logout;
mod passwordless;
mod sessions;
