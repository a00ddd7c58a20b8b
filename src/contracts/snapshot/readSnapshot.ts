import { defer, type Observable, throwError } from 'rxjs';
import type { ContractsSource } from '../ContractsSource.js';
import type { SnapshotPart, SnapshotRequest } from './SnapshotPart.js';

/**
 * Reads a snapshot: `SnapshotStarted`, entries, perhaps again from the beginning, and `SnapshotCompleted`, after which it
 * completes.
 */
export const readSnapshot = (source: ContractsSource, request: SnapshotRequest): Observable<SnapshotPart> =>
  defer(() => throwError(() => new Error(`not built: ${String(source)} ${String(request)}`)));
