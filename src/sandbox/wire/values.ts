import { hash } from 'node:crypto';

/** Returns a SHA-256 hash in hex. All ids of the sandbox are such hashes, so that equal ledgers have equal ids. */
export function sha256(...parts: readonly (string | number)[]): string {
  return hash('sha256', parts.join('\n'));
}

/** Creates a contract id: the version, a discriminator and an authentication suffix. */
export function makeContractId(...parts: readonly (string | number)[]): string {
  return `00${sha256('contract', ...parts)}ca1112${sha256('suffix', ...parts)}`;
}

/** The end of the year 9999, the latest time of Daml, in microseconds since the epoch. */
export const maxMicros = Date.UTC(10_000, 0, 1) * 1000 - 1;

/** Parses an ISO timestamp to microseconds since the epoch, which `Date` alone cannot represent. */
export function parseMicros(timestamp: string): number {
  const fraction = /\.(\d+)Z$/.exec(timestamp)?.[1] ?? '';
  const whole = Date.parse(timestamp.replace(/\.\d+Z$/, 'Z'));
  return whole * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}

/** Creates the package id for a package name. */
export function makePackageId(packageName: string): string {
  return sha256('package', packageName);
}

/** Formats microseconds as an ISO timestamp with no, three or six fraction digits, as few as possible. */
export function formatMicros(micros: number): string {
  const iso = new Date(Math.floor(micros / 1000)).toISOString();
  const microsOfMilli = micros - Math.floor(micros / 1000) * 1000;
  if (microsOfMilli !== 0) return `${iso.slice(0, -1)}${String(microsOfMilli).padStart(3, '0')}Z`;
  return iso.endsWith('.000Z') ? `${iso.slice(0, -5)}Z` : iso;
}

/** The trace context of an update whose request had none. The digits are those of the trace id and the span id. */
export const makeTraceContext = (digits: string): { readonly traceparent: string; readonly tracestate: null } => ({
  traceparent: `00-${digits.slice(0, 32)}-${digits.slice(32, 48)}-01`,
  tracestate: null,
});

/** Returns an invented traffic cost that grows with the number of bytes. */
export function trafficCost(size: number): number {
  return 1024 + 4 * size;
}

/** Creates an update id, which is a multihash. */
export function makeUpdateId(...parts: readonly (string | number)[]): string {
  return `1220${sha256('update', ...parts)}`;
}

/** Limits a time to the range of timers. Outside this range, timers fire immediately. */
export function clampTimer(ms: number): number {
  return Math.min(Math.max(ms, 0), 2 ** 31 - 1);
}
