import { randomUUID } from 'node:crypto';
import * as t from 'io-ts';
import { catchError, concat, concatMap, defer, from, map, type Observable, of, toArray } from 'rxjs';
import type { Connection } from '../Connection.js';
import { decodeJson, probe, type ProbeResponse } from '../participant.js';
import { releaseIn } from './service.js';
import { type Facts, isAbsent, readingRows, type Row, statusText } from './conformanceRows.js';
import { type Basics, type Probe, updatesBody } from './Probe.js';

/** What a participant does with one request, as far as this ledger shows it. */
interface RowResult {
  readonly area: string;
  readonly what: string;
  readonly isNeeded: boolean;
  /** `unseen`: this ledger has nothing to show it with. */
  readonly result: 'served' | 'differs' | 'absent' | 'unseen';
  /** What differs, without ids and texts of the ledger. */
  readonly detail?: string;
}

/** How a participant conforms to what the library knows of the service. */
interface Conformance {
  readonly release?: string;
  readonly rows: readonly RowResult[];
  readonly exitCode: number;
}

/** How many of the last offsets are read as a sample. */
const sampleOffsets = 200;

/** Sends the request of each row, one at a time. Writes nothing, unless there is a party to write as. */
export function readConformance(
  target: Probe,
  basics: Basics,
  writeAs: WriteOptions | undefined,
): Observable<Conformance> {
  const { connection } = target;
  const release = 'response' in basics.version ? releaseIn(basics.version.response) : undefined;
  return readFacts(target, basics).pipe(
    concatMap((facts) =>
      concat(
        from(readingRows).pipe(concatMap((row) => ask(connection, row, facts))),
        writeAs === undefined ? [] : writingRows(connection, facts, writeAs),
      ),
    ),
    toArray(),
    map((rows) => ({
      // a text of the participant, in a table that people paste
      ...(release !== undefined && { release: release.replace(/[^\w.+-]/g, '').slice(0, 40) }),
      rows,
      exitCode: rows.every(({ isNeeded, result }) => !isNeeded || result === 'served') ? 0 : 1,
    })),
  );
}

function readFacts({ connection, parties }: Probe, { endOffset = 0, prunedOffset = 0 }: Basics): Observable<Facts> {
  const range = { beginExclusive: Math.max(prunedOffset, endOffset - sampleOffsets), endInclusive: endOffset };
  const at = (path: string) =>
    probe(connection, { method: 'POST', path: `${path}?limit=200`, body: updatesBody(parties, range) });
  return at('/v2/updates/flats').pipe(
    concatMap((response) =>
      isAbsent(response)
        ? at('/v2/updates').pipe(map((other) => ({ path: '/v2/updates', response: other })))
        : of({ path: '/v2/updates/flats', response }),
    ),
    map(({ path, response }) => ({
      parties,
      end: endOffset,
      pruned: prunedOffset,
      updatesPath: path,
      sample: decodeJson(response.text, t.array(t.unknown)) ?? [],
    })),
  );
}

const ask = (connection: Connection, row: Row, facts: Facts): Observable<RowResult> =>
  defer(() => {
    const { area, what, isNeeded = false } = row;
    const request = row.request(facts);
    const known = { area, what, isNeeded };
    if (request === undefined) return of<RowResult>({ ...known, result: 'unseen' });
    return probe(connection, request).pipe(
      map((response): RowResult => ({ ...known, ...verdict(response, row.differs(response, facts)) })),
      catchError(() => of<RowResult>({ ...known, result: 'differs', detail: 'no answer in time' })),
    );
  });

function verdict(response: ProbeResponse, detail: string | undefined): Pick<RowResult, 'result' | 'detail'> {
  if (detail === undefined) return { result: 'served' };
  return isAbsent(response) ? { result: 'absent' } : { result: 'differs', detail };
}

/** Who writes, and in which package: every participant has that of the ping. */
interface WriteOptions {
  /** The party to write as. Default: a new one. */
  readonly party?: string | undefined;
  readonly user?: string | undefined;
}

