#!/usr/bin/env node
import process from 'node:process';
import { lastValueFrom } from 'rxjs';
import { run } from './run.js';

const { env, stdout, stderr } = process;

// no process.exit: what is still in stdout's buffer would be lost
process.exitCode = await lastValueFrom(run({ argv: process.argv.slice(2), env, stdout, stderr, signals: process }), {
  defaultValue: 1,
});
