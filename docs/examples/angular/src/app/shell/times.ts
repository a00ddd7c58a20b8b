import { numeral } from './numbers';

/** `14:03:07.123` of a record time in UTC, which may have no fraction of a second. */
export const timeOfDay = (timestamp: string): string =>
  timestamp === '' ? '' : `${timestamp.slice(11, 19)}.${timestamp.slice(20, 23).replace('Z', '').padEnd(3, '0')}`;

const local = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
const zone = new Intl.DateTimeFormat('en-GB', { timeZoneName: 'short' });

/** The time where the reader is, with the name of its time zone. */
export function localTime(timestamp: string): string {
  const time = new Date(timestamp);
  if (Number.isNaN(time.getTime())) return '';
  const name = zone.formatToParts(time).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  return `${local.format(time)} ${name}`;
}

const units: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
];

/** `3 min` for an age in milliseconds; empty for less than a minute. */
export function ageOf(ms: number): string {
  const unit = units.find(([least]) => ms >= least);
  return unit === undefined ? '' : `${numeral(Math.floor(ms / unit[0]))} ${unit[1]}`;
}
