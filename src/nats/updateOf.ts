import type { JsMsg } from '@nats-io/jetstream';
import { problemsOf } from '../codecs/Problem.js';
import { offsetOfElement, UpdateElement } from '../codecs/UpdateElement.js';
import { DecodeError } from '../errors/DecodeError.js';
import type { Work } from '../process/Handler.js';

/** The update of a message; a relay publishes no checkpoint. */
export function updateOf(stream: string, message: JsMsg): Work {
  const path = `${stream}/${message.seq}`;
  const element = jsonOf(message);
  const result = UpdateElement.decode(element);
  if (result._tag === 'Left') throw new DecodeError(path, problemsOf(result.left), offsetOfElement(element));
  if (result.right._tag !== 'OffsetCheckpoint') return result.right;
  throw new DecodeError(path, [{ path: 'update', expected: 'an update of a relay' }], result.right.offset);
}

function jsonOf(message: JsMsg): unknown {
  try {
    return message.json<unknown>();
  } catch {
    // which is no update either
    return undefined;
  }
}
