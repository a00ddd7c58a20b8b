import process from 'node:process';
import { performance } from 'node:perf_hooks';
import { undiciPort } from '../../src/undici/index.js';

/** Sends one request to the given address, and prints how many milliseconds after the response the process exits. */
undiciPort()({ method: 'GET', url: process.argv[2] ?? '', headers: {} }).subscribe(() => {
  const receivedAt = performance.now();
  process.on('exit', () => {
    process.stdout.write(`${performance.now() - receivedAt}`);
  });
});
