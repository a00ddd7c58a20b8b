import { Component, computed, input } from '@angular/core';
import { CopyButton } from '../shell/copy-button';
import { jsonParts } from './json-parts';

/** A value as formatted JSON. */
@Component({
  selector: 'app-json-view',
  imports: [CopyButton],
  template: `<small>{{ label() }} <app-copy-button [text]="text()" [label]="label().toLowerCase()" /></small>
    <pre
      tabindex="0"
      [attr.aria-label]="label()"
    >@for (part of parts(); track $index) {<span [class]="part.kind">{{ part.text }}</span>}</pre>`,
  styles: `
    pre {
      margin: 2px 0 0;
      padding: 8px 10px;
      overflow-x: auto;
      border-radius: 7px;
      background: var(--bg);
      font: 12px/17px var(--mono);
      white-space: pre-wrap;
      overflow-wrap: anywhere;
    }
    small {
      display: block;
      margin-top: 6px;
      color: var(--muted);
      font-size: 12px;
    }
    .name {
      color: var(--muted);
    }
    .text {
      color: var(--accent-text);
    }
    .number {
      color: var(--exercised);
    }
  `,
})
export class JsonView {
  readonly label = input.required<string>();
  readonly value = input.required<unknown>();
  protected readonly text = computed(() => JSON.stringify(this.value(), null, 2));
  protected readonly parts = computed(() => jsonParts(this.value()));
}
