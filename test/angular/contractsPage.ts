import '@angular/compiler';
import 'zone.js';
import {
  ApplicationRef,
  Component,
  type EnvironmentProviders,
  NgZone,
  provideZoneChangeDetection,
  provideZonelessChangeDetection,
  signal,
} from '@angular/core';
import { bootstrapApplication } from '@angular/platform-browser';
import { BehaviorSubject, concatMap, filter, take } from 'rxjs';
import { injectContracts, provideLedger } from '../../src/angular/index.js';
import { archive, create, marbles } from '../contracts/joinSupport.js';
import { contractsWorld } from '../helpers/virtualContracts.js';

/** What a page shows, one after the other, and what is left when the application is destroyed. */
export interface ShownContracts {
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

async function show(detection: EnvironmentProviders): Promise<ShownContracts> {
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

const seen = {
  inZone: await show(provideZoneChangeDetection()),
  zoneless: await show(provideZonelessChangeDetection()),
};
Object.assign(globalThis, { seen });
