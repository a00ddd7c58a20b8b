import { Component, computed, input } from '@angular/core';
import type { Effect } from './row';

const marks = { created: '+', archived: '−', exercised: '›', moved: '⇄', hosted: '◦', other: '?' } as const;

/** One kind of effect of an update. */
@Component({
  selector: 'app-effect-chip',
  template: `<i aria-hidden="true">{{ mark() }}</i
    ><span class="sr-only">{{ effect().kind }} </span>{{ effect().label }}
    @if (effect().count > 1) {
      <small>×{{ effect().count }}</small>
    }`,
  styles: `
    :host {
      overflow: hidden;
      text-overflow: ellipsis;
      white-space: nowrap;
      padding: 0 7px 0 5px;
      border-radius: 5px;
      background: color-mix(in srgb, var(--tone) 11%, transparent);
      font-size: 13px;
      line-height: 21px;
    }
    i {
      margin-right: 5px;
      color: var(--tone);
      font-style: normal;
      font-weight: 700;
    }
    small {
      color: color-mix(in srgb, var(--muted) 50%, var(--text));
    }
  `,
  host: { '[style.--tone]': "'var(--' + effect().kind + ')'", '[title]': "effect().template ?? ''" },
})
export class EffectChip {
  readonly effect = input.required<Effect>();
  protected readonly mark = computed(() => marks[this.effect().kind]);
}
