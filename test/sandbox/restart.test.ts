import { once } from 'node:events';
import { createServer, Server } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import { type Fault, type Sandbox, startSandbox, type WireUpdate } from '../../src/sandbox/index.js';
import { updateValue } from '../../src/sandbox/wire/WireUpdate.js';
import { stopClock, until } from '../helpers/time.js';
import { connectTo, endPath, failure, get, listAt, offsets, post, requestReceived, sandboxWith } from './client.js';
import { createAsset, submit, submitPath, withParties } from './commands.js';
import { creation, creationsOf, execute, prepareAndSign, readUpdates, tail, updatesPath, upTo } from './requests.js';

const idOf = (update: WireUpdate): string => updateValue(update).updateId;

/** Whether a server listens on the port of the sandbox. */
async function isUp(sandbox: Sandbox): Promise<boolean> {
  const socket = connectTo(sandbox);
  const up = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return up;
}

/** Sends a request that waits, and is lost with the restart. */
async function pendingRequest(sandbox: Sandbox): Promise<{ readonly lost: Promise<void> }> {
  const path = `${updatesPath}?limit=3&stream_idle_timeout_ms=60000`;
  const lost = expect(post(sandbox, path, { ...tail, beginExclusive: sandbox.ledgerEnd })).rejects.toThrow();
  await requestReceived(sandbox);
  return { lost };
}

describe('a restore', () => {
  it.each([false, true])(
    'ends requests that wait, which else got updates of another ledger: readAgain %s',
    async (readAgain) => {
      const sandbox = await sandboxWith();
      sandbox.generate(20, { seed: 1 });
      const { lost } = await pendingRequest(sandbox);
      sandbox.restore(0, { readAgain });
      sandbox.generate(200, { seed: 2 });
      await lost;
    },
  );
});

