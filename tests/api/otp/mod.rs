mod disable;
mod generate;
mod recovery_codes;
mod verify;
