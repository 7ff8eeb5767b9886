//! Metric of mails: sent, failed and dropped ones by kind.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Purpose of a mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Invitation,
    Reset,
    /// The password was changed.
    Notice,
    Test,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Invitation, Kind::Reset, Kind::Notice, Kind::Test];

    /// Its name in metrics and audit entries.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Invitation => "invitation",
            Kind::Reset => "reset",
            Kind::Notice => "notice",
            Kind::Test => "test",
        }
    }
}

/// Mails of this process since its start.
#[derive(Debug, Clone)]
pub struct Metrics {
    mails: Family<Mails, Counter>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Mails {
    kind: &'static str,
    result: &'static str,
}

const SENT: &str = "sent";
const FAILED: &str = "failed";
const DROPPED: &str = "dropped";

impl Default for Metrics {
    fn default() -> Metrics {
        let mails = Family::<Mails, Counter>::default();
        for kind in Kind::ALL {
            for result in [SENT, FAILED] {
                drop(mails.get_or_create(&Mails { kind: kind.name(), result }));
            }
        }
        Metrics { mails }
    }
}

impl Metrics {
    pub fn register(&self, registry: &mut Registry) {
        registry.register("charter_mails", "Mails of this process, by kind and result", self.mails.clone());
    }

    pub(super) fn sent(&self, kind: Kind, is_sent: bool) {
        self.count(kind, if is_sent { SENT } else { FAILED });
    }

    pub(super) fn dropped(&self, kind: Kind) {
        self.count(kind, DROPPED);
    }

    fn count(&self, kind: Kind, result: &'static str) {
        self.mails.get_or_create(&Mails { kind: kind.name(), result }).inc();
    }
}
