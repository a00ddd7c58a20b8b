import { headers, type MsgHdrs } from '@nats-io/nats-core';
import { UpdateElement } from '../codecs/UpdateElement.js';
import type { Work } from '../process/Handler.js';
import { RelayError } from './RelayError.js';

/** The header with the update's offset. */
export const offsetHeader = 'Canton-Offset';
/** The header by which JetStream tells messages apart for a while. */
export const idHeader = 'Nats-Msg-Id';

/** An update as a message. */
export interface Message {
  readonly body: Uint8Array;
  readonly headers: MsgHdrs;
}

/** An update of a variant that this version does not know may have no id. */
const idOf = (update: Work): string => ('updateId' in update ? update.updateId : `offset-${update.offset}`);

/** Behind what a message is to stand, or nowhere. */
export interface Behind {
  readonly stream: string;
  readonly sequence: number;
  /** The update sent before it; without one, what has that number is known. */
  readonly update?: Work | undefined;
}

/** The message of an update. */
export function messageOf(update: Work, { stream, sequence, update: before }: Behind): Message {
  const body = new TextEncoder().encode(JSON.stringify(UpdateElement.encode(update)));
  const fields = {
    [idHeader]: idOf(update),
    [offsetHeader]: String(update.offset),
    'Nats-Expected-Stream': stream,
    'Nats-Expected-Last-Sequence': String(sequence),
    // the number alone would also be that of a message which somebody else put in its predecessor's place
    ...(before && { 'Nats-Expected-Last-Msg-Id': idOf(before) }),
  };
  const hdrs = headers();
  for (const [key, value] of Object.entries(fields)) hdrs.set(key, value);
  return { body, headers: hdrs };
}

/** Refuses a message that the server would not take, before any of a batch is sent. */
export function checkSize(stream: string, update: Work, message: Message, maxBytes: number): void {
  const head = ['NATS/1.0', ...message.headers.keys().map((key) => `${key}: ${message.headers.get(key)}`), '', ''];
  const bytes = message.body.length + new TextEncoder().encode(head.join('\r\n')).length;
  if (bytes <= maxBytes) return;
  const sizes = `${bytes} bytes, of which the server takes ${maxBytes} in a message`;
  throw new RelayError('size', stream, `the update at offset ${update.offset} has ${sizes}: raise max_payload`);
}
