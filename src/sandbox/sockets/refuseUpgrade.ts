import { ServerResponse, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Fault } from '../faults/Fault.js';
import type { Answer } from '../http/Answer.js';
import { deliver } from '../http/deliver.js';
import type { RequestRecord } from '../http/RequestRecord.js';

/** Answers an upgrade by what is none, or does to its connection what the fault says. */
export function refuseUpgrade(
  request: IncomingMessage,
  answer: Answer | undefined,
  fault: Fault | undefined,
  record: RequestRecord,
): void {
  const { socket } = request;
  endWithClient(socket);
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.end());
  deliver(answer, fault, response, record);
}

/** The parser that would have noticed has let go of the socket. */
function endWithClient(socket: Socket): void {
  socket.once('end', () => socket.destroy()).resume();
}
