import { afterEach, describe, expect, it } from '@jest/globals';
import { lastValueFrom } from 'rxjs';
import { webSocketPort } from '../../src/http/webSocketPort.js';
import type { SocketRequest } from '../../src/http/SocketPort.js';
import { observe } from '../helpers/observe.js';

/** A platform's WebSocket, as far as a browser's is told apart from it here. */
class Platform extends EventTarget {
  static made: Platform[] = [];
  readonly sent: string[] = [];
  closedWith: number | undefined;

  constructor(
    readonly url: string,
    readonly protocols: readonly string[],
  ) {
    super();
    Platform.made.push(this);
  }

  send(data: string): void {
    this.sent.push(data);
  }

  close(code = 1000): void {
    this.closedWith = code;
  }

  tell(type: string, facts: object = {}): void {
    this.dispatchEvent(Object.assign(new Event(type), facts));
  }
}

const request = (headers: Readonly<Record<string, string>> = {}): SocketRequest => ({
  url: 'ws://ledger.example/v2/updates',
  protocols: ['daml.ws.auth'],
  headers,
  message: '{}',
});

const platform = globalThis.WebSocket as unknown;
function given(): void {
  Object.assign(globalThis, { WebSocket: Platform });
}
afterEach(() => {
  Platform.made = [];
  if (platform === undefined) Reflect.deleteProperty(globalThis, 'WebSocket');
  else Object.assign(globalThis, { WebSocket: platform });
});

describe("the platform's own WebSocket", () => {
  it('offers the token as the first protocol, since it cannot send headers', () => {
    given();
    observe(webSocketPort()(request({ authorization: 'Bearer abc.def', 'x-tenant': 'blue' })));
    observe(webSocketPort()(request({ authorization: 'bearer  abc.def' })));
    observe(webSocketPort()(request()));
    expect(Platform.made.map(({ protocols }) => protocols)).toEqual([
      ['jwt.token.abc.def', 'daml.ws.auth'],
      ['jwt.token.abc.def', 'daml.ws.auth'],
      ['daml.ws.auth'],
    ]);
  });

  it('says its message once it is open, and tells texts and the end', () => {
    given();
    const seen = observe(webSocketPort()(request()));
    const [socket] = Platform.made;
    expect(socket?.sent).toEqual([]);
    socket?.tell('open');
    expect(socket?.sent).toEqual(['{}']);
    socket?.tell('message', { data: 'hello' });
    socket?.tell('error');
    socket?.tell('close', { code: 1001 });
    expect(seen.values).toEqual([{ _tag: 'Open' }, { _tag: 'Text', text: 'hello' }, { _tag: 'End', code: 1001 }]);
    expect(seen.completed).toBe(true);
  });

  it('errors and closes where a message is no text: nothing that was said is passed over', () => {
    given();
    const seen = observe(webSocketPort()(request()));
    const [socket] = Platform.made;
    socket?.tell('open');
    socket?.tell('message', { data: new ArrayBuffer(1) });
    socket?.tell('message', { data: 'hello' });
    expect(seen.values).toEqual([{ _tag: 'Open' }]);
    expect(seen.error).toMatchObject({ message: 'the socket brought no text' });
    expect(socket?.closedWith).toBeDefined();
  });

  it('closes when it is unsubscribed, also while it opens', () => {
    given();
    const seen = observe(webSocketPort()(request()));
    seen.subscription.unsubscribe();
    expect(Platform.made[0]?.closedWith).toBeDefined();
  });

  it('closes with a code that a participant answers at once, also while its updates go on', () => {
    given();
    const seen = observe(webSocketPort()(request()));
    Platform.made[0]?.tell('open');
    seen.subscription.unsubscribe();
    // what browsers let a page say, and is no regular end
    expect(Platform.made[0]?.closedWith).toBeGreaterThanOrEqual(3000);
    expect(Platform.made[0]?.closedWith).toBeLessThan(5000);
  });

  it('errors where it was never open', () => {
    given();
    const seen = observe(webSocketPort()(request()));
    Platform.made[0]?.tell('error');
    Platform.made[0]?.tell('close', { code: 1006 });
    expect(seen.error).toMatchObject({ message: 'the socket was not opened' });
  });

  it('errors where it was never open, also on platforms that tell no close of it, such as Node.js 22', () => {
    given();
    const seen = observe(webSocketPort()(request()));
    Platform.made[0]?.tell('error');
    expect(seen.error).toMatchObject({ message: 'the socket was not opened' });
  });

  it('errors where there is none, as in Node.js 20', async () => {
    Reflect.deleteProperty(globalThis, 'WebSocket');
    await expect(lastValueFrom(webSocketPort()(request()))).rejects.toMatchObject({
      reason: 'there is no WebSocket on this platform',
    });
  });
});
