import { microsOf } from '../wire/microsOf.js';
import { timestampOf } from '../wire/timestampOf.js';
import { dateOf, daysOf } from './dates.js';
import type { LfType } from './LfType.js';

/** The type that a JSON text looks like. Only what reads back as the same text is taken for more than a text. */
export function guessType(text: string): Extract<LfType, string> {
  if (/^[A-Za-z0-9:\-_ ]+::1220[0-9a-f]{64}$/.test(text)) return 'party';
  if (/^00(?:[0-9a-f]{2}){32,}$/.test(text)) return 'contractId';
  if (/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return BigInt.asIntN(64, BigInt(text)) === BigInt(text) ? 'int64' : 'text';
  if (/^-?\d{1,28}\.\d{1,10}$/.test(text)) return 'numeric';
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return dateOf(daysOf(text)) === text ? 'date' : 'text';
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return isTimestamp(text) ? 'timestamp' : 'text';
  return 'text';
}

function isTimestamp(text: string): boolean {
  const micros = microsOf(text);
  return Number.isSafeInteger(micros) && timestampOf(micros) === text;
}
