import { asyncScheduler } from 'rxjs';
import type { Learned } from './Service.js';

/** Whether a socket has ended so recently that no feed opens another; not for longer where the clock has been set back. */
export const leavesSocketsAlone = ({ socketEndedAt, noSocketForMs }: Learned): boolean =>
  Math.abs(asyncScheduler.now() - socketEndedAt) < noSocketForMs;
