//! What was read lately, each until a time of its own. It takes a bounded room: what is over goes first, then everything.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::time::Instant;

/// From so many on it is worth to look for those that are over.
const MANY: usize = 256;
/// More than this are not remembered at once.
const MOST: usize = 10_000;

/// Values by key, as they were read lately.
#[derive(Debug)]
pub struct Lately<K, V> {
    kept: HashMap<K, (V, Instant)>,
    /// At so many those that are over are looked for.
    room: usize,
}

impl<K, V> Default for Lately<K, V> {
    fn default() -> Self {
        Lately { kept: HashMap::new(), room: MANY }
    }
}

impl<K: Eq + Hash, V> Lately<K, V> {
    /// The value, unless its time is over.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q, now: Instant) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.kept.get(key).filter(|(_, until)| *until > now).map(|(value, _)| value)
    }

    /// Remembers a value until its time is over.
    pub fn put(&mut self, key: K, value: V, until: Instant, now: Instant) {
        if self.kept.len() >= self.room {
            self.kept.retain(|_, (_, until)| *until > now);
            if self.kept.len() >= MOST {
                self.kept.clear();
            }
            // Twice what is left, so that each of many is not looked at again for each that comes.
            self.room = (self.kept.len() * 2).clamp(MANY, MOST);
        }
        self.kept.insert(key, (value, until));
    }

    /// Forgets one.
    pub fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        self.kept.remove(key);
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.kept.clear();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_value_is_known_until_its_time_is_over() {
        let (now, mut lately) = (Instant::now(), Lately::default());
        lately.put("a", 1, now + Duration::from_secs(1), now);
        assert_eq!((lately.get("a", now), lately.get("b", now)), (Some(&1), None));
        assert_eq!(lately.get("a", now + Duration::from_secs(1)), None);
        lately.remove("a");
        assert_eq!(lately.get("a", now), None);
    }

    #[test]
    fn what_is_over_makes_room_and_what_is_not_stays_until_there_are_too_many() {
        let (now, mut lately) = (Instant::now(), Lately::default());
        let (soon, late) = (now + Duration::from_secs(1), now + Duration::from_secs(9));
        for number in 0..MOST / 2 {
            lately.put(number, (), soon, now);
        }
        for number in MOST / 2..MOST {
            lately.put(number, (), late, now);
        }
        assert_eq!(lately.kept.len(), MOST, "none is over yet");
        lately.put(MOST, (), late, soon);
        assert_eq!(lately.kept.len(), MOST / 2 + 1, "those that were over are gone");
        for number in MOST + 1..=MOST * 2 {
            lately.put(number, (), late, soon);
            assert!(lately.kept.len() <= MOST);
        }
        assert!(lately.get(&(MOST * 2), soon).is_some(), "the newest is known");
    }
}
