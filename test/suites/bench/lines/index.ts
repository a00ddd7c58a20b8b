import { type Load, plainLoad } from '../Load.js';
import { install, official, openapi, type Peer } from '../peers.js';
import { sideBySide, speedRatios } from '../processes.js';
import type { Goal, Line, Row } from '../report.js';
import type { VariantName } from '../variant.js';
import { withServer } from '../withServer.js';
import { automation } from './automation.js';
import { catchUps, readAhead, sparse, throughput } from './catchUp.js';
import { contractChanges, contractsForReaders } from './contractChanges.js';
import { decode, operators, startup } from './decode.js';
import { idle, live, steady } from './follow.js';
import { hostile } from './hostile.js';
import { nats } from './nats.js';
import { postgres, processing } from './process.js';
import { projection } from './projection.js';
import { snapshot } from './snapshot.js';
import { submit } from './submit.js';

interface Compared {
  readonly peer: Peer;
  readonly variant: VariantName;
  readonly figure: string;
  readonly goal?: Goal;
}

const compared: readonly Compared[] = [
  {
    peer: official,
    variant: 'peerOfficial',
    figure: 'the feed / @canton-network/core-ledger-client 1.8.0, which validates nothing',
    goal: { atLeast: 1.1 },
  },
  { peer: openapi, variant: 'peerZod', figure: 'the feed / openapi-fetch and zod 4', goal: { atLeast: 1.1 } },
  { peer: openapi, variant: 'peerOpenapi', figure: 'the feed / openapi-fetch, which validates nothing' },
];

async function rowsOf({ peer, variant, figure, goal }: Compared, sets: number, load: Load): Promise<readonly Row[]> {
  const row = { id: variant, figure };
  const overUndici = { id: `${variant}-undici`, figure: `${figure}; over undici`, ...(goal !== undefined && { goal }) };
  try {
    await install(peer);
    const { theirs, ours, undici } = await sideBySide(sets, {
      theirs: { variant, load },
      ours: { variant: 'feed', load },
      undici: { variant: 'feed', load: { ...load, port: 'undici' } },
    });
    return [
      { ...row, ratios: speedRatios(ours, theirs) },
      { ...overUndici, ratios: speedRatios(undici, theirs) },
    ];
  } catch (error) {
    const [reason = ''] = String(error).split('\n');
    return [{ ...row, ratios: [], note: `not measured: ${reason.slice(0, 80)}` }];
  }
}

/** Other clients of the same interface, installed on demand. */
export const peers: Line = {
  id: 'peers',
  about: 'other clients',
  isOnDemand: true,
  measure: ({ sets, scale }) => {
    const count = 200_000 * scale;
    return withServer({ kind: 'tx', count, step: 1, roundTripMs: 0 }, async ({ url }) => {
      const rows: Row[] = [];
      for (const each of compared) rows.push(...(await rowsOf(each, sets, { ...plainLoad, url, count })));
      return rows;
    });
  },
};

/** All lines, in the order of the table. */
export const lines: readonly Line[] = [
  decode,
  hostile,
  throughput,
  ...catchUps,
  sparse,
  live,
  readAhead,
  steady,
  snapshot,
  contractChanges,
  contractsForReaders,
  idle,
  operators,
  startup,
  submit,
  automation,
  processing,
  postgres,
  projection,
  nats,
  peers,
];
