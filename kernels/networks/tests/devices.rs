//! Every program on every device.

#[path = "../../tests/support/devices.rs"]
mod devices;

#[test]
fn every_device_gives_the_same_bits() {
    devices::agree(rev_networks::suite::SAMPLES);
}
