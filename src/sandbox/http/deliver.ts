import type { ServerResponse } from 'node:http';
import type { Fault } from '../Fault.js';
import type { Answer } from './Answer.js';
import type { RequestRecord } from './RequestRecord.js';

/** Sends an answer, or does to the connection what the fault says instead. */
export function deliver(
  answer: Answer | undefined,
  fault: Fault | undefined,
  response: ServerResponse,
  record: RequestRecord,
): void {
  if (fault?.kind === 'hang') return;
  record.settle();
  if (fault?.kind === 'reset') response.socket?.resetAndDestroy();
  if (fault?.kind === 'reset' || answer === undefined) return;
  const body = Buffer.from(answer.body);
  const type = answer.contentType === undefined ? {} : { 'content-type': answer.contentType };
  const length = answer.status === 204 ? {} : { 'content-length': body.length };
  record.status = answer.status;
  response.writeHead(answer.status, { ...type, ...length, ...answer.headers });
  if (fault?.kind === 'truncate') {
    response.flushHeaders();
    response.write(body.subarray(0, fault.bytes), () => response.destroy());
  } else {
    response.end(body);
  }
}
