import type { PreparedTransaction } from '@canton-network/core-ledger-proto';
import { latestMicros } from '../wire/latestMicros.js';
import { effectOf } from './effectOf.js';
import type { Prepared } from './Prepared.js';

/** Reads the message of a prepared transaction; throws where it is not of the form that the sandbox gives it. */
export function readPrepared({ transaction, metadata }: PreparedTransaction): Prepared {
  const [party, ...others] = metadata?.submitterInfo?.actAs ?? [];
  const [root, ...otherRoots] = transaction?.roots ?? [];
  const node = transaction?.nodes.find(({ nodeId }) => nodeId === root)?.versionedNode;
  if (metadata === undefined || party === undefined || others.length > 0) throw new TypeError('not one acting party');
  if (otherRoots.length > 0 || node?.oneofKind !== 'v1') throw new TypeError('not one root');
  const { synchronizerId, submitterInfo, preparationTime, minLedgerEffectiveTime, maxRecordTime } = metadata;
  return {
    commandId: submitterInfo?.commandId ?? '',
    party,
    synchronizerId,
    preparationTime: microsIn(preparationTime),
    minLedgerTime: minLedgerEffectiveTime === undefined ? undefined : microsIn(minLedgerEffectiveTime),
    maxRecordTime: maxRecordTime === undefined ? undefined : microsIn(maxRecordTime),
    effect: effectOf(node.v1),
  };
}

function microsIn(time: bigint): number {
  if (time > latestMicros) throw new RangeError('no such time');
  return Number(time);
}
