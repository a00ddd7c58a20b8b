const pattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z$/;

/** The microseconds since 1970 of a time in UTC; `undefined` where it is none, or finer than the ledger's times. */
export function microsOf(text: string): bigint | undefined {
  const [, seconds = '', fraction = ''] = pattern.exec(text) ?? [];
  const date = new Date(`${seconds}Z`);
  // a day that its month has not is counted on
  if (Number.isNaN(date.getTime()) || !date.toISOString().startsWith(seconds)) return undefined;
  if (/[^0]/.test(fraction.slice(6))) return undefined;
  return BigInt(date.getTime()) * 1000n + BigInt(fraction.slice(0, 6).padEnd(6, '0'));
}
