//! Things that are joined to sets, which are joined further and further.

/// See the module.
pub(crate) struct DisjointSets {
    /// By thing: another one of its set, or itself.
    parents: Vec<usize>,
}

impl DisjointSets {
    /// So many things, each a set of its own.
    pub(crate) fn of(count: usize) -> Self {
        Self { parents: (0..count).collect() }
    }

    /// The first of a thing's set, which stands for it.
    pub(crate) fn root(&mut self, mut thing: usize) -> usize {
        while self.parents[thing] != thing {
            // Half the way is saved the next time.
            self.parents[thing] = self.parents[self.parents[thing]];
            thing = self.parents[thing];
        }
        thing
    }

    /// Joins the sets of both; false if that is one set already.
    pub(crate) fn join(&mut self, one: usize, other: usize) -> bool {
        let (one, other) = (self.root(one), self.root(other));
        self.parents[one.max(other)] = one.min(other);
        one != other
    }
}
