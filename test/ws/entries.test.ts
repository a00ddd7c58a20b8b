import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { expectTypeOf } from 'expect-type';
import { EMPTY, lastValueFrom, take, toArray } from 'rxjs';
import { ledgerEffects } from '../../src/codecs/UpdateFormat.js';
import { createLedger } from '../../src/ledger/createLedger.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import * as browser from '../../src/ws/browser.js';
import * as node from '../../src/ws/index.js';

const root = import.meta.dirname;

/** The code of a program for the browser that imports a name, and the packages that it leaves out. */
async function bundle(name: string, module: string): Promise<{ text: string; imports: readonly string[] }> {
  const { outputFiles, metafile } = await build({
    stdin: { contents: `import { ${name} } from '../../src/${module}.js'; console.log(${name});`, resolveDir: root },
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    external: ['ws'],
  });
  const imports = Object.values(metafile.outputs).flatMap((output) => output.imports.map(({ path }) => path));
  return { text: outputFiles.map(({ text }) => text).join(''), imports };
}

describe('the entries of canton-rx/ws', () => {
  it('have the same names and types for Node.js and for browsers', () => {
    expect(Object.keys(browser).sort()).toEqual(Object.keys(node).sort());
    expectTypeOf<typeof browser>().toEqualTypeOf<typeof node>();
  });

  it('need the package ws in Node.js alone', async () => {
    expect((await bundle('webSocketTransport', 'ws/index')).imports).toEqual(['ws']);
    const { text, imports } = await bundle('webSocketTransport', 'ws/browser');
    expect(imports).toEqual([]);
    expect(text).toContain('new WebSocket(');
  });

  it('check the options in Node.js', () => {
    expect(() => node.webSocketTransport({ pingEveryMs: 0 })).toThrow(TypeError);
    expect(() => node.webSocketTransport({ port: () => EMPTY })).not.toThrow();
  });
});

describe('a ledger without a transport', () => {
  it('has no trace of WebSockets', async () => {
    const { text } = await bundle('createLedger', 'index');
    expect(text).toContain('/v2/updates');
    expect(text).not.toContain('daml.ws.auth');
    expect(text).not.toMatch(/websocket/i);
  });
});

const itWithPlatformSockets = 'WebSocket' in globalThis ? it : it.skip;

describe("the platform's sockets in Node.js", () => {
  let sandbox: Sandbox;
  beforeEach(async () => {
    sandbox = await startSandbox();
    sandbox.generate(3);
  });
  afterEach(() => sandbox.close());

  itWithPlatformSockets('bring updates in place of the package ws', async () => {
    const transport = node.webSocketTransport({ port: node.platformSocketPort() });
    const ledger = createLedger({ baseUrl: sandbox.url, token: 'abc', transport });
    const subscription = ledger.diagnostics$.subscribe(({ _tag }) => {
      if (_tag === 'SocketOpened') sandbox.generate(2);
    });
    const request = { beginExclusive: sandbox.ledgerEnd, updateFormat: ledgerEffects({ parties: 'any' }) };
    await lastValueFrom(ledger.updates(request, { idleTimeoutMs: 50 }).pipe(take(2), toArray()));
    subscription.unsubscribe();
    expect(sandbox.requests.some(({ status }) => status === 101)).toBe(true);
  });
});
