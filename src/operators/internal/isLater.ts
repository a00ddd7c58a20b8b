import type { Timestamp } from '../../codecs/Timestamp.js';

/**
 * Whether `a` is a later instant than `b`, to the last fraction digit. As text the two do not compare, since seconds and
 * fraction may be left out (`:00Z` is earlier than `:00.5Z`, but 'Z' is after '.') and years have four to nine digits.
 */
export const isLater = (a: Timestamp, b: Timestamp): boolean => {
  const left = parts(a);
  const right = parts(b);
  return left.year === right.year ? left.rest > right.rest : left.year > right.year;
};

const midnight = '00:00:00.000000000';

/** The year as a number; the rest at full length, so that it compares as text. */
function parts(timestamp: Timestamp): { readonly year: number; readonly rest: string } {
  const [date = '', clock = ''] = timestamp.replace('Z', '').split('T');
  const monthAndDay = date.slice(-'-MM-DD'.length);
  return {
    year: Number(date.slice(0, -monthAndDay.length)),
    rest: `${monthAndDay}T${clock}${midnight.slice(clock.length)}`,
  };
}
