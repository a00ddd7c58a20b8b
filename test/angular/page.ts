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
import { scripted } from '../helpers/scripted.js';
import { VirtualLedger } from '../helpers/virtualLedger.js';
import { fill } from '../helpers/world.js';

/** What a page shows, and whether its feed still asks once the application is gone. */
export interface Seen {
  readonly shown: string | undefined;
  readonly open: number;
  readonly openAfterwards: number;
}

const latest$ = () =>
  injectLedger()
    .updates({ beginExclusive: 0 })
    .pipe(map(({ offset }) => `offset ${offset}`));

class WithPipe {
  readonly latest$ = latest$();
}
// as its decorator does it
Component({ selector: 'app-root', template: '{{ latest$ | async }}', imports: [AsyncPipe] })(WithPipe);

class WithSignal {
  readonly latest = toSignal(latest$());
}
Component({ selector: 'app-root', template: '{{ latest() }}' })(WithSignal);

async function shown(root: Type<unknown>, detection: EnvironmentProviders): Promise<Seen> {
  const ledger = new VirtualLedger();
  fill(ledger, 1, 2, 3);
  const service = scripted((asked) =>
    'stream_idle_timeout_ms' in asked.query ? NEVER : ledger.answer(asked).pipe(take(1), delay(5)),
  );
  const element = document.body.appendChild(document.createElement('app-root'));
  const { port } = service;
  const app = await bootstrapApplication(root, {
    providers: [detection, provideLedger({ baseUrl: 'http://ledger.example', port })],
  });
  while (!element.textContent.includes('offset 3')) await new Promise(requestAnimationFrame);
  // resolves, although the feed goes on
  await app.injector.get(ApplicationRef).whenStable();
  const { open } = service;
  const { textContent } = element;
  app.destroy();
  return { shown: textContent, open, openAfterwards: service.open };
}

const seen = {
  pipeInZone: await shown(WithPipe, provideZoneChangeDetection()),
  signalInZone: await shown(WithSignal, provideZoneChangeDetection()),
  pipeZoneless: await shown(WithPipe, provideZonelessChangeDetection()),
  signalZoneless: await shown(WithSignal, provideZonelessChangeDetection()),
};
Object.assign(globalThis, { seen });
