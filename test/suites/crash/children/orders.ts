import process from 'node:process';
import type { Orders } from '../Orders.js';

/** What this process was told at its start. */
export const orders = JSON.parse(process.argv[2] ?? '') as Orders;
