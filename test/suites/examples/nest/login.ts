import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import process from 'node:process';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

/** The identity provider of the example. */
export interface Login {
  readonly issuer: string;
  /** Logs a user in, and returns the access token for an audience. */
  readonly token: (user: string, audience?: string) => Promise<string>;
  readonly close: () => Promise<void>;
}

/** Starts the identity provider of the example. Its tokens are valid for a time. */
export async function startLogin(folder: string, tokenSeconds = 600, port = 0): Promise<Login> {
  const env = { PATH: process.env['PATH'], LOGIN_PORT: String(port), TOKEN_SECONDS: String(tokenSeconds) };
  // it warns that it is not for production
  const provider = spawn(process.execPath, ['login.mjs'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] });
  let issuer: string | undefined;
  for await (const line of createInterface(provider.stdout)) {
    issuer = /^an identity provider at (\S+);/.exec(line)?.[1];
    if (issuer !== undefined) break;
  }
  if (issuer === undefined) throw new Error('the identity provider has not started');
  const found = issuer;
  return {
    issuer: found,
    token: async (user, audience) => {
      const args = ['token.mjs', user, ...(audience === undefined ? [] : [audience])];
      const options = { cwd: folder, env: { ...env, LOGIN_ISSUER: found } };
      return (await promisify(execFile)(process.execPath, args, options)).stdout.trim();
    },
    close: async () => {
      const over = once(provider, 'exit');
      if (provider.kill()) await over;
    },
  };
}
