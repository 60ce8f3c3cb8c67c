//! Faults of the services of a World's cloud.

use cloud::faults::{Fault, Mode, Service};

use crate::World;

impl World {
    /// Injects `fault` into DynamoDB, in place of the current faults.
    pub fn inject_fault(&self, fault: Fault) {
        self.inject_fault_in(Service::Dynamodb, fault);
    }

    /// Injects `fault` into `service`, in place of the current faults.
    pub fn inject_fault_in(&self, service: Service, fault: Fault) {
        self.cloud().faults().set([(service, fault)].into());
    }

    /// Injects a fault of kind `mode` into DynamoDB until [`World::clear_faults`].
    pub fn inject(&self, mode: Mode) {
        self.inject_fault(Fault::new(mode));
    }

    /// Removes all faults.
    pub fn clear_faults(&self) {
        self.cloud().faults().set([].into());
    }
}
