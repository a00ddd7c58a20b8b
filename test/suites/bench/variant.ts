import process from 'node:process';
import type { Job } from './run.js';
import { variants } from './variants/index.js';

/** Measures one variant once: the whole of this process. */
process.on('disconnect', () => process.exit(1));
const { variant, load } = JSON.parse(process.argv[2] ?? '') as Job;
const { measure } = await variants[variant]();
const outcome = await measure(load);
process.send?.(outcome, () => process.exit());
