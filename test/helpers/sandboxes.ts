import { afterEach } from '@jest/globals';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';

/** Starts sandboxes that end with the test that started them. To be called once, at the top of a test file. */
export function sandboxes(): (options?: SandboxOptions) => Promise<Sandbox> {
  const open: Sandbox[] = [];
  afterEach(async () => {
    await Promise.all(open.splice(0).map((sandbox) => sandbox.close()));
  });
  return async (options) => {
    const sandbox = await startSandbox(options);
    open.push(sandbox);
    return sandbox;
  };
}
