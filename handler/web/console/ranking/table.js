// TABLE has the help and the bounds of each parameter by path, with times in seconds, and the
// value in effect if a ranking lacks it: if curves replace it, or if it did not exist yet. The
// server fills it in from feed.Parameters.
export const TABLE = {};

// within returns the check of a value against bounds.
export const within = ({ least = 0, most = Infinity, notLeast, notMost }) => (v) => (notLeast ? v > least : v >= least) && (notMost ? v < most : v <= most);
