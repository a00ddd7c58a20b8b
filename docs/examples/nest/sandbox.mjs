// npm run sandbox: a test ledger with traffic, on which the service has a party with a key of its own
import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import process from 'node:process';
import { startSandbox } from 'canton-rx/sandbox';

const keyFile = 'party-key.pem';
if (!existsSync(keyFile)) {
  const { privateKey } = generateKeyPairSync('ed25519');
  writeFileSync(keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
}
const publicKey = createPublicKey(createPrivateKey(readFileSync(keyFile)));

const sandbox = await startSandbox({ port: Number(process.env.SANDBOX_PORT ?? 7575) });
// what an operator does with the tools of a participant
const { party } = sandbox.externalParty('service', { publicKey: publicKey.export({ type: 'spki', format: 'der' }) });
const hosted = sandbox.hostedParty('desk');
if (!existsSync('.env')) {
  const lines = [
    `PARTY=${party}`,
    `PARTY_KEY_FILE=${keyFile}`,
    '# or a party that the ledger signs for, without a key; it has another id when the sandbox starts again',
    `# PARTY=${hosted}`,
    '# LEDGER_USER=service',
    '# that of npm run login',
    'LOGIN_ISSUER=http://127.0.0.1:4000',
  ];
  writeFileSync('.env', `${lines.join('\n')}\n`);
}

sandbox.generate(300, { seed: Date.now() });
const traffic = setInterval(() => sandbox.generate(1, { seed: Date.now() }), 500);
console.log(`a ledger at ${sandbox.url} with ${sandbox.ledgerEnd} offsets, and 2 updates per second; Ctrl-C ends it`);

const stop = () => {
  clearInterval(traffic);
  void sandbox.close();
};
process.once('SIGINT', stop).once('SIGTERM', stop);
