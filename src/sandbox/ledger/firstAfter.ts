/** The index of the first item beyond an offset, by binary search. */
export function firstAfter(offsets: readonly number[], offset: number): number {
  let low = 0;
  let high = offsets.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((offsets[middle] ?? Infinity) > offset) high = middle;
    else low = middle + 1;
  }
  return low;
}
