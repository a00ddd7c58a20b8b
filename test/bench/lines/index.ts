import type { Line } from '../Line.js';
import { catchUps } from './catchUp.js';
import { decode } from './decode.js';
import { throughput } from './throughput.js';

/** Everything that can be measured, in the order of the table. */
export const lines: readonly Line[] = [decode, throughput, ...catchUps];
