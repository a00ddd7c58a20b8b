import { Offset } from '../Offset.js';
import { isRecord } from './isRecord.js';

/** The offset that the content of a variant has, in its `value` or beside it. */
export function offsetWithin(content: unknown): Offset | undefined {
  const inner = isRecord(content) && isRecord(content['value']) ? content['value'] : content;
  const offset = isRecord(inner) ? inner['offset'] : undefined;
  return Offset.is(offset) ? offset : undefined;
}
