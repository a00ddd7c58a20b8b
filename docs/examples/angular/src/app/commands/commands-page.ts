import { DecimalPipe } from '@angular/common';
import { Component, computed, ElementRef, inject, signal } from '@angular/core';
import { rxResource } from '@angular/core/rxjs-interop';
import type { Completion } from 'canton-rx';
import { injectLedger } from 'canton-rx/angular';
import { bufferTime, filter, map, scan, startWith, switchMap } from 'rxjs';
import { CONNECTION } from '../connection/connection';
import { Panels } from '../shell/panels';
import type { FocusablePage } from '../shell/pages';
import { timeOfDay } from '../shell/times';
import { LedgerNotices } from '../status/ledger-notices';
import { LedgerProblem } from '../status/ledger-problem';
import { Identities } from '../submit/identities';
import { Facets } from '../updates/facets';
import { longId, shortId } from '../updates/names';

/** How many commands are kept, and how many offsets before the ledger end are read. */
const kept = 500;
const readBack = 20_000;

/** The commands of a party and their outcomes, as the participant reports them: those of automations, too. */
@Component({
  selector: 'app-commands-page',
  imports: [DecimalPipe, LedgerNotices, LedgerProblem],
  templateUrl: './commands-page.html',
  styleUrl: './commands-page.css',
})
export class CommandsPage implements FocusablePage {
  readonly #ledger = injectLedger();
  readonly #host = inject<ElementRef<HTMLElement>>(ElementRef);
  readonly #facets = inject(Facets);
  readonly #identities = inject(Identities);
  readonly #named = inject(CONNECTION).parties;
  protected readonly panels = inject(Panels);
  protected readonly longId = longId;
  protected readonly shortId = shortId;
  protected readonly timeOfDay = timeOfDay;

  /** The parties to choose from: those that are read, or those of the updates. */
  protected readonly parties = computed(() => {
    const ours = this.#identities.all().map(({ party }) => party);
    return [...new Set([...ours, ...(this.#named === 'any' ? this.#facets.parties() : this.#named)])].sort();
  });
  readonly #chosen = signal('');
  protected readonly party = computed(() => this.#chosen() || (this.#identities.current()?.party ?? this.parties()[0]));
  // a ledger without tokens needs the name
  protected readonly userId = signal(inject(CONNECTION).token === undefined ? 'explorer' : '');
  protected readonly commands = rxResource({
    params: () => {
      const party = this.party();
      return party === undefined ? undefined : { party, userId: this.userId() };
    },
    stream: ({ params: { party, userId } }) =>
      this.#ledger.ledgerEnd().pipe(
        switchMap((end) =>
          this.#ledger.completions({
            parties: [party],
            beginExclusive: Math.max(0, end - readBack),
            ...(userId !== '' && { userId }),
          }),
        ),
        filter((element) => element._tag === 'Completion'),
        bufferTime(100),
        filter(({ length }) => length > 0),
        scan((all, more) => [...more.reverse(), ...all].slice(0, kept), [] as Completion[]),
        startWith([]),
        map((all): readonly Completion[] => all),
      ),
  });
  protected readonly all = computed(() => (this.commands.hasValue() ? this.commands.value() : []));

  protected choose(party: string): void {
    this.#chosen.set(party);
  }

  focus(): void {
    this.#host.nativeElement.querySelector('select')?.focus();
  }

  hasFocus(): boolean {
    return false;
  }

  protected reasonOf(completion: Completion): string {
    return completion.outcome === 'rejected' ? `${completion.code}: ${completion.reason}` : '';
  }
}
