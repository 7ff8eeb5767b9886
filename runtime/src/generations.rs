//! What was asked lately, in a bounded room: what nobody asks for goes.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

/// Values by key. What was asked lately is in the new generation. Once that takes all of `ROOM` it becomes the old one, and
/// what is asked of that one comes back.
#[derive(Debug)]
pub struct Generations<K, V, const ROOM: usize> {
    new: HashMap<K, V>,
    old: HashMap<K, V>,
    /// Of the room, by the new one.
    taken: usize,
}

/// What takes room.
pub trait Weigh {
    /// How much of it: one of so many values, or bytes.
    fn weight(&self) -> usize {
        1
    }
}

impl<K, V, const ROOM: usize> Default for Generations<K, V, ROOM> {
    fn default() -> Self {
        Generations { new: HashMap::new(), old: HashMap::new(), taken: 0 }
    }
}

impl<K: Eq + Hash, V: Weigh, const ROOM: usize> Generations<K, V, ROOM> {
    /// The value, which is of the new generation from now on. Its weight is not to be changed here.
    pub fn get<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        if let Some((key, value)) = self.old.remove_entry(key) {
            self.put(key, value);
        }
        self.new.get_mut(key)
    }

    /// Remembers a value, in the place of the one before.
    pub fn put(&mut self, key: K, value: V) {
        let weight = value.weight();
        if self.taken + weight > ROOM {
            self.old = std::mem::take(&mut self.new);
            self.taken = 0;
        }
        self.taken += weight;
        self.old.remove(&key);
        if let Some(before) = self.new.insert(key, value) {
            self.taken -= before.weight();
        }
    }

    /// The new one and the old one.
    #[cfg(test)]
    pub fn both(&self) -> [&HashMap<K, V>; 2] {
        [&self.new, &self.old]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Weigh for usize {
        fn weight(&self) -> usize {
            *self
        }
    }

    #[test]
    fn what_is_asked_stays_and_the_rest_goes_within_its_room() {
        let mut known = Generations::<usize, usize, 10>::default();
        known.put(0, 3);
        for key in 1..100 {
            known.put(key, 1 + key % 4);
            assert_eq!(known.get(&0), Some(&mut 3));
            assert_eq!(known.taken, known.new.values().sum::<usize>());
            assert!(known.taken <= 10 && known.old.values().sum::<usize>() <= 10);
        }
        assert_eq!(known.get(&1), None);
        known.put(0, 1);
        assert_eq!(known.get(&0), Some(&mut 1));
        assert!(!known.old.contains_key(&0));
    }
}
