import process from 'node:process';
import { lastValueFrom } from 'rxjs';
import { demo } from './demo/demo.js';

// `npm run demo`
process.exitCode = await lastValueFrom(demo(process.stdout), { defaultValue: 1 });
