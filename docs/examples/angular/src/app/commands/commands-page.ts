import { DecimalPipe } from '@angular/common';
import { Component, computed, ElementRef, inject, signal } from '@angular/core';
import { rxResource } from '@angular/core/rxjs-interop';
import { isLedgerError, type Completion } from 'canton-rx';
import { injectLedger } from 'canton-rx/angular';
import { bufferTime, catchError, filter, map, type Observable, scan, startWith, switchMap, throwError } from 'rxjs';
import { CONNECTION } from '../connection/connection';
import { Feed } from '../feed/feed';
import { readLedgerEnd } from '../feed/read-ledger-end';
import { CopyButton } from '../shell/copy-button';
import { Panels } from '../shell/panels';
import type { FocusablePage } from '../shell/pages';
import { timeOfDay } from '../shell/times';
import { Health } from '../status/health';
import { LedgerNotices } from '../status/ledger-notices';
import { LedgerProblem } from '../status/ledger-problem';
import { Troubles } from '../status/troubles';
import { Identities } from '../submit/identities';
import { Facets } from '../updates/facets';
import { head, longId, shortId } from '../updates/names';
import { anyRule, CommandFilters } from './command-filters';
import { rowsOf } from './command-row';

/** How many commands are kept, and how many offsets before the ledger end are read. */
const kept = 500;
const readBack = 20_000;

/** What was read: the completions after an offset, the newest first. */
interface Read {
  readonly beginExclusive: number;
  readonly completions: readonly Completion[];
}

/** The commands of a party and their outcomes, as the participant reports them: those of automations, too. */
@Component({
  selector: 'app-commands-page',
  imports: [CopyButton, DecimalPipe, LedgerNotices, LedgerProblem],
  templateUrl: './commands-page.html',
  styleUrl: './commands-page.css',
})
export class CommandsPage implements FocusablePage {
  readonly #ledger = injectLedger();
  readonly #host = inject<ElementRef<HTMLElement>>(ElementRef);
  readonly #facets = inject(Facets);
  readonly #identities = inject(Identities);
  readonly #named = inject(CONNECTION).parties;
  readonly #feed = inject(Feed);
  readonly #health = inject(Health);
  /** Why the ledger end cannot be read yet. */
  readonly #trouble = signal<Error | undefined>(undefined);
  protected readonly filters = inject(CommandFilters);
  protected readonly panels = inject(Panels);
  protected readonly isDown = inject(Troubles).isDown;
  protected readonly anyRule = anyRule;
  protected readonly head = head;
  protected readonly longId = longId;
  protected readonly shortId = shortId;
  protected readonly timeOfDay = timeOfDay;

  /** The parties to choose from: those that are read, or those of the updates. */
  protected readonly parties = computed(() => {
    const ours = this.#identities.all().map(({ party }) => party);
    const read = this.#named === 'any' ? this.#facets.parties() : this.#named;
    return [...new Set([...ours, ...read, this.filters.party()])].filter((party) => party !== '').sort();
  });
  protected readonly party = computed(
    () => this.filters.party() || (this.#identities.current()?.party ?? this.parties()[0]),
  );
  protected readonly commands = rxResource({
    params: () => {
      const party = this.party();
      return party === undefined ? undefined : { party, userId: this.filters.userId() };
    },
    stream: ({ params: { party, userId } }) =>
      readLedgerEnd(this.#ledger, this.#trouble).pipe(
        switchMap((end) => this.#read(party, userId, Math.max(0, end - readBack))),
      ),
  });
  /** Why nothing can be read: here, or of the parties to choose from. */
  protected readonly problem = computed(() => {
    const [error, trouble] = [this.commands.error(), this.#trouble()];
    if (error !== undefined) return { error, isFinal: true, again: () => this.commands.reload() };
    if (trouble !== undefined) return { error: trouble, isFinal: false };
    const ofFeed = this.party() === undefined ? this.#health.error() : undefined;
    if (ofFeed === undefined) return undefined;
    return { error: ofFeed, isFinal: this.#health.phase() === 'failed', again: () => this.#feed.tryAgain() };
  });
  protected readonly read = computed(() => (this.commands.hasValue() ? this.commands.value() : undefined));
  readonly #rows = computed(() => rowsOf(this.read()?.completions ?? []));
  protected readonly rows = computed(() => {
    const rule = this.filters.rule();
    return this.#rows().filter(({ action }) => rule === '' || (rule === anyRule ? action : action?.rule === rule));
  });
  /** The rules to choose from, and how many of their commands were read. */
  protected readonly rules = computed(() => {
    const chosen = this.filters.rule();
    const counts = new Map(chosen === '' || chosen === anyRule ? [] : [[chosen, 0]]);
    for (const { action } of this.#rows())
      if (action !== undefined) counts.set(action.rule, (counts.get(action.rule) ?? 0) + 1);
    return [...counts].sort().map(([name, count]) => ({ name, count }));
  });

  #read(party: string, userId: string, beginExclusive: number): Observable<Read> {
    return this.#ledger.completions({ parties: [party], beginExclusive, ...(userId !== '' && { userId }) }).pipe(
      filter((element) => element._tag === 'Completion'),
      bufferTime(100),
      filter(({ length }) => length > 0),
      scan((all, more) => [...more.reverse(), ...all].slice(0, kept), [] as Completion[]),
      startWith([]),
      map((completions): Read => ({ beginExclusive, completions })),
      catchError((error: unknown) => {
        const earliest = isLedgerError(error, 'PrunedError') ? (error.earliestOffset ?? 0) : 0;
        return earliest > beginExclusive ? this.#read(party, userId, earliest) : throwError(() => error);
      }),
    );
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
