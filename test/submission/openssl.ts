import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether the openssl command is there. */
export const hasOpenssl = ((): boolean => {
  try {
    return execFileSync('openssl', ['version'], { encoding: 'utf8' }).startsWith('OpenSSL');
  } catch {
    return false;
  }
})();

/** Whether the openssl command finds a signature valid; throws what it prints otherwise. */
export function verifiedByOpenssl(pem: string, message: Uint8Array, signature: Uint8Array, hashes: boolean): string {
  const folder = mkdtempSync(join(tmpdir(), 'canton-rx-'));
  const file = (name: string, content: string | Uint8Array): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  try {
    const files = [
      ...['-inkey', file('key.pem', pem), '-in', file('message', message)],
      ...['-sigfile', file('signature', signature)],
    ];
    const digest = hashes ? ['-digest', 'sha256'] : [];
    return execFileSync('openssl', ['pkeyutl', '-verify', '-pubin', '-rawin', ...digest, ...files], {
      encoding: 'utf8',
    }).trim();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
