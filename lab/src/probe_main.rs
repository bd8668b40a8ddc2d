//! The probe. 
fn main() {}
