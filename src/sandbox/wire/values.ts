import { hash } from 'node:crypto';

/** SHA-256 in hex. All ids of the sandbox come from it: same ledger, same ids. */
export function hex(...parts: readonly (string | number)[]): string {
  return hash('sha256', parts.join('\n'));
}

/** A contract id: the version, a discriminator and an authentication suffix. */
export function contractIdOf(...parts: readonly (string | number)[]): string {
  return `00${hex('contract', ...parts)}ca1112${hex('suffix', ...parts)}`;
}

/** The end of the year 9999, in microseconds since the epoch: Daml has no later time. */
export const latestMicros = Date.UTC(10_000, 0, 1) * 1000 - 1;

/** Microseconds since the epoch of an ISO timestamp; `Date` alone would lose the last three digits. */
export function microsOf(timestamp: string): number {
  const fraction = /\.(\d+)Z$/.exec(timestamp)?.[1] ?? '';
  const whole = Date.parse(timestamp.replace(/\.\d+Z$/, 'Z'));
  return whole * 1000 + Number(fraction.padEnd(6, '0').slice(0, 6));
}

/** The package id that the sandbox gives to a package name. */
export function packageIdOf(packageName: string): string {
  return hex('package', packageName);
}

/** An ISO timestamp with as many fraction digits as it needs: none, three or six. */
export function timestampOf(micros: number): string {
  const iso = new Date(Math.floor(micros / 1000)).toISOString();
  const below = micros % 1000;
  if (below !== 0) return `${iso.slice(0, -1)}${String(below).padStart(3, '0')}Z`;
  return iso.endsWith('.000Z') ? `${iso.slice(0, -5)}Z` : iso;
}

/** A made-up price that grows with the size of what is sent. */
export function trafficCost(size: number): number {
  return 1024 + 4 * size;
}

/** An update id: a multihash. */
export function updateIdOf(...parts: readonly (string | number)[]): string {
  return `1220${hex('update', ...parts)}`;
}

/** A time that timers take: beyond these bounds they would fire at once. */
export function timerMs(ms: number): number {
  return Math.min(Math.max(ms, 0), 2 ** 31 - 1);
}
