/** A made-up price that grows with the size of what is sent. */
export function trafficCost(size: number): number {
  return 1024 + 4 * size;
}
