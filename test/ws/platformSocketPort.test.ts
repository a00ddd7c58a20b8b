import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { platformSocketPort, type SocketRequest } from '../../src/ws/SocketPort.js';
import { observe } from '../helpers/observe.js';

/** Stands in for the WebSocket of a platform. */
class FakeWebSocket extends EventTarget {
  static instances: FakeWebSocket[] = [];
  readonly sent: string[] = [];
  closeCode: number | undefined;

  constructor(
    readonly url: string,
    readonly protocols: readonly string[],
  ) {
    super();
    FakeWebSocket.instances.push(this);
  }

  send(data: string): void {
    this.sent.push(data);
  }

  close(code = 1000): void {
    this.closeCode = code;
  }

  emit(type: string, properties: object = {}): void {
    this.dispatchEvent(Object.assign(new Event(type), properties));
  }
}

const request = (headers: Readonly<Record<string, string>> = {}): SocketRequest => ({
  url: 'ws://ledger.example/v2/updates',
  protocols: ['daml.ws.auth'],
  headers,
  message: '{}',
});

const platform = globalThis.WebSocket as unknown;
beforeEach(() => {
  Object.assign(globalThis, { WebSocket: FakeWebSocket });
});
afterEach(() => {
  FakeWebSocket.instances = [];
  if (platform === undefined) Reflect.deleteProperty(globalThis, 'WebSocket');
  else Object.assign(globalThis, { WebSocket: platform });
});

/** What is seen of a socket of the platform. */
function socketWith(headers?: Readonly<Record<string, string>>) {
  const seen = observe(platformSocketPort()(request(headers)));
  const socket = FakeWebSocket.instances.at(-1);
  if (socket === undefined) throw new Error('no socket was created');
  return { seen, socket };
}

describe("the platform's own WebSocket", () => {
  it('offers the token as the first protocol, since it cannot send headers', () => {
    socketWith({ authorization: 'Bearer abc.def', 'x-tenant': 'blue' });
    socketWith({ authorization: 'bearer  abc.def' });
    socketWith();
    expect(FakeWebSocket.instances.map(({ protocols }) => protocols)).toEqual([
      ['jwt.token.abc.def', 'daml.ws.auth'],
      ['jwt.token.abc.def', 'daml.ws.auth'],
      ['daml.ws.auth'],
    ]);
  });

  it('sends its message when it is open, and emits texts and the end', () => {
    const { seen, socket } = socketWith();
    expect(socket.sent).toEqual([]);
    socket.emit('open');
    expect(socket.sent).toEqual(['{}']);
    socket.emit('message', { data: 'hello' });
    socket.emit('error');
    socket.emit('close', { code: 1001 });
    expect(seen.values).toEqual([{ _tag: 'Open' }, { _tag: 'Text', text: 'hello' }, { _tag: 'End', code: 1001 }]);
    expect(seen.completed).toBe(true);
  });

  it('errors and closes for a message that is not text, so that nothing is skipped', () => {
    const { seen, socket } = socketWith();
    socket.emit('open');
    socket.emit('message', { data: new ArrayBuffer(1) });
    socket.emit('message', { data: 'hello' });
    expect(seen.values).toEqual([{ _tag: 'Open' }]);
    expect(seen.error).toMatchObject({ message: 'the socket received a message that is not text' });
    expect(socket.closeCode).toBeDefined();
  });

  it.each(['while it is connecting', 'in the middle of a stream'])('closes when it is unsubscribed %s', (when) => {
    const { seen, socket } = socketWith();
    if (when === 'in the middle of a stream') socket.emit('open');
    seen.subscription.unsubscribe();
    // a participant answers them at once: the codes that browsers allow, except the regular 1000
    expect(socket.closeCode).toBeGreaterThanOrEqual(3000);
    expect(socket.closeCode).toBeLessThan(5000);
  });

  it('errors when it does not open, even if no close event follows, as in Node.js 22', () => {
    const { seen, socket } = socketWith();
    socket.emit('error');
    expect(seen.error).toMatchObject({ message: 'the socket was not opened' });
  });

  it('errors without a WebSocket, as in Node.js 20', async () => {
    Reflect.deleteProperty(globalThis, 'WebSocket');
    await expect(lastValueFrom(platformSocketPort()(request()))).rejects.toMatchObject({
      reason: 'there is no WebSocket on this platform',
    });
  });
});
