#!/usr/bin/env node
import process from 'node:process';
import { lastValueFrom } from 'rxjs';
import { run } from './run.js';

const { env, stdout, stderr } = process;

// not process.exit, which drops what is still in the buffer of stdout
process.exitCode = await lastValueFrom(run({ argv: process.argv.slice(2), env, stdout, stderr, signals: process }), {
  defaultValue: 1,
});
