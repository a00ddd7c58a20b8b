import { Offset } from '../Offset.js';
import { isRecord } from './isRecord.js';

/** The offset that the content of a variant has, in its `value` or beside it. */
export function offsetWithin(content: unknown): Offset | undefined {
  if (!isRecord(content)) return undefined;
  const { value, offset } = content;
  return [isRecord(value) ? value['offset'] : undefined, offset].find(Offset.is);
}
