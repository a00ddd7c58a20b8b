import '@angular/compiler';
import 'zone.js';
import { AsyncPipe } from '@angular/common';
import {
  ApplicationRef,
  Component,
  type EnvironmentProviders,
  NgZone,
  provideZoneChangeDetection,
  provideZonelessChangeDetection,
  signal,
  type Type,
} from '@angular/core';
import { toSignal } from '@angular/core/rxjs-interop';
import { bootstrapApplication } from '@angular/platform-browser';
import { BehaviorSubject, concatMap, delay, filter, map, NEVER, take } from 'rxjs';
import { injectContracts, injectLedger, provideLedger } from '../../src/angular/index.js';
import { archive, create, marbles } from '../contracts/joinSupport.js';
import { scriptedService } from '../helpers/scripted.js';
import { contractsWorld } from '../helpers/virtualContracts.js';
import { VirtualLedger } from '../helpers/virtualLedger.js';
import { fill, updateFormat } from '../helpers/world.js';

/** The text of a page, and the open requests of its feed before and after the application is destroyed. */
interface ShownFeed {
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

async function showFeed(root: Type<unknown>, detection: EnvironmentProviders): Promise<ShownFeed> {
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

/** What a page shows, one after the other, and what is left when the application is destroyed. */
interface ShownContracts {
  readonly texts: readonly string[];
  /** Whether the callbacks of requests ran within Angular's zone. */
  readonly isRequestedInZone: boolean;
  readonly open: number;
  readonly openAfterDestroy: number;
}

const [alice, bob] = ['alice::1220ab', 'bob::1220ab'];

class Marbles {
  readonly party = signal<string | undefined>(undefined);
  readonly marbles = injectContracts(
    () => {
      const party = this.party();
      return party === undefined ? undefined : { types: marbles.types, parties: [party] };
    },
    { compare: (a, b) => a.contractId.localeCompare(b.contractId) },
  );
}
// applies the decorator without a compiler
Component({
  selector: 'app-root',
  template: `
    {{ marbles.status() }}
    @if (marbles.hasValue()) {
      @for (marble of marbles.value(); track marble.contractId) {
        {{ marble.contractId }}={{ marble.payload?.color }}
      } @empty {
        none
      }
    }
  `,
})(Marbles);

async function showContracts(detection: EnvironmentProviders): Promise<ShownContracts> {
  const { participant, service } = contractsWorld({ latencyMs: 5 });
  participant.append(create(1, 'x'), create(2, 'w'));
  const isOpen$ = new BehaviorSubject(false);
  let isRequestedInZone = false;
  const element = document.body.appendChild(document.createElement('app-root'));
  const app = await bootstrapApplication(Marbles, {
    providers: [
      detection,
      provideLedger({
        baseUrl: 'http://ledger.example',
        port: (request) => {
          isRequestedInZone ||= NgZone.isInAngularZone();
          return isOpen$.pipe(
            filter(Boolean),
            take(1),
            concatMap(() => service.port(request)),
          );
        },
      }),
    ],
  });
  const texts: string[] = [];
  const shows = async (expected: string): Promise<void> => {
    const text = (): string => element.textContent.replaceAll(/\s+/g, ' ').trim();
    const end = performance.now() + 10_000;
    while (text() !== expected && performance.now() < end) await new Promise(requestAnimationFrame);
    texts.push(text());
  };
  const { party } = app.components[0]?.instance as Marbles;
  await shows('idle');
  party.set(alice);
  await shows('loading');
  isOpen$.next(true);
  await shows('resolved w=black x=red');
  participant.append(archive(3, 'w'), create(4, 'a'));
  await shows('resolved a=green x=red');
  // resolves although the view goes on
  await app.injector.get(ApplicationRef).whenStable();
  isOpen$.next(false);
  party.set(bob);
  await shows('loading');
  isOpen$.next(true);
  await shows('resolved a=green x=red');
  participant.append(archive(5, 'a'), archive(6, 'x'));
  await shows('resolved none');
  const { open } = service;
  app.destroy();
  return { texts, isRequestedInZone, open, openAfterDestroy: service.open };
}

/** What the page shows, with zone.js and without. */
export interface Seen {
  readonly feeds: readonly ShownFeed[];
  readonly contracts: readonly ShownContracts[];
}

const detections = [provideZoneChangeDetection(), provideZonelessChangeDetection()];
const seen: { [K in keyof Seen]: Seen[K][number][] } = { feeds: [], contracts: [] };
for (const detection of detections) {
  seen.feeds.push(await showFeed(WithPipe, detection), await showFeed(WithSignal, detection));
  seen.contracts.push(await showContracts(detection));
}
Object.assign(globalThis, { seen });
