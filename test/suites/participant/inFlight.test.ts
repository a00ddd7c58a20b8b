import { afterAll, describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom } from 'rxjs';
import { liveContracts } from '../../../src/contracts/index.js';
import { connect, Contracts, isWriting, party, token, url } from './writing.js';

/** Sends a request that the library does not have. */
async function post(path: string, body: object): Promise<{ readonly status: number; readonly json: unknown }> {
  const headers = {
    'content-type': 'application/json',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, json: await response.json() };
}

async function synchronizersOf(): Promise<readonly string[]> {
  const query = new URLSearchParams({ party });
  const response = await fetch(`${url}/v2/state/connected-synchronizers?${query.toString()}`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
  const { connectedSynchronizers } = (await response.json()) as {
    readonly connectedSynchronizers: readonly { readonly synchronizerId: string }[];
  };
  return connectedSynchronizers.map(({ synchronizerId }) => synchronizerId);
}

/** Submits one half of a reassignment. Returns the reassignment id. */
async function move(command: object): Promise<string> {
  const eventFormat = { filtersByParty: { [party]: {} }, verbose: false };
  const { status, json } = await post('/v2/commands/submit-and-wait-for-reassignment', {
    reassignmentCommands: {
      commandId: `canton-rx-suite-${crypto.randomUUID()}`,
      submitter: party,
      commands: [{ command }],
    },
    eventFormat,
  });
  expect({ status, json }).toMatchObject({ status: 200 });
  return /"reassignmentId":"([^"]+)"/.exec(JSON.stringify(json))?.[1] ?? '';
}

(isWriting ? describe : describe.skip)('contracts of a participant that are in flight', () => {
  const contracts = new Contracts();
  afterAll(() => contracts.archiveAll());

  it('are in a fresh view as they are in one that has followed them', async () => {
    const [source, target] = await synchronizersOf();
    if (source === undefined || target === undefined) {
      console.warn('not tested: the participant has only one synchronizer for the party');
      return;
    }
    const followed = liveContracts(connect(), { parties: [party] });
    const stop = followed.state$.subscribe();
    const ids = [await contracts.create(), await contracts.create(), await contracts.create()];
    const liveAt = async (view: typeof followed, offset: number) => {
      const state$ = view.state$.pipe(
        filter((state) => state.data === 'live'),
        filter((state) => state.offset >= offset),
      );
      const state = await firstValueFrom(state$);
      return ids.map((contractId) => {
        const contract = state.contracts.get(contractId);
        return [contractId, contract?.templateId, contract?.location, contract?.offset];
      });
    };
    // in another order than that of the creations: a participant of 3.5 pairs the two halves wrongly
    const moves: (readonly [string, string])[] = [];
    const locationOf = (contractId: string): Promise<string> =>
      firstValueFrom(followed.byId$(contractId).pipe(filter((contract) => contract !== undefined))).then(
        ({ location }) => ('synchronizerId' in location ? location.synchronizerId : ''),
      );
    for (const contractId of ids.toReversed()) {
      const from = await locationOf(contractId);
      const to = from === source ? target : source;
      moves.push([
        await move({ UnassignCommand: { value: { contractId, source: from, target: to } } }),
        `${from} ${to}`,
      ]);
    }
    const end = await firstValueFrom(connect().ledgerEnd());
    const fresh = await liveAt(liveContracts(connect(), { parties: [party] }), end);
    expect(fresh).toEqual(await liveAt(followed, end));
    expect(fresh.map(([contractId]) => contractId)).toEqual(ids);
    for (const [reassignmentId, path] of moves) {
      const [from, to] = path.split(' ');
      await move({ AssignCommand: { value: { reassignmentId, source: from, target: to } } });
    }
    stop.unsubscribe();
  }, 240_000);
});
