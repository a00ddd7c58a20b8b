// npm start: a sandbox ledger with traffic, and the explorer for it
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { startSandbox } from 'canton-rx/sandbox';
import { controlOf } from './server/control-of.mjs';
import { serveExplorer } from './server/serve-explorer.mjs';
import { trafficOn } from './server/traffic-on.mjs';

const folder = join(import.meta.dirname, 'dist');
if (!existsSync(join(folder, 'index.html'))) execFileSync('npm', ['run', 'build'], { stdio: 'inherit' });

const sandbox = await startSandbox({ cors: true, maxListElements: 1_000 });
sandbox.generate(2_000, { seed: Date.now() });
const traffic = trafficOn(sandbox, 5);
const settings = { baseUrl: sandbox.url, sandbox: true };
const control = controlOf(sandbox, traffic);
const port = Number(process.env.PORT ?? 4200);
const { server, url } = await serveExplorer({ folder, settings, control, port }).catch((error) => {
  if (error.code !== 'EADDRINUSE') throw error;
  console.error(`port ${port} is taken: choose another, such as PORT=${port + 1} npm start`);
  process.exit(1);
});
console.log(`ledger    ${sandbox.url}\nexplorer  ${url}`);

process.once('SIGINT', () => {
  traffic.stop();
  server.close();
  server.closeAllConnections();
  void sandbox.close();
});
