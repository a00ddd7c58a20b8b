import type { FaultBody } from './FaultBody.js';
import type { FaultCommitLate } from './FaultCommitLate.js';
import type { FaultDelay } from './FaultDelay.js';
import type { FaultHang } from './FaultHang.js';
import type { FaultLie } from './FaultLie.js';
import type { FaultReset } from './FaultReset.js';
import type { FaultRewrite } from './FaultRewrite.js';
import type { FaultSocket } from './FaultSocket.js';
import type { FaultStall } from './FaultStall.js';
import type { FaultStatus } from './FaultStatus.js';
import type { FaultTruncate } from './FaultTruncate.js';

/** Something that goes wrong with one request, see {@link Sandbox.fault}. */
export type Fault =
  | FaultStatus
  | FaultReset
  | FaultTruncate
  | FaultStall
  | FaultHang
  | FaultDelay
  | FaultBody
  | FaultRewrite
  | FaultLie
  | FaultCommitLate
  | FaultSocket;
