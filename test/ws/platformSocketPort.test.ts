import { afterEach, describe, expect, it } from '@jest/globals';
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
function fakeWebSocket(): void {
  Object.assign(globalThis, { WebSocket: FakeWebSocket });
}
afterEach(() => {
  FakeWebSocket.instances = [];
  if (platform === undefined) Reflect.deleteProperty(globalThis, 'WebSocket');
  else Object.assign(globalThis, { WebSocket: platform });
});

describe("the platform's own WebSocket", () => {
  it('offers the token as the first protocol, since it cannot send headers', () => {
    fakeWebSocket();
    observe(platformSocketPort()(request({ authorization: 'Bearer abc.def', 'x-tenant': 'blue' })));
    observe(platformSocketPort()(request({ authorization: 'bearer  abc.def' })));
    observe(platformSocketPort()(request()));
    expect(FakeWebSocket.instances.map(({ protocols }) => protocols)).toEqual([
      ['jwt.token.abc.def', 'daml.ws.auth'],
      ['jwt.token.abc.def', 'daml.ws.auth'],
      ['daml.ws.auth'],
    ]);
  });

  it('sends its message when it is open, and emits texts and the end', () => {
    fakeWebSocket();
    const seen = observe(platformSocketPort()(request()));
    const [socket] = FakeWebSocket.instances;
    expect(socket?.sent).toEqual([]);
    socket?.emit('open');
    expect(socket?.sent).toEqual(['{}']);
    socket?.emit('message', { data: 'hello' });
    socket?.emit('error');
    socket?.emit('close', { code: 1001 });
    expect(seen.values).toEqual([{ _tag: 'Open' }, { _tag: 'Text', text: 'hello' }, { _tag: 'End', code: 1001 }]);
    expect(seen.completed).toBe(true);
  });

  it('errors and closes for a message that is not text, so that nothing is skipped', () => {
    fakeWebSocket();
    const seen = observe(platformSocketPort()(request()));
    const [socket] = FakeWebSocket.instances;
    socket?.emit('open');
    socket?.emit('message', { data: new ArrayBuffer(1) });
    socket?.emit('message', { data: 'hello' });
    expect(seen.values).toEqual([{ _tag: 'Open' }]);
    expect(seen.error).toMatchObject({ message: 'the socket received a message that is not text' });
    expect(socket?.closeCode).toBeDefined();
  });

  it('closes when it is unsubscribed, also while it is connecting', () => {
    fakeWebSocket();
    const seen = observe(platformSocketPort()(request()));
    seen.subscription.unsubscribe();
    expect(FakeWebSocket.instances[0]?.closeCode).toBeDefined();
  });

  it('closes with a code that a participant answers at once, also in the middle of a stream', () => {
    fakeWebSocket();
    const seen = observe(platformSocketPort()(request()));
    FakeWebSocket.instances[0]?.emit('open');
    seen.subscription.unsubscribe();
    // the codes that browsers allow, except the regular 1000
    expect(FakeWebSocket.instances[0]?.closeCode).toBeGreaterThanOrEqual(3000);
    expect(FakeWebSocket.instances[0]?.closeCode).toBeLessThan(5000);
  });

  it('errors when it does not open', () => {
    fakeWebSocket();
    const seen = observe(platformSocketPort()(request()));
    FakeWebSocket.instances[0]?.emit('error');
    FakeWebSocket.instances[0]?.emit('close', { code: 1006 });
    expect(seen.error).toMatchObject({ message: 'the socket was not opened' });
  });

  it('errors when it does not open and emits no close event, as in Node.js 22', () => {
    fakeWebSocket();
    const seen = observe(platformSocketPort()(request()));
    FakeWebSocket.instances[0]?.emit('error');
    expect(seen.error).toMatchObject({ message: 'the socket was not opened' });
  });

  it('errors without a WebSocket, as in Node.js 20', async () => {
    Reflect.deleteProperty(globalThis, 'WebSocket');
    await expect(lastValueFrom(platformSocketPort()(request()))).rejects.toMatchObject({
      reason: 'there is no WebSocket on this platform',
    });
  });
});
