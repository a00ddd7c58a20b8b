#!/usr/bin/env node
import process from 'node:process';
import { infoFor } from './help.js';

const { env, stdout, stderr } = process;
const argv = process.argv.slice(2);
const info = infoFor(argv);

if (info === undefined) {
  // loaded on demand: help and version start without RxJS and the library
  const [{ lastValueFrom }, { run }] = await Promise.all([import('rxjs'), import('./run.js')]);
  // not process.exit, which drops what is still in the buffer of stdout
  process.exitCode = await lastValueFrom(run({ argv, env, stdout, stderr, signals: process }), { defaultValue: 1 });
} else {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // a reader that closes the pipe is not a failure
    if (error.code === 'EPIPE') return;
    stderr.write(`canton-rx: cannot write to stdout: ${error.message}\n`);
    process.exitCode = 1;
  });
  stdout.write(info);
}