describe('a restart', () => {
  it('loses pending requests and listens at the same URL with other settings', async () => {
    const sandbox = await sandboxWith({ maxListElements: 10 });
    sandbox.append(...creationsOf(2));
    const { lost } = await pendingRequest(sandbox);
    const { url } = sandbox;
    const back = sandbox.restart({ profile: '3.4', maxListElements: 1 });
    sandbox.append(creation());
    await Promise.all([lost, back]);
    expect(sandbox.url).toBe(url);
    expect(sandbox.requests[0]).toMatchObject({ aborted: false });
    expect(sandbox.requests[0]?.status).toBeUndefined();
    expect((await get(sandbox, '/v2/version')).json).toMatchObject({ version: expect.stringMatching(/^3\.4/) });
    expect((await readUpdates(sandbox)).status).toBe(413);
    expect(offsets(await post(sandbox, `${updatesPath}?limit=1`, upTo(3)))).toEqual([1]);
  });

  it('can put another ledger at the same address, of which pending requests see nothing', async () => {
    const sandbox = await sandboxWith();
    sandbox.generate(20, { seed: 1, variants: ['Transaction'] });
    const before = sandbox.updates.slice(0, 5).map(idOf);
    const { lost } = await pendingRequest(sandbox);
    const whileDown = () => {
      sandbox.restore(sandbox.updates.slice(0, 2).map(updateValue).at(-1)?.offset ?? 0);
      sandbox.generate(40, { seed: 2, variants: ['Transaction'] });
    };
    await sandbox.restart({ participantId: 'other::1220ab', whileDown });
    await lost;
    expect(listAt((await readUpdates(sandbox)).json).length).toBeGreaterThan(20);
    const after = sandbox.updates.slice(0, 5).map(idOf);
    expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
    expect(after.slice(2).some((id) => before.includes(id))).toBe(false);
    expect((await get(sandbox, '/v2/parties/participant-id')).json).toEqual({ participantId: 'other::1220ab' });
  });

  it.each<[string, object, Fault | undefined]>([
    ['its late commit', {}, { kind: 'commitLate', ms: 500, how: 'reset' }],
    ['its late registration', {}, { kind: 'commitLate', before: 'registration', ms: 500, how: 'reset' }],
    ['its ledger time', { minLedgerTimeRel: { seconds: 1, nanos: 0 } }, undefined],
  ])(
    'commits nothing on another ledger that the one before has received, but not committed until %s',
    async (_, fields, fault) => {
      const clock = stopClock();
      const { sandbox, alice } = await withParties();
      if (fault !== undefined) sandbox.fault(fault, { path: submitPath });
      const lost = expect(submit(sandbox, alice, createAsset(alice), fields)).rejects.toThrow('fetch failed');
      await clock.hasTimer();
      const whileDown = () => {
        sandbox.restore(0);
      };
      await sandbox.restart({ participantId: 'other::1220ab', whileDown });
      await lost;
      await clock.advance(2_000);
      expect(sandbox.updates).toEqual([]);
      expect((await submit(sandbox, alice, createAsset(alice))).status).toBe(200);
    },
  );

  it('stays down if what it calls meanwhile throws, until the next one', async () => {
    const sandbox = await sandboxWith();
    const whileDown = () => {
      sandbox.restore(9);
    };
    await expect(sandbox.restart({ whileDown })).rejects.toThrow(RangeError);
    expect(await isUp(sandbox)).toBe(false);
    await sandbox.restart();
    expect(await isUp(sandbox)).toBe(true);
  });

  it('closes idle connections and those in the middle of a request', async () => {
    const sandbox = await sandboxWith();
    const sockets = ['', 'POST /v2/updates HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{'].map((text) => {
      const socket = connectTo(sandbox).on('error', () => undefined);
      socket.write(text);
      return socket;
    });
    await until(() => sandbox.requests.length > 0);
    const closed = Promise.all(sockets.map((socket) => once(socket.resume(), 'close')));
    await sandbox.restart();
    await closed;
    expect(sandbox.requests[0]?.aborted).toBe(false);
  });

  it('keeps ledger, parties, deduplication, faults and the log', async () => {
    const sandbox = await sandboxWith();
    const eve = sandbox.externalParty('eve');
    const execution = await prepareAndSign(sandbox, eve);
    expect((await execute(sandbox, execution)).status).toBe(200);
    sandbox.fault({ kind: 'status', status: 503 }, { path: endPath });
    await sandbox.restart();
    expect(sandbox.parties).toContain(eve.party);
    expect(await execute(sandbox, execution)).toMatchObject(failure(409, 'DUPLICATE_COMMAND'));
    expect((await get(sandbox)).status).toBe(503);
    // the duplicate takes an offset
    expect((await get(sandbox)).text).toBe('{"offset":2}');
    expect(sandbox.requests.map(({ status }) => status)).toEqual([200, 200, 409, 503, 200]);
  });

  it('is down for the given time, and its ledger changes meanwhile', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith();
    const back = sandbox.restart({ downMs: 500 });
    await clock.hasTimer();
    await clock.advance(499);
    expect(await isUp(sandbox)).toBe(false);
    sandbox.append(creation());
    await clock.advance(1);
    await back;
    expect((await get(sandbox)).text).toBe('{"offset":1}');
  });

  it('waits for the restart before it', async () => {
    const sandbox = await sandboxWith();
    const ups: string[] = [];
    const first = sandbox.restart({ downMs: 40, maxListElements: 5 }).then(() => ups.push('first'));
    const second = sandbox.restart({ downMs: 20, maxListElements: 1 }).then(() => ups.push('second'));
    await Promise.all([first, second]);
    expect(ups).toEqual(['first', 'second']);
    sandbox.append(...creationsOf(2));
    expect((await readUpdates(sandbox)).status).toBe(413);
  });

  it('fails if the port is taken meanwhile, and can be repeated', async () => {
    const clock = stopClock();
    const sandbox = await sandboxWith();
    const back = expect(sandbox.restart({ downMs: 500 })).rejects.toThrow('EADDRINUSE');
    await clock.hasTimer();
    const other = createServer().listen(Number(new URL(sandbox.url).port), '127.0.0.1');
    await once(other, 'listening');
    await clock.advance(500);
    await back;
    await new Promise((resolve) => other.close(resolve));
    expect(await isUp(sandbox)).toBe(false);
    await sandbox.restart();
    expect((await get(sandbox)).status).toBe(200);
  });

  it('stops waiting when the sandbox is closed, and leaves no server running', async () => {
    const clock = stopClock();
    const sandbox = await startSandbox();
    const backs = [sandbox.restart({ downMs: 600_000 }), sandbox.restart({ downMs: 600_000 })];
    await clock.hasTimer();
    await sandbox.close();
    await Promise.all(backs);
    expect(jest.getTimerCount()).toBe(0);
    expect(await isUp(sandbox)).toBe(false);
  });

  it.each([0, 1, 2, 3])('is cancelled by a close %i turns of the event loop later', async (turns) => {
    const sandbox = await startSandbox();
    const back = sandbox.restart();
    for (let turn = 0; turn < turns; turn++) await nextTurn();
    await sandbox.close();
    expect(await isUp(sandbox)).toBe(false);
    await back;
    // a closed sandbox is not reopened
    await sandbox.restart();
    expect(await isUp(sandbox)).toBe(false);
  });

  it('is cancelled by a close while the port is being opened', async () => {
    const sandbox = await startSandbox();
    const opening = new Promise<void>((resolve) => {
      const listen = jest.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...args) {
        listen.mockRestore();
        this.listen(...args);
        resolve(sandbox.close());
        return this;
      });
    });
    await Promise.all([sandbox.restart(), opening]);
    expect(await isUp(sandbox)).toBe(false);
  });

  it('can be repeated, and requests work at once after each restart', async () => {
    const sandbox = await sandboxWith();
    for (let times = 1; times <= 20; times++) {
      await sandbox.restart();
      expect((await get(sandbox)).status).toBe(200);
    }
  });
});