const pingId = '#canton-builtin-admin-workflow-ping:Canton.Internal.Ping:Ping';

/** Commits a contract of a party, tries to commit it twice, and archives it. */
function writingRows(connection: Connection, facts: Facts, { party, user = '' }: WriteOptions): Observable<RowResult> {
  const post = (path: string, body: unknown) => probe(connection, { method: 'POST', path, body }, 30_000);
  const row = (what: string, response: ProbeResponse, isServed: boolean): RowResult => ({
    area: 'writing',
    what,
    isNeeded: false,
    ...verdict(response, isServed ? undefined : statusText(response.status, response.text)),
  });
  const allocated$ = post('/v2/parties', {
    partyIdHint: `canton-rx-${randomUUID().slice(0, 8)}`,
    identityProviderId: '',
  }).pipe(
    map((response) => {
      const its = decodeJson(response.text, Allocated)?.partyDetails.party;
      return { its, rows: [row('allocates a party', response, its !== undefined)] };
    }),
  );
  return (party === undefined ? allocated$ : of({ its: party, rows: [] })).pipe(
    concatMap(({ its, rows }) => (its === undefined ? from(rows) : concat(from(rows), writeAs(its)))),
  );

  function writeAs(owner: string): Observable<RowResult> {
    const commandId = `canton-rx-${randomUUID()}`;
    const submit = (id: string, command: unknown) =>
      post('/v2/commands/submit-and-wait-for-transaction', {
        commands: { commandId: id, userId: user, actAs: [owner], readAs: [], commands: [command] },
      });
    const create = {
      CreateCommand: { templateId: pingId, createArguments: { id: commandId, initiator: owner, responder: owner } },
    };
    return submit(commandId, create).pipe(
      concatMap((created) => {
        const { transaction } = decodeJson(created.text, Committed) ?? {};
        const contractId = transaction?.events[0]?.CreatedEvent?.contractId;
        const first = row('commits a submission of a hosted party', created, contractId !== undefined);
        if (transaction === undefined || contractId === undefined) return of(first);
        const archive = { ExerciseCommand: { templateId: pingId, contractId, choice: 'Archive', choiceArgument: {} } };
        const range = { beginExclusive: transaction.offset - 1, endInclusive: transaction.offset };
        return concat(
          of(first),
          submit(commandId, create).pipe(
            map((again) => row('commits a command id once', again, again.text.includes('DUPLICATE_COMMAND'))),
          ),
          post(`${facts.updatesPath}?limit=10`, updatesBody([owner], range)).pipe(
            map((read) =>
              row('shows the commit at its offset, by its update id', read, read.text.includes(transaction.updateId)),
            ),
          ),
          submit(`${commandId}-end`, archive).pipe(
            map((archived) => row('archives the contract', archived, archived.status === 200)),
          ),
        );
      }),
    );
  }
}

const Allocated = t.type({ partyDetails: t.type({ party: t.string }) });

const Committed = t.type({
  transaction: t.type({
    updateId: t.string,
    offset: t.number,
    events: t.array(t.partial({ CreatedEvent: t.type({ contractId: t.string }) })),
  }),
});

/** Writes the rows as a table of Markdown. */
export function formatConformance({ release, rows }: Conformance, about: string): string {
  const lines = rows.map(
    ({ area, what, isNeeded, result, detail = '' }) =>
      `| ${area} | ${what}${isNeeded ? ' (needed)' : ''} | ${result} | ${detail} |`,
  );
  const count = (wanted: RowResult['result']): number => rows.filter(({ result }) => result === wanted).length;
  return [
    `# Conformance of a participant${release === undefined ? '' : ` ${release}`}`,
    '',
    `${about}. ${count('served')} served, ${count('differs')} differ, ${count('absent')} absent, ${count('unseen')} not seen on this ledger.`,
    '',
    '| Area | What | Result | Detail |',
    '| --- | --- | --- | --- |',
    ...lines,
    '',
  ].join('\n');
}
