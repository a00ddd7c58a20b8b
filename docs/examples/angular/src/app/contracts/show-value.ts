import { shortId } from '../updates/names';
import type { FieldKind } from './field-kind';

/** A value as a cell shows it. The detail of a contract shows it as it is. */
export function showValue(value: unknown, kind: FieldKind, fraction = 0): string {
  if (value === null || value === undefined) return '–';
  if (typeof value !== 'string') return typeof value === 'object' ? compact(value) : String(value);
  switch (kind) {
    case 'party':
      return shortId(value);
    case 'contract':
      return `${value.slice(0, 10)}…`;
    case 'number':
      return showNumber(value, fraction);
    case 'date':
      return showDate(value);
    case 'time':
      return showTime(value);
    default:
      return value;
  }
}

/** The digits after the point, without the zeros with which the ledger fills a decimal up. */
export const fractionOf = (value: unknown): number =>
  typeof value === 'string' ? (/\.(\d*?)0*$/.exec(value)?.[1]?.length ?? 0) : 0;

/**
 * A decimal with separators, and with as many digits after the point as its column has, so that the points are below each
 * other. An integer may be a number of anything, and is left as it is. No digit that counts is lost.
 */
function showNumber(value: string, fraction: number): string {
  const [whole = '', digits] = value.split('.');
  if (digits === undefined) return value;
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === 0 ? grouped : `${grouped}.${digits.slice(0, fraction).padEnd(fraction, '0')}`;
}

const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `3 Dec 2026`, which no time zone changes. */
function showDate(date: string): string {
  const [year = '', month = '', day = ''] = date.slice(0, 10).split('-');
  return `${Number(day)} ${months[Number(month) - 1] ?? month} ${year}`;
}

/** `3 Dec 2026, 14:03:07` in UTC, as the ledger has it. */
const showTime = (time: string): string => `${showDate(time)}, ${time.slice(11, 19)}`;

/** `3 Dec, 14:03`, with the year if it is not this one. */
export function showRecentTime(time: string): string {
  const date = showDate(time).replace(` ${new Date().getUTCFullYear()}`, '');
  return `${date}, ${time.slice(11, 16)}`;
}

/** JSON in one line, with the parties shortened. A variant without a value is its name. */
function compact(value: unknown): string {
  if (isVariant(value)) {
    const isUnit = typeof value.value === 'object' && value.value !== null && Object.keys(value.value).length === 0;
    if (isUnit) return value.tag;
    return `${value.tag} ${typeof value.value === 'string' ? value.value : compact(value.value)}`;
  }
  return JSON.stringify(value)
    .replace(/::[0-9a-f]{16,}"/g, '::…"')
    .replace(/(?<=[^\\])",/g, '", ')
    .replace(/":/g, '": ');
}

const isVariant = (value: unknown): value is { readonly tag: string; readonly value: unknown } =>
  typeof value === 'object' &&
  value !== null &&
  Object.keys(value).length === 2 &&
  'tag' in value &&
  typeof value.tag === 'string' &&
  'value' in value;
