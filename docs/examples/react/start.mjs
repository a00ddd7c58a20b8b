// npm start: a test ledger with traffic, the built page, and a server for the contracts of a user
import { randomUUID } from 'node:crypto';
import process from 'node:process';
import { startSandbox } from 'canton-rx/sandbox';
import { preview } from 'vite';
import { startContractsServer } from './contracts-server.mjs';

// the proxy of the page forwards its origin
const sandbox = await startSandbox({ port: Number(process.env.SANDBOX_PORT ?? 7575), cors: true });
const party = sandbox.hostedParty('desk');
sandbox.generate(1_000, { seed: 1 });
const traffic = setInterval(() => sandbox.generate(1, { seed: Date.now() }), 2_000);

const token = randomUUID();
const contracts = await startContractsServer(sandbox.url, new Map([[token, [party]]]));

process.env.LEDGER_URL = sandbox.url;
process.env.CONTRACTS_URL = contracts.url;
const server = await preview({ preview: { port: Number(process.env.PORT ?? 4173), host: '127.0.0.1' } });
const { port } = server.httpServer.address();
const address = `http://127.0.0.1:${port}/?party=${encodeURIComponent(party)}`;
console.log(`the contracts of a user: ${address}&from=server#${token}`);
console.log(`open ${address}; Ctrl-C ends it`);

const stop = async () => {
  clearInterval(traffic);
  contracts.close();
  await server.close();
  await sandbox.close();
};
process.once('SIGINT', stop).once('SIGTERM', stop);
