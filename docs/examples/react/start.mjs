// npm start: a test ledger with traffic, and the built page
import process from 'node:process';
import { startSandbox } from 'canton-rx/sandbox';
import { preview } from 'vite';

// the proxy of the page forwards its origin
const sandbox = await startSandbox({ port: Number(process.env.SANDBOX_PORT ?? 7575), cors: true });
const party = sandbox.hostedParty('desk');
sandbox.generate(100, { seed: 1 });
const traffic = setInterval(() => sandbox.generate(1, { seed: Date.now() }), 2_000);

process.env.LEDGER_URL = sandbox.url;
const server = await preview({ preview: { port: Number(process.env.PORT ?? 4173), host: '127.0.0.1' } });
const { port } = server.httpServer.address();
console.log(`open http://127.0.0.1:${port}/?party=${encodeURIComponent(party)}; Ctrl-C ends it`);

const stop = async () => {
  clearInterval(traffic);
  await server.close();
  await sandbox.close();
};
process.once('SIGINT', stop).once('SIGTERM', stop);
