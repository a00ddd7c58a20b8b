/** The index of the row that a key moves to; `undefined` for other keys. */
export function stepOf(key: string, at: number, count: number, page: number): number | undefined {
  const within = (index: number): number => Math.max(0, Math.min(count - 1, index));
  switch (key) {
    case 'ArrowDown':
      return within(at + 1);
    case 'ArrowUp':
      return within(at - 1);
    case 'PageDown':
      return within(at + page);
    case 'PageUp':
      return within(at - page);
    case 'Home':
      return 0;
    case 'End':
      return within(count - 1);
    default:
      return undefined;
  }
}
