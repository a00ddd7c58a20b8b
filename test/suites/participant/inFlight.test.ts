import { afterAll, describe, expect, it } from '@jest/globals';
import { filter, firstValueFrom, lastValueFrom, map, toArray } from 'rxjs';
import { activeContracts, liveContracts } from '../../../src/contracts/index.js';
import { connect, Contracts, isWriting, party, token, url, user } from './writing.js';

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

/** Submits one half of a reassignment. */
function move(command: object): ReturnType<typeof post> {
  const eventFormat = { filtersByParty: { [party]: {} }, verbose: false };
  return post('/v2/commands/submit-and-wait-for-reassignment', {
    reassignmentCommands: {
      commandId: `canton-rx-suite-${crypto.randomUUID()}`,
      submitter: party,
      ...(user !== undefined && { userId: user }),
      commands: [{ command }],
    },
    eventFormat,
  });
}

/** Submits an unassignment. Returns the reassignment id. */
async function unassign(value: object): Promise<string> {
  const { status, json } = await move({ UnassignCommand: { value } });
  expect([status, json]).toEqual([200, expect.anything()]);
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
    const locationOf = async (contractId: string): Promise<string> => {
      const on$ = followed.byId$(contractId).pipe(
        map((contract) => contract?.location),
        filter((location) => location !== undefined),
        filter((location) => 'synchronizerId' in location),
      );
      return (await firstValueFrom(on$)).synchronizerId;
    };
    // in another order than that of the creations: a participant of 3.5 pairs the two halves wrongly
    const moves: object[] = [];
    for (const contractId of ids.toReversed()) {
      const from = await locationOf(contractId);
      const to = from === source ? target : source;
      const move = { source: from, target: to };
      moves.push({ ...move, reassignmentId: await unassign({ ...move, contractId }) });
    }
    const end = await firstValueFrom(connect().ledgerEnd());
    const expected = await liveAt(followed, end);
    const inFlight = { inFlight: { source: expect.any(String), target: expect.any(String) } };
    expect(expected).toEqual(ids.map((contractId) => [contractId, expect.anything(), inFlight, expect.anything()]));
    expect(await liveAt(liveContracts(connect(), { parties: [party] }), end)).toEqual(expected);
    // pages of one contract divide those in flight
    const entries$ = activeContracts(connect(), { parties: [party], activeAtOffset: end }, { maxSnapshotPageSize: 1 });
    const onPages = (await lastValueFrom(entries$.pipe(toArray()))).flatMap((entry) => {
      if (entry._tag !== 'IncompleteUnassigned' || !ids.includes(entry.unassignedEvent.contractId)) return [];
      const { createdEvent, unassignedEvent } = entry;
      const location = { inFlight: { source: unassignedEvent.source, target: unassignedEvent.target } };
      expect(unassignedEvent.contractId).toBe(createdEvent.contractId);
      return [[createdEvent.contractId, createdEvent.templateId, location, createdEvent.offset]];
    });
    const byOffset = (one: readonly unknown[], other: readonly unknown[]): number => Number(one[3]) - Number(other[3]);
    expect(onPages.sort(byOffset)).toEqual(expected.sort(byOffset));
    // the participant itself may have assigned them meanwhile
    for (const value of moves) await move({ AssignCommand: { value } });
    for (const contractId of ids) await locationOf(contractId);
    stop.unsubscribe();
  }, 240_000);
});
