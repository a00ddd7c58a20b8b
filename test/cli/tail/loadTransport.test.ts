import { describe, expect, it } from '@jest/globals';
import { UsageError } from '../../../src/cli/arguments.js';
import { loadTransport } from '../../../src/cli/Session.js';

describe('loadTransport', () => {
  it('requires the package ws, or the WebSockets of Node.js', async () => {
    const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' });
    const original = Object.getOwnPropertyDescriptor(globalThis, 'WebSocket');
    Reflect.deleteProperty(globalThis, 'WebSocket');
    try {
      await expect(loadTransport(() => Promise.reject(missing))).rejects.toThrow(UsageError);
      Object.defineProperty(globalThis, 'WebSocket', { value: () => undefined, configurable: true });
      expect(await loadTransport(() => Promise.reject(missing))).toMatchObject({ _tag: 'Transport' });
    } finally {
      Reflect.deleteProperty(globalThis, 'WebSocket');
      if (original !== undefined) Object.defineProperty(globalThis, 'WebSocket', original);
    }
    await expect(loadTransport(() => Promise.reject(new Error('bug')))).rejects.toThrow('bug');
    expect(await loadTransport()).toMatchObject({ _tag: 'Transport' });
  });
});
