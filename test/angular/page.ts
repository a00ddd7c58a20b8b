import '@angular/compiler';
import 'zone.js';
import { AsyncPipe } from '@angular/common';
import {
  ApplicationRef,
  Component,
  provideZoneChangeDetection,
  provideZonelessChangeDetection,
  type EnvironmentProviders,
  type Type,
} from '@angular/core';
import { toSignal } from '@angular/core/rxjs-interop';
import { bootstrapApplication } from '@angular/platform-browser';
import { delay, map, NEVER, take } from 'rxjs';
import { injectLedger, provideLedger } from '../../src/angular/index.js';
import { scriptedService } from '../helpers/scripted.js';
import { VirtualLedger } from '../helpers/virtualLedger.js';
import { fill, updateFormat } from '../helpers/world.js';

/** The text of a page, and the open requests of its feed before and after the application is destroyed. */
export interface Shown {
  readonly shown: string | undefined;
  readonly open: number;
  readonly openAfterDestroy: number;
}

const latest$ = () =>
  injectLedger()
    .updates({ beginExclusive: 0, updateFormat })
    .pipe(map(({ offset }) => `offset ${offset}`));

class WithPipe {
  readonly latest$ = latest$();
}
// applies the decorator without a compiler
Component({ selector: 'app-root', template: '{{ latest$ | async }}', imports: [AsyncPipe] })(WithPipe);

class WithSignal {
  readonly latest = toSignal(latest$());
}
Component({ selector: 'app-root', template: '{{ latest() }}' })(WithSignal);

async function show(root: Type<unknown>, detection: EnvironmentProviders): Promise<Shown> {
  const ledger = new VirtualLedger();
  fill(ledger, 1, 2, 3);
  const service = scriptedService((request) =>
    'stream_idle_timeout_ms' in request.query ? NEVER : ledger.reply(request).pipe(take(1), delay(5)),
  );
  const element = document.body.appendChild(document.createElement('app-root'));
  const { port } = service;
  const app = await bootstrapApplication(root, {
    providers: [detection, provideLedger({ baseUrl: 'http://ledger.example', port })],
  });
  while (!element.textContent.includes('offset 3')) await new Promise(requestAnimationFrame);
  // resolves although the feed continues
  await app.injector.get(ApplicationRef).whenStable();
  const { open } = service;
  const { textContent } = element;
  app.destroy();
  return { shown: textContent, open, openAfterDestroy: service.open };
}

const seen = {
  pipeInZone: await show(WithPipe, provideZoneChangeDetection()),
  signalInZone: await show(WithSignal, provideZoneChangeDetection()),
  pipeZoneless: await show(WithPipe, provideZonelessChangeDetection()),
  signalZoneless: await show(WithSignal, provideZonelessChangeDetection()),
};
Object.assign(globalThis, { seen });
