// npm start: a test ledger with traffic, and the built application. npm run dev: the ledger, and the application while you edit it
import { spawn } from 'node:child_process';
import process from 'node:process';
import { startSandbox } from 'canton-rx/sandbox';

const { PORT = '3000', SANDBOX_PORT = '7575' } = process.env;
const sandbox = await startSandbox({ port: Number(SANDBOX_PORT) });
sandbox.generate(100, { seed: 1 });
const traffic = setInterval(() => sandbox.generate(1, { seed: Date.now() }), 500);

const args = ['node_modules/next/dist/bin/next', process.argv[2] ?? 'start', '--hostname', '127.0.0.1', '--port', PORT];
const env = { ...process.env, LEDGER_URL: sandbox.url };
const next = spawn(process.execPath, args, { env, stdio: 'inherit' });

const stop = () => next.kill();
process.on('SIGINT', stop).on('SIGTERM', stop);
next.once('exit', () => {
  clearInterval(traffic);
  void sandbox.close();
});
