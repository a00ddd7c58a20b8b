import type { Side } from './guide.js';

/** A program that prints what the `App` of the guide shows, until a task has come and gone. */
export const reactMain = `
  import { StrictMode } from 'react';
  import { create, type ReactTestRenderer } from 'react-test-renderer';
  import { App } from './App';

  console.error = () => undefined; // that the renderer is deprecated
  const textsIn = (tree: unknown): readonly string[] =>
    typeof tree === 'string' ? [tree] : [(tree as { children?: unknown } | null)?.children ?? tree ?? []].flat().flatMap(textsIn);

  const shown: string[] = [];
  const renderer: ReactTestRenderer = create(<StrictMode><App /></StrictMode>);
  const looking = setInterval(() => {
    const text = textsIn(renderer.toJSON()).join(', ');
    if (text === '' || text === shown.at(-1)) return;
    shown.push(text);
    console.log(text);
    if (shown.length < 4) return;
    clearInterval(looking);
    renderer.unmount();
    process.exit(); // the view is kept
  }, 2);
`;

/** A program that prints what the service of the guide holds, until a task has come and gone. */
export const angularMain = (side: Side): string => `
  import '@angular/compiler';
  import { DOCUMENT, ErrorHandler, NgModule, platformCore, provideZonelessChangeDetection, ɵINJECTOR_SCOPE as INJECTOR_SCOPE } from '@angular/core';
  import { getTestBed, TestBed, TestComponentRenderer } from '@angular/core/testing';
  import { TaskService } from './taskService';
  ${side === 'now' ? "import { LEDGER } from 'canton-rx/angular'; import { ledger } from './ledger';" : ''}

  class Empty {}
  NgModule({ providers: [ErrorHandler, TestComponentRenderer, { provide: INJECTOR_SCOPE, useValue: 'root' }] })(Empty);
  getTestBed().initTestEnvironment(Empty, platformCore());
  TestBed.configureTestingModule({
    providers: [
      provideZonelessChangeDetection(),
      { provide: DOCUMENT, useValue: { getElementById: () => null } }, // there is no page
      ${side === 'now' ? '{ provide: LEDGER, useValue: ledger }' : ''}],
  });
  const { ${side === 'now' ? 'tasks: { value: tasks, isLoading }' : 'tasks, isLoading'} } = TestBed.inject(TaskService);

  const shown: string[] = [];
  const looking = setInterval(() => {
    const text = tasks().map(({ payload }) => payload?.title).join(', ');
    if (isLoading() || text === shown.at(-1)) return;
    shown.push(text);
    console.log(text);
    if (shown.length < 3) return;
    clearInterval(looking);
    TestBed.resetTestingModule();
  }, 2);
`;

/** A module with a signer for a party. */
export async function signerModule(party: string, { privateKey, publicKey }: CryptoKeyPair): Promise<string> {
  const [own, open] = await Promise.all([privateKey, publicKey].map((key) => crypto.subtle.exportKey('jwk', key)));
  return `
    import { webCryptoSigner } from 'canton-rx';
    const read = (jwk: JsonWebKey, use: KeyUsage) =>
      crypto.subtle.importKey('jwk', jwk, { name: 'ECDSA', namedCurve: 'P-256' }, true, [use]);
    const key = {
      privateKey: await read(${JSON.stringify(own)}, 'sign'),
      publicKey: await read(${JSON.stringify(open)}, 'verify'),
    };
    export const signer = webCryptoSigner({ party: '${party}', key });
  `;
}
