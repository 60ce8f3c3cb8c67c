mod register;
mod reset_password;
mod show;
