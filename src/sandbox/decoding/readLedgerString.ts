import { refused } from '../errors/refused.js';
import type { Cursor } from './Cursor.js';

/** An id made of the characters that Daml allows. */
export function readLedgerString(cursor: Cursor): string {
  const value = cursor.string();
  if (value === '') throw refused('MISSING_FIELD', `The submitted command is missing a mandatory field: ${cursor.at}`);
  if (/^[A-Za-z0-9#:\-_/ .]{1,255}$/.test(value)) return value;
  throw refused('INVALID_FIELD', `The submitted command has a field with invalid value: ${cursor.at}`);
}
