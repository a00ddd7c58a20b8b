import {
  acsDelta,
  contractType,
  create,
  createLedger,
  fingerprintOf,
  ofVariant,
  webCryptoSigner,
} from '../../../../src/index.js';
import { liveContracts } from '../../../../src/contracts/index.js';
import { remoteContracts, serverSentEventsResponse } from '../../../../src/sse/index.js';
import { webSocketTransport } from '../../../../src/ws/index.js';
import * as t from 'io-ts';
import { count, filter, firstValueFrom, lastValueFrom, map, merge, switchMap, take, timeout, zip } from 'rxjs';

/** The ledger that a program reads, and the party that it submits for. */
export interface World {
  readonly url: string;
  readonly party: string;
}

/** Each capability with `works`, or how it fails. */
export type Outcomes = Readonly<Record<string, string>>;

/** Tries capabilities one after the other. */
export async function tryAll(capabilities: Readonly<Record<string, () => Promise<unknown>>>): Promise<Outcomes> {
  const outcomes: [string, string][] = [];
  for (const [name, attempt] of Object.entries(capabilities)) {
    const outcome = await attempt().then(
      () => 'works',
      (error: unknown) => String(error),
    );
    outcomes.push([name, outcome]);
  }
  return Object.fromEntries(outcomes);
}

const updateFormat = acsDelta({ parties: 'any' });
const Asset = contractType('#sandbox-assets:Main:Asset', t.type({ owner: t.string, serial: t.string }));
const patience = { each: 30_000 };

/** What every runtime can: no file, no server. */
export const ofEveryRuntime = ({ url, party }: World): Readonly<Record<string, () => Promise<unknown>>> => {
  const submit = (serial: string, ledger = createLedger({ baseUrl: url })) =>
    ledger.submitAndWaitForTransaction({
      userId: 'app',
      actAs: [party],
      commands: [create(Asset, { ...{ owner: party, amount: '1.0', tag: null }, serial })],
    });
  return {
    feed: async () => {
      const ledger = createLedger({ baseUrl: url });
      const end = await firstValueFrom(ledger.ledgerEnd());
      const request = { beginExclusive: 0, endInclusive: end, updateFormat };
      const read = await lastValueFrom(ledger.updates(request).pipe(count(), timeout(patience)));
      if (read < 100) throw new Error(`${read} updates`);
    },
    'live view': async () => {
      const view = liveContracts(createLedger({ baseUrl: url }), { types: { asset: Asset }, parties: [party] });
      const serials$ = view
        .all$()
        .pipe(map((all) => all.flatMap((one) => (one._tag === 'Contract' ? one.payload.serial : []))));
      const seen = firstValueFrom(
        serials$.pipe(
          filter((serials) => serials.includes('41')),
          timeout(patience),
        ),
      );
      await lastValueFrom(submit('41'));
      await seen;
    },
    'server-sent events': async () => {
      const view = liveContracts(createLedger({ baseUrl: url }), { types: { asset: Asset }, parties: [party] });
      const respond = () => Promise.resolve(serverSentEventsResponse(view.changes$));
      const page = remoteContracts('http://app.example/contracts', { types: { asset: Asset } }, { fetch: respond });
      const [sent, received] = await firstValueFrom(
        zip(view.all$(), page.all$()).pipe(
          filter(([all]) => all.length > 0),
          timeout(patience),
        ),
      );
      if (sent.length !== received.length) throw new Error(`${received.length} of ${sent.length} contracts`);
    },
    submission: async () => {
      const { offset } = await lastValueFrom(submit('42').pipe(timeout(patience)));
      if (offset <= 0) throw new Error(`committed at ${offset}`);
    },
    signing: async () => {
      const key = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, ['sign', 'verify']);
      const signer = webCryptoSigner({ party: `alice::${await fingerprintOf(key.publicKey)}`, key });
      await signer.sign(new Uint8Array(32));
    },
    WebSocket: async () => {
      const ledger = createLedger({ baseUrl: url, transport: webSocketTransport() });
      const opened$ = ledger.diagnostics$.pipe(filter(({ _tag }) => _tag === 'SocketOpened'));
      const beginExclusive = await firstValueFrom(ledger.ledgerEnd());
      // what is committed when the socket is open comes through it
      const commit$ = opened$.pipe(
        take(1),
        switchMap(() => submit('43', ledger)),
        filter(() => false),
      );
      const pushed$ = ledger.updates({ beginExclusive, updateFormat }).pipe(ofVariant('Transaction'));
      await firstValueFrom(merge(commit$, pushed$).pipe(timeout(patience)));
    },
  };
};
