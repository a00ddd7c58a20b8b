import { Component, computed, inject, input } from '@angular/core';
import { Identities } from '../submit/identities';
import { localTime } from '../shell/times';
import { shortId } from '../updates/names';
import type { Column } from './column';
import type { ContractRow } from './contract-row';
import { kindOf } from './field-kind';
import { fractionOf, showRecentTime, showValue } from './show-value';

/** The cells of a contract: one for each column, or two lines on a phone. */
@Component({
  selector: 'app-contract-cells',
  templateUrl: './contract-cells.html',
  styleUrl: './contract-cells.css',
  host: { '[class.is-card]': 'isCard()', '[class.is-in-flight]': 'row().isInFlight' },
})
export class ContractCells {
  readonly row = input.required<ContractRow>();
  readonly columns = input.required<readonly Column[]>();
  /** Whether there is no room for columns. */
  readonly isCard = input(false);
  readonly #identities = inject(Identities);
  protected readonly cells = computed(() => {
    const row = this.row();
    return this.columns().map(({ id, kind, value, show }) => {
      const content = value(row);
      const text = show(row);
      return {
        id,
        kind,
        text,
        // what the cell shortens
        title: titleOf(kind, content, text),
        isAbsent: text === '–',
        isMine: kind === 'party' && typeof content === 'string' && this.#identities.isOurs(content),
      };
    });
  });
  protected readonly localTime = localTime;
  protected readonly created = computed(() => showRecentTime(this.row().createdAt));
  protected readonly place = computed(() => this.row().synchronizers.map(shortId).join(' → '));
  /** The first fields, for where they have no columns. */
  protected readonly pairs = computed(() =>
    Object.entries(this.row().fields)
      .slice(0, 8)
      .map(([name, value]) => {
        const kind = kindOf(value) ?? 'text';
        return { name, kind, text: showValue(value, kind, Math.min(10, fractionOf(value))) };
      }),
  );
}

function titleOf(kind: Column['kind'], content: unknown, text: string): string {
  if (kind === 'contents') return '';
  if (kind === 'template') return text;
  if (kind === 'time' && typeof content === 'string') return `${content}\n${localTime(content)}`;
  return typeof content === 'string' ? content : JSON.stringify(content ?? null);
}
