mod change;
mod otp;
