import type * as t from 'io-ts';
import type { Answer } from './Answer.js';

/** What a good answer says; `undefined` for any other, and for one that does not say it. */
export function jsonIn<A>({ status, text }: Answer, codec: t.Type<A, unknown>): A | undefined {
  if (status !== 200) return undefined;
  try {
    const decoded = codec.decode(JSON.parse(text));
    return decoded._tag === 'Right' ? decoded.right : undefined;
  } catch {
    return undefined;
  }
}
