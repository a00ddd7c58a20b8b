import { expect, it } from '@jest/globals';
import type { Sandbox, SandboxRequest } from '../../../../src/sandbox/index.js';
import { describeWithPostgres } from '../../../helpers/postgresServer.js';
import { until } from '../../../helpers/time.js';
import { clientCanary, type Example, type Given, type Settings, statusOf } from './example.js';
import { readUpdates } from './expected.js';
import { openStream, type Stream } from './stream.js';

/** Tests of the stream of updates that the example serves. */
export function describeUpdateStream(example: Example): void {
  describeWithPostgres('the stream of updates', () => {
    const idsOf = ({ messages }: Stream): readonly number[] =>
      messages.filter(({ data }) => data !== undefined).map(({ id }) => Number(id));
    const reaches = ({ messages }: Stream, { ledgerEnd }: Sandbox): Promise<void> =>
      until(() => messages.at(-1)?.id === String(ledgerEnd));
    const offsetsAfter = async (sandbox: Sandbox, begin: number): Promise<readonly number[]> =>
      (await readUpdates(sandbox.url, sandbox.ledgerEnd, begin)).map(({ offset }) => offset);
    const given = (settings: Settings = {}): Promise<Given> => example.given(() => settings, 300);

    it('resumes by Last-Event-ID without loss or repetition, over a reconnection and a restart of the service', async () => {
      const { sandbox, one, settings } = await given();
      const begin = 100;
      const seen: number[] = [];
      const live = await openStream(`${one.url}/updates`);
      await until(() => live.messages.length > 0);
      const first = await openStream(`${one.url}/updates?after=${begin}`, { authorization: `Bearer ${clientCanary}` });
      expect(first.status).toBe(200);
      const end = sandbox.ledgerEnd;
      sandbox.generate(40);
      await reaches(first, sandbox);
      seen.push(...idsOf(first));
      first.close();
      // without a position, new updates only
      await reaches(live, sandbox);
      live.close();
      expect(idsOf(live)).toEqual(await offsetsAfter(sandbox, end));

      sandbox.generate(40);
      const second = await openStream(`${one.url}/updates`, { 'last-event-id': String(first.messages.at(-1)?.id) });
      await until(() => idsOf(second).length > 10);
      expect(await one.kill('SIGTERM')).toMatchObject({ code: 0 });
      await second.over;
      seen.push(...idsOf(second));

      sandbox.generate(1_500);
      const next = await example.start(settings);
      await next.ready();
      const third = await openStream(`${next.url}/updates`, { 'last-event-id': String(second.messages.at(-1)?.id) });
      sandbox.generate(10);
      await reaches(third, sandbox);
      seen.push(...idsOf(third));
      expect(seen).toEqual(await offsetsAfter(sandbox, begin));
    });

    it('has the selected updates, and reports its position where there are none', async () => {
      const { sandbox, one } = await given();
      const all = await readUpdates(sandbox.url, sandbox.ledgerEnd);
      const expectSelected = async (
        query: string,
        wanted: (update: (typeof all)[number]) => boolean,
      ): Promise<void> => {
        const selected = await openStream(`${one.url}/updates?after=0&${query}`);
        await reaches(selected, sandbox);
        selected.close();
        expect(idsOf(selected)).toEqual(all.filter(wanted).map(({ offset }) => offset));
        expect(idsOf(selected).length).toBeGreaterThan(0);
      };
      const [synchronizer = ''] = sandbox.synchronizers;
      await expectSelected('variant=Reassignment&variant=TopologyTransaction', ({ _tag }) => _tag !== 'Transaction');
      await expectSelected(
        `synchronizer=${encodeURIComponent(synchronizer)}`,
        (update) => 'synchronizerId' in update && update.synchronizerId === synchronizer,
      );
      await expectSelected('variant=Transaction&template=Tasks.Model:Task', (update) =>
        update._tag === 'Transaction' ? JSON.stringify(update.events).includes(':Tasks.Model:Task"') : false,
      );
      for (const bad of ['variant=Nonsense', 'template=Nonsense', 'after=-1']) {
        expect(await statusOf(one, `/updates?${bad}`)).toBe(400);
      }
      const badly = await fetch(`${one.url}/updates`, { headers: { 'last-event-id': 'nonsense' } });
      expect(badly.status).toBe(400);
    });

    it('reports a position that the ledger has pruned', async () => {
      const { sandbox, one } = await given();
      sandbox.prune(100);
      const late = await openStream(`${one.url}/updates?after=5`);
      await late.over;
      expect(late.messages.at(-1)).toEqual({
        id: '5',
        type: 'failure',
        data: JSON.stringify({ reason: 'PrunedError', earliestOffset: 100 }),
      });
    });

    it('makes a client for new updates reconnect while the ledger is down', async () => {
      const { sandbox, ledger, one } = await given();
      ledger.disconnect();
      const early = await openStream(`${one.url}/updates`);
      expect(early.status).toBe(200);
      await early.over;
      // a browser does not send an empty id
      const data = JSON.stringify({ reason: 'ConnectionError' });
      expect(early.messages).toEqual([{ id: '', type: 'failure', data }]);
      ledger.reconnect();
      const later = await openStream(`${one.url}/updates`);
      await until(() => later.messages.length > 0);
      expect(later.messages[0]).toMatchObject({ id: String(sandbox.ledgerEnd), data: undefined });
      later.close();
    });

    it('needs one request to the ledger for many clients, and none without clients', async () => {
      const { sandbox, one } = await given();
      const polls = (): number =>
        sandbox.requests.filter((request) => {
          const isPoll = request.path.startsWith('/v2/updates') && 'stream_idle_timeout_ms' in request.query;
          return isPoll && request.status === undefined && !request.aborted;
        }).length;
      // the projection's poll
      await until(() => polls() === 1);
      const clients = await Promise.all(Array.from({ length: 10 }, () => openStream(`${one.url}/updates`)));
      await until(() => polls() === 2);
      sandbox.generate(1);
      await until(() => clients.every((client) => idsOf(client).length === 1));
      await until(() => polls() === 2);
      for (const { close } of clients) close();
      await until(() => polls() === 1);
    });

    it('aborts the request of a client that disconnects while it catches up', async () => {
      // not by a timeout
      const { sandbox, one } = await given({ LEDGER_TIMEOUT_MS: '60000' });
      sandbox.fault({ kind: 'hang' }, { path: /^\/v2\/updates/, times: 100 });
      const late = await openStream(`${one.url}/updates?after=5`);
      const request = (): SandboxRequest | undefined =>
        sandbox.requests.find(({ body }) => isObject(body) && body['beginExclusive'] === 5);
      await until(() => request() !== undefined);
      expect(request()?.aborted).toBe(false);
      late.close();
      await until(() => request()?.aborted === true);
    });

    it('waits for a slow client, and buffers nothing that the ledger has', async () => {
      const { sandbox, one } = await given();
      const begin = sandbox.ledgerEnd;
      sandbox.generate(8_000);
      // more than Nest buffers for a client before it closes the connection
      expect(JSON.stringify(sandbox.updates).length).toBeGreaterThan(10_000_000);
      const pages = (): number =>
        sandbox.requests.filter(({ body }) => isObject(body) && 'endInclusive' in body).length;
      let whileSlow = 0;
      const slow = await openStream(`${one.url}/updates?after=${begin}`, {}, async () => {
        // meanwhile, the service reads everything for another client, and no more for this one than fits into its buffers
        const fast = await openStream(`${one.url}/updates?after=${begin}`);
        await reaches(fast, sandbox);
        fast.close();
        whileSlow = pages();
      });
      await reaches(slow, sandbox);
      slow.close();
      expect(pages()).toBeGreaterThan(whileSlow);
      expect(idsOf(slow)).toEqual(await offsetsAfter(sandbox, begin));
    });

    it('serves a client that lags by less than is kept without another request', async () => {
      const { sandbox, one } = await given();
      const begin = sandbox.ledgerEnd;
      const first = await openStream(`${one.url}/updates`);
      await until(() => first.messages.length > 0);
      sandbox.generate(700);
      await reaches(first, sandbox);
      const before = sandbox.requests.length;
      const second = await openStream(`${one.url}/updates?after=${begin}`);
      await reaches(second, sandbox);
      expect(idsOf(second)).toEqual(await offsetsAfter(sandbox, begin));
      expect(idsOf(first)).toEqual(idsOf(second));
      const requests = sandbox.requests
        .slice(before)
        .filter(({ body }) => isObject(body) && body['beginExclusive'] === begin);
      // the test's own request
      expect(requests.length).toBeLessThanOrEqual(1);
    });
  });
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
