import type { ServerResponse } from 'node:http';
import type { Fault } from '../faults/Fault.js';
import type { Answer } from './Answer.js';
import type { RequestRecord } from './RequestRecord.js';

/** Bytes and a reset that arrive together are a plain end to many clients: libuv does not report the reset then. */
const readMs = 10;

/** Sends an answer, or does to the connection what the fault says instead. */
export function deliver(
  answer: Answer | undefined,
  fault: Fault | undefined,
  response: ServerResponse,
  record: RequestRecord,
): void {
  if (fault?.kind === 'hang') return;
  const body = Buffer.from(answer?.body ?? '');
  const stalls = fault?.kind === 'stall' && fault.bytes < body.length;
  if (!stalls) record.settle();
  const resets = fault?.kind === 'reset' || answer?.lost === true;
  if (resets) response.socket?.resetAndDestroy();
  if (resets || answer === undefined) return;
  const type = answer.contentType === undefined ? {} : { 'content-type': answer.contentType };
  const length = answer.status === 204 ? {} : { 'content-length': body.length };
  record.status = answer.status;
  response.writeHead(answer.status, { ...type, ...length, ...answer.headers });
  if (!stalls && fault?.kind !== 'truncate') {
    response.end(body);
    return;
  }
  response.flushHeaders();
  response.write(body.subarray(0, fault.bytes), () => {
    if (fault.kind === 'truncate') cut(response, fault.how);
  });
}

function cut(response: ServerResponse, how: 'close' | 'reset' = 'close'): void {
  if (how === 'close') response.destroy();
  else setTimeout(() => response.socket?.resetAndDestroy(), readMs).unref();
}
