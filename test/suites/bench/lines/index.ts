import type { Line } from '../Line.js';
import { catchUps } from './catchUp.js';
import { decode } from './decode.js';
import { idle } from './idle.js';
import { live } from './live.js';
import { operators } from './operators.js';
import { peers } from './peers.js';
import { readAhead } from './readAhead.js';
import { sparse } from './sparse.js';
import { startup } from './startup.js';
import { steady } from './steady.js';
import { throughput } from './throughput.js';

/** Everything that can be measured, in the order of the table. */
export const lines: readonly Line[] = [
  decode,
  throughput,
  ...catchUps,
  sparse,
  live,
  readAhead,
  steady,
  idle,
  operators,
  startup,
  peers,
];
