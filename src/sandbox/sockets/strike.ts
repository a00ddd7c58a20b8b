import type { FaultSocket } from '../faults/FaultSocket.js';
import type { Channel } from './Channel.js';

/** Does to a WebSocket what its fault says. */
export async function strike(fault: Exclude<FaultSocket, { how: 'refuse' }>, channel: Channel): Promise<void> {
  switch (fault.how) {
    case 'close':
      channel.end(fault.code, fault.reason);
      return;
    case 'cut':
      channel.cut();
      return;
    case 'silence':
      channel.silence();
      return;
    case 'error':
      await channel.send(typeof fault.body === 'string' ? fault.body : JSON.stringify(fault.body));
      channel.end();
  }
}
