import { expect, it } from '@jest/globals';
import { createLedger, type HttpPort, ledgerEffects, type Update } from '../../src/index.js';
import { createSandbox, type Sandbox } from '../../src/sandbox/index.js';
import { updateValue } from '../../src/sandbox/wire/WireUpdate.js';
import { observe, type Observed } from '../helpers/observe.js';
import { runVirtually } from '../helpers/virtualTime.js';

/** A participant, and another one of the same history or of none, both behind one address. */
const others: readonly (readonly [string, (first: Sandbox) => Sandbox])[] = [
  ['of the same history, at other offsets', (first) => createSandbox({ replicaOf: first, latencyMs: 20 })],
  [
    'of another ledger, with the same ID',
    ({ participantId }) => {
      const other = createSandbox({ participantId, latencyMs: 20 });
      other.generate(6_000, { seed: 2 });
      return other;
    },
  ],
];

it.each(others)('a feed that catches up emits nothing of a participant %s, which answers in turn', (_, otherThan) => {
  const first = createSandbox({ latencyMs: 20 });
  first.generate(5_000);
  const all = first.updates.map((update) => updateValue(update).updateId);
  const other = otherThan(first);
  let pages = 0;
  const port: HttpPort = (request) => {
    const isPage = request.url.includes('/v2/updates');
    // after the first pages, so that ranges are read ahead
    const isOther = isPage && (pages += 1) > 8 && pages % 2 === 0;
    return (isOther ? other : first).port(request);
  };
  const ledger = createLedger({ baseUrl: 'http://ledger.example', port, retry: { giveUpAfterMs: 60_000 } });
  const request = { beginExclusive: 0, endInclusive: first.ledgerEnd, updateFormat: ledgerEffects({ parties: 'any' }) };
  const feeds: Observed<Update>[] = [];
  runVirtually(() => {
    feeds.push(observe(ledger.updates(request)));
  });
  const ids = feeds.flatMap(({ values }) =>
    values.flatMap((update) => ('updateId' in update ? [update.updateId] : [])),
  );
  expect(ids.length).toBeGreaterThan(1_000);
  expect(ids).toEqual(all.slice(0, ids.length));
});

it.each([1, 20])(
  'a feed that catches up from one participant reads nothing twice, at a distance of %d ms',
  (latencyMs) => {
    const sandbox = createSandbox({ latencyMs });
    sandbox.generate(5_000);
    const ledger = createLedger({ baseUrl: 'http://ledger.example', port: sandbox.port });
    const begins: number[] = [];
    ledger.diagnostics$.subscribe((diagnostic) => {
      if (diagnostic._tag === 'PollSent') begins.push(diagnostic.beginExclusive);
    });
    const request = {
      beginExclusive: 0,
      endInclusive: sandbox.ledgerEnd,
      updateFormat: ledgerEffects({ parties: 'any' }),
    };
    const feeds: Observed<Update>[] = [];
    runVirtually(() => {
      feeds.push(observe(ledger.updates(request)));
    });
    expect(feeds.flatMap(({ values }) => values)).toHaveLength(5_000);
    expect(begins).toEqual([...new Set(begins)]);
  },
);
